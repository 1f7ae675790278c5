package trust

import (
	"slices"
	"strings"
	"time"
)

// Level is how far a vault is trusted.
type Level string

// The levels of trust.
const (
	Untrusted Level = "untrusted" // nobody has decided yet, or the answer was no
	Shared    Level = "shared"    // others write it too: each workflow waits for its own approval
	Own       Level = "own"       // its workflows run as written
)

// Words describe the level.
func (l Level) Words() string {
	switch l {
	case Own:
		return "your own: its workflows run as written"
	case Shared:
		return "shared: each workflow needs your approval to what it reaches"
	}
	return "not trusted yet: nothing runs by itself, and nothing is sent"
}

// Ask is a value that a vault's settings ask for, without effect until the user grants it.
type Ask struct {
	Key    string `json:"key"`    // dotted path of the setting, or file:NAME
	Digest string `json:"digest"` // of key and value
	Says   string `json:"says"`   // what granting it allows, in a sentence
	Value  string `json:"value"`  // to show
}

// Grant allows one value.
type Grant struct {
	Ask
	At time.Time `json:"at"`
}

// ReachGrant allows what one workflow reaches.
type ReachGrant struct {
	Workflow string    `json:"workflow"`
	Reach    Reach     `json:"reach"`
	Digest   string    `json:"digest"` // of Reach
	At       time.Time `json:"at"`
}

// State holds the decisions about a vault. The zero value is a vault about which nobody has decided.
type State struct {
	Vault     string       `json:"vault"`            // its real path
	Folder    string       `json:"folder,omitempty"` // device and inode of its folder
	Level     Level        `json:"level"`
	Since     time.Time    `json:"since,omitzero"` // when the level was chosen; zero: nobody has
	Adopted   bool         `json:"adopted,omitempty"`
	Told      []string     `json:"told,omitempty"` // who has reported that the vault was adopted
	Settings  []Grant      `json:"settings,omitempty"`
	Workflows []ReachGrant `json:"workflows,omitempty"`
}

// Known reports whether anybody has decided about the vault, even with a no.
func (s State) Known() bool { return !s.Since.IsZero() }

// Grants reports whether a value of the vault's settings may take effect. In an untrusted vault none does.
func (s State) Grants(key, digest string) bool {
	return s.Level != Untrusted && digest != "" && slices.ContainsFunc(s.Settings, func(g Grant) bool { return g.Key == key && g.Digest == digest })
}

// Last returns the newest grant for a setting.
func (s State) Last(key string) (Grant, bool) {
	for i := len(s.Settings) - 1; i >= 0; i-- {
		if s.Settings[i].Key == key {
			return s.Settings[i], true
		}
	}
	return Grant{}, false
}

// Allows reports whether trust permits a workflow to run: always in the user's own vault, never in an untrusted one, and
// within a granted reach in a shared one.
func (s State) Allows(name string, r Reach) bool {
	switch s.Level {
	case Own:
		return true
	case Shared:
		return slices.ContainsFunc(s.Workflows, func(g ReachGrant) bool { return strings.EqualFold(g.Workflow, name) && g.Reach.Covers(r) })
	}
	return false
}

// LastReach returns the newest reach granted to a workflow.
func (s State) LastReach(name string) (ReachGrant, bool) {
	for i := len(s.Workflows) - 1; i >= 0; i-- {
		if strings.EqualFold(s.Workflows[i].Workflow, name) {
			return s.Workflows[i], true
		}
	}
	return ReachGrant{}, false
}

// keep bounds how many grants of one setting or workflow are remembered, so that nobody is asked again when an old value
// returns. Each entry of a list is one.
const keep = 1000

// Decide sets the level. Untrusted revokes all grants.
func (s *State) Decide(level Level, now time.Time) {
	if level == Untrusted {
		s.Settings, s.Workflows = nil, nil
	}
	if s.Level != level || s.Since.IsZero() {
		s.Since = now
	}
	s.Level, s.Adopted, s.Told = level, false, nil
}

// Grant records that values of settings are allowed.
func (s *State) Grant(now time.Time, asks ...Ask) {
	for _, a := range asks {
		s.Settings = slices.DeleteFunc(s.Settings, func(g Grant) bool { return g.Key == a.Key && g.Digest == a.Digest })
		s.Settings = newest(append(s.Settings, Grant{a, now}), func(g Grant) bool { return g.Key == a.Key })
	}
}

// GrantReach records that a workflow's reach is allowed.
func (s *State) GrantReach(now time.Time, name string, r Reach) {
	digest := r.Digest()
	same := func(g ReachGrant) bool { return strings.EqualFold(g.Workflow, name) }
	s.Workflows = slices.DeleteFunc(s.Workflows, func(g ReachGrant) bool { return same(g) && g.Digest == digest })
	s.Workflows = newest(append(s.Workflows, ReachGrant{name, r, digest, now}), same)
}

// newest drops the oldest matching grants if there are too many.
func newest[T any](list []T, match func(T) bool) []T {
	n := 0
	for _, x := range list {
		if match(x) {
			n++
		}
	}
	if n <= keep {
		return list
	}
	i := slices.IndexFunc(list, match)
	return slices.Delete(list, i, i+1)
}

// news reports whether who has yet to report that the vault was adopted.
func (s State) news(who string) bool { return s.Adopted && !slices.Contains(s.Told, who) }
