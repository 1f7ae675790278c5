package workflow

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Permissions narrow what a workflow may touch. A list that was not given is nil: everything for reading and writing,
// the tools that @tools names, no network, and no links to hosts that a step was not shown.
type Permissions struct {
	Read    []string `json:"read,omitempty"`
	Write   []string `json:"write,omitempty"`
	Tools   []string `json:"tools,omitempty"`
	Network []string `json:"network,omitempty"`
	Links   []string `json:"links,omitempty"`

	// An empty list that was given forbids everything; JSON would lose it.
	NoRead  bool `json:"no_read,omitempty"`
	NoWrite bool `json:"no_write,omitempty"`
	NoTools bool `json:"no_tools,omitempty"`

	ToolsAt []Position `json:"tools_at,omitempty"` // of Tools, one by one
}

// MayRead says whether the workflow may read a file.
func (p Permissions) MayRead(name string) bool {
	return !p.NoRead && (p.Read == nil || matchAny(p.Read, name))
}

// MayWrite says whether the workflow may create or change a file.
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

// MayUse says whether the model may use a tool that @tools names.
func (p Permissions) MayUse(tool string) bool {
	return !p.NoTools && (p.Tools == nil || slices.Contains(p.Tools, tool))
}

// MayReach says whether tools may connect to a host; * stands for every one. Without a list there is no network.
func (p Permissions) MayReach(host string) bool {
	return matchHost(p.Network, host)
}

// MayLink reports whether pictures, frames and links of a host stay in what a step writes after it was shown something
// foreign, and whether such pictures are fetched; * stands for every host. Without a list there is none.
func (p Permissions) MayLink(host string) bool { return matchHost(p.Links, host) }

// matchHost reports whether a list names a host: by its name, *.domain for those below one, or *.
func matchHost(hosts []string, host string) bool {
	host = strings.ToLower(host)
	return slices.ContainsFunc(hosts, func(allowed string) bool {
		below, wild := strings.CutPrefix(allowed, "*.")
		return allowed == host || allowed == "*" || wild && strings.HasSuffix(host, "."+below)
	})
}

// Budget is the frontmatter's budget: numbers by key of the language, section 7, and the reaction to an excess.
type Budget struct {
	Limits       map[string]float64 `json:"limits,omitempty"`
	WhenExceeded string             `json:"when_exceeded,omitempty"`
}

// matchAny says whether a name fits one of the globs, which have been validated.
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
