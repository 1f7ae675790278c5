// Package mcp lets models use the tools of configured servers of the Model Context Protocol: local programs over pipes, and
// addresses over streamable HTTP. A server starts when a step first names one of its tools, and runs until the hub is closed.
// Servers receive calls and nothing else: no files, roots, sampling or elicitation. Their answers are untrusted: text is passed on
// as data, pictures are encoded again, and whatever a server does wrong (crash, hang, flood, a false schema) fails one call.
package mcp

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/tools"
)

// Server is one server, reached by Command or URL.
type Server struct {
	Name    string   // the part before the dot in server.tool
	Command []string // program and arguments
	Env     []string // the whole environment of the program
	URL     string
	Headers map[string]string
	Allow   []string      // permitted tools; empty: all that Deny does not name
	Deny    []string      // wins over Allow
	Timeout time.Duration // for starting, and for one call; 0: 1 minute
}

// Options apply to all servers.
type Options struct {
	Version string // of vaultflow, sent to servers
	// Picture decodes a picture in the sandbox, encodes it again and keeps it. Nil: pictures are only named.
	Picture func(ctx context.Context, data []byte) (content.Image, error)
	Log     *slog.Logger // nil: nothing is logged
	Idle    bool         // start no server: tools are named, and calls fail
	Pins    *Pins        // trusted descriptions of tools; nil: nothing is compared
}

// Hub holds the servers. It is safe for concurrent use.
type Hub struct {
	servers map[string]*connection
}

// New returns a hub, and starts no server.
func New(servers []Server, o Options) *Hub {
	h := &Hub{servers: map[string]*connection{}}
	for _, s := range servers {
		if s.Timeout <= 0 {
			s.Timeout = time.Minute
		}
		h.servers[s.Name] = &connection{Server: s, o: o}
	}
	return h
}

// Names lists the tools that the settings name, as server.tool, and the servers of which other tools may be named too. It contacts
// no server.
func (h *Hub) Names() (names, servers []string) {
	for name, c := range h.servers {
		for _, tool := range c.Allow {
			if c.permits(tool) {
				names = append(names, name+"."+tool)
			}
		}
		if len(c.Allow) == 0 {
			servers = append(servers, name)
		}
	}
	slices.Sort(names)
	slices.Sort(servers)
	return names, servers
}

// Permits reports whether the settings let workflows use a tool (server.tool).
func (h *Hub) Permits(name string) bool {
	server, tool, _ := strings.Cut(name, ".")
	c, ok := h.servers[server]
	return ok && tool != "" && c.permits(tool)
}

// permits reports whether a tool of the server may be used.
func (s Server) permits(tool string) bool {
	return !slices.Contains(s.Deny, tool) && (len(s.Allow) == 0 || slices.Contains(s.Allow, tool))
}

// Tools returns the tools with these names (server.tool), in order, and starts their servers if needed. Calls of an unavailable tool
// fail with the reason. Names that the settings do not permit are left out. It takes at most the servers' time-outs.
func (h *Hub) Tools(names []string) []tools.Tool {
	var list []tools.Tool
	taken := map[string]bool{}
	for _, name := range names {
		if !h.Permits(name) {
			continue
		}
		server, tool, _ := strings.Cut(name, ".")
		t := h.servers[server].tool(tool)
		t.Called, t.Effect, t.Name = name, tools.EffectNetwork, wireName(server, tool, taken)
		taken[t.Name] = true
		list = append(list, t)
	}
	return list
}

// Close ends all servers. No other method may be called afterwards.
func (h *Hub) Close() {
	for _, c := range h.servers {
		c.close()
	}
}
