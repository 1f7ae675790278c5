package trust

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// Kind is a way in which a workflow reaches beyond its own note.
type Kind string

// The kinds of a [Reach].
const (
	Schedule  Kind = "schedule"  // fires by the clock
	Watch     Kind = "watch"     // fires when a file changes: a glob
	Import    Kind = "on_import" // fires after an import: a glob of sources
	Tool      Kind = "tool"      // its model may call it; "all" means each one except those that must be named
	Unguarded Kind = "untrusted" // a tool that remains usable after foreign content was shown
	Believe   Kind = "trust"     // a glob of files that count as the owner's, wherever they come from
	Host      Kind = "host"      // connects to it
	Link      Kind = "link"      // pictures and links to a host are kept in what it writes after foreign content was shown
	Named     Kind = "named"     // a folder named by permissions.write, which allows places that a wide glob does not
	Service   Kind = "service"   // sends prompts to it
	Read      Kind = "read"      // may read: a glob
	Write     Kind = "write"     // may write without asking: a glob
	Propose   Kind = "propose"   // may write after approval: a glob
)

// kinds is the display order.
var kinds = []Kind{Schedule, Watch, Import, Service, Host, Link, Tool, Unguarded, Believe, Named, Write, Propose, Read}

// Item is one thing that a workflow may do.
type Item struct {
	Kind  Kind   `json:"kind"`
	Value string `json:"value"`
}

// Reach is what a workflow may do, whatever its text says, sorted and without duplicates.
type Reach []Item

// newReach sorts items and drops those that another one covers.
func newReach(items []Item) Reach {
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)), strings.Compare(a.Value, b.Value))
	})
	return slices.Compact(items)
}

// Digest identifies a reach: equal reaches have equal digests.
func (r Reach) Digest() string {
	data, _ := json.Marshal(r) // only strings: it cannot fail
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Covers reports whether another reach goes no further. It may be false too often, but never wrongly true.
func (r Reach) Covers(other Reach) bool { return len(other.Beyond(r)) == 0 }

// Beyond returns the items that a granted reach does not cover.
func (r Reach) Beyond(granted Reach) []Item {
	var further []Item
	for _, item := range r {
		if !slices.ContainsFunc(granted, func(g Item) bool { return g.covers(item) }) {
			further = append(further, item)
		}
	}
	return further
}

// mustBeNamed lists the tools that "all" does not include.
var mustBeNamed = []string{"run_workflow", "delete_file"}

// covers reports whether an item includes another one.
func (i Item) covers(other Item) bool {
	if i.Kind == Write && other.Kind == Propose {
		return globCovers(i.Value, other.Value)
	}
	if i.Kind != other.Kind {
		return false
	}
	if i.Value == other.Value {
		return true
	}
	switch i.Kind {
	case Watch, Import, Believe, Read, Write, Propose:
		return globCovers(i.Value, other.Value)
	case Host, Link:
		return hostCovers(i.Value, other.Value)
	case Tool:
		return i.Value == "all" && !strings.Contains(other.Value, ".") && !slices.Contains(mustBeNamed, other.Value)
	}
	return false
}

// hostCovers compares hosts as written in permissions.network.
func hostCovers(wide, narrow string) bool {
	if wide == "*" {
		return true
	}
	below, wild := strings.CutPrefix(wide, "*.")
	return wild && strings.HasSuffix(narrow, "."+below)
}

// words describe what an item allows; its value follows.
var words = map[Kind]string{
	Named:    "may write also to protected places in",
	Schedule: "runs by itself at", Watch: "runs by itself when a file changes:", Import: "runs by itself after the import of",
	Service: "sends prompts to", Host: "may connect to", Link: "after reading foreign content still writes pictures and links of", Tool: "its model may use the tool", Unguarded: "its model may still use after reading foreign content:",
	Believe: "treats as your own whatever is in", Write: "writes to", Propose: "writes after your approval to", Read: "may read",
}

// String describes what an item allows.
func (i Item) String() string {
	value := Plain(i.Value)
	switch {
	case i.Value == all && (i.Kind == Read || i.Kind == Write || i.Kind == Propose || i.Kind == Believe):
		value = "every note of the vault"
	case i.Value == all && (i.Kind == Watch || i.Kind == Import):
		value = "any file"
	case (i.Kind == Host || i.Kind == Link) && i.Value == "*":
		value = "every host"
	case i.Kind == Tool && i.Value == "all":
		return "its model may use all tools but " + strings.Join(mustBeNamed, " and ") + ", and none of MCP servers"
	}
	return words[i.Kind] + " " + value
}
