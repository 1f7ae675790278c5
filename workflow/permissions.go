package workflow

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Permissions restrict what a workflow may touch. An absent list is nil and means: read and write everything, use the tools
// in @tools, no network, and no links to hosts that a step was not shown.
type Permissions struct {
	Read    []string `json:"read,omitempty"`
	Write   []string `json:"write,omitempty"`
	Tools   []string `json:"tools,omitempty"`
	Network []string `json:"network,omitempty"`
	Links   []string `json:"links,omitempty"`

	// An empty list forbids everything, which omitempty would lose.
	NoRead  bool `json:"no_read,omitempty"`
	NoWrite bool `json:"no_write,omitempty"`
	NoTools bool `json:"no_tools,omitempty"`

	ToolsAt []Position `json:"tools_at,omitempty"` // of Tools, one by one
}

// MayRead reports whether the workflow may read a file.
func (p Permissions) MayRead(name string) bool {
	return !p.NoRead && (p.Read == nil || matchAny(p.Read, name))
}

// MayWrite reports whether the workflow may create or change a file.
func (p Permissions) MayWrite(name string) bool {
	return !p.NoWrite && (p.Write == nil || matchAny(p.Write, name))
}

// NamesForWriting reports whether a list lets the workflow write a file and names the folder at the vault's root that the file
// is in, or the file itself. A glob such as ** names nothing.
func (p Permissions) NamesForWriting(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return !p.NoWrite && slices.ContainsFunc(p.Write, func(glob string) bool {
		first, _, _ := strings.Cut(glob, "/")
		return strings.EqualFold(first, top) && doublestar.MatchUnvalidated(glob, name)
	})
}

// MayUse reports whether the model may use a tool of @tools.
func (p Permissions) MayUse(tool string) bool {
	return !p.NoTools && (p.Tools == nil || slices.Contains(p.Tools, tool))
}

// MayReach reports whether tools may connect to a host; * means any. Without a list there is no network.
func (p Permissions) MayReach(host string) bool {
	return matchHost(p.Network, host)
}

// MayLink reports whether pictures, frames and links to a host are kept in the output of a step that was shown foreign
// content, and whether such pictures are fetched; * means any host. Without a list there is none.
func (p Permissions) MayLink(host string) bool { return matchHost(p.Links, host) }

// matchHost reports whether a list contains a host: by name, as *.domain for those below it, or *.
func matchHost(hosts []string, host string) bool {
	host = strings.ToLower(host)
	return slices.ContainsFunc(hosts, func(allowed string) bool {
		below, wild := strings.CutPrefix(allowed, "*.")
		return allowed == host || allowed == "*" || wild && strings.HasSuffix(host, "."+below)
	})
}

// Budget is the frontmatter's budget: numbers by key, and the reaction when one is exceeded.
type Budget struct {
	Limits       map[string]float64 `json:"limits,omitempty"`
	WhenExceeded string             `json:"when_exceeded,omitempty"`
}

// matchAny reports whether a name matches one of the globs, which are valid.
func matchAny(globs []string, name string) bool {
	for _, g := range globs {
		if doublestar.MatchUnvalidated(g, name) {
			return true
		}
	}
	return false
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

func sameName(a, b string) bool { return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b)) }
