// Package mcp lets models use the tools of configured servers of the Model Context Protocol: programs of this machine,
// spoken to over pipes, and addresses, over streamable HTTP. A server is started when a step first names one of its tools and
// lives until the hub is closed. What is offered to servers is nothing but calls: no files, no roots, no sampling, no
// questions to people. What comes back is a stranger's: text is handed on as data, pictures are encoded anew, and whatever a
// server does wrong (it dies, hangs, floods, lies about its schema) is the failure of one call.
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

// Server says how one server is reached: Command or URL.
type Server struct {
	Name    string   // stands before the dot in server.tool
	Command []string // program and arguments
	Env     []string // the whole environment of the program
	URL     string
	Headers map[string]string
	Allow   []string      // tools that may be used; empty: all that Deny does not name
	Deny    []string      // stronger than Allow
	Timeout time.Duration // of starting, and of one call; 0 = 1 minute
}

// Options are what servers have in common.
type Options struct {
	Version string // of vaultflow, as servers are told
	// Picture decodes a picture where it can do no harm, encodes it anew and keeps it. Nil: pictures are named only.
	Picture func(ctx context.Context, data []byte) (content.Image, error)
	Log     *slog.Logger // nil: nothing is logged
	Idle    bool         // no server is started: its tools are named, and their calls fail
	Pins    *Pins        // how tools described themselves when they were trusted; nil: nothing is compared
}

// Hub holds the servers. It is safe for concurrent use.
type Hub struct {
	servers map[string]*connection
}

// New makes a hub. Nothing is started.
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

// Names lists the tools that the settings name one by one, as server.tool, and says of which servers others may be named
// too. No server is asked.
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

// Permits says whether the settings let workflows use a tool (server.tool).
func (h *Hub) Permits(name string) bool {
	server, tool, _ := strings.Cut(name, ".")
	c, ok := h.servers[server]
	return ok && tool != "" && c.permits(tool)
}

// permits says whether a tool of the server may be used.
func (s Server) permits(tool string) bool {
	return !slices.Contains(s.Deny, tool) && (len(s.Allow) == 0 || slices.Contains(s.Allow, tool))
}

// Tools gives the tools of these names (server.tool), in order, and starts their servers when they are not running. A tool
// that cannot be had is one whose calls fail and say why. Names that the settings do not permit are left out. It takes no
// longer than the servers' time-outs.
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
