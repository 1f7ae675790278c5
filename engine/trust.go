package engine

import (
	"encoding/json"
	"time"
)

// Trust is how far a vault is believed, and what its files ask for: what `vaultflow trust` and the dashboard show. Its type
// in machine output is "trust".
type Trust struct {
	Level     string          `json:"level"` // untrusted, shared or own
	Means     string          `json:"means"` // the level in words
	Since     time.Time       `json:"since,omitzero"`
	Vault     string          `json:"vault"`          // its path
	Note      string          `json:"note,omitempty"` // said once: that a vault used before became one's own
	Settings  []TrustSetting  `json:"settings"`
	Workflows []TrustWorkflow `json:"workflows"` // empty in one's own vault, where all run as written
}

// TrustSetting is a value of the vault's settings that reaches out.
type TrustSetting struct {
	Key     string `json:"key"`
	Digest  string `json:"digest"`
	Says    string `json:"says"`          // what granting it allows
	Value   string `json:"value"`         // to show
	Was     string `json:"was,omitempty"` // the value that was granted last
	Granted bool   `json:"granted"`
}

// TrustWorkflow is a workflow with what it reaches.
type TrustWorkflow struct {
	Name    string   `json:"name"`
	File    string   `json:"file"`
	Enabled bool     `json:"enabled"`
	Digest  string   `json:"digest"` // of what it reaches
	Reach   []string `json:"reach"`  // in words
	New     []string `json:"new"`    // what was not granted before; all of Reach when nothing was
	Gone    []string `json:"gone"`   // what was granted and is not asked any more
	Granted bool     `json:"granted"`
}

// TrustAnswer is the user's decision about exactly what was shown, named by its digests.
type TrustAnswer struct {
	Level     string   `json:"level,omitempty"` // empty: as it is
	Settings  []string `json:"settings,omitempty"`
	Workflows []string `json:"workflows,omitempty"` // digests of reaches, with the names in front: "name digest"
}

// TrustBrief is the trust in a vault in a few words, for overviews.
type TrustBrief struct {
	Level   string `json:"level"`
	Means   string `json:"means"`
	Waiting int    `json:"waiting"` // values and workflows that wait for a yes
	Note    string `json:"note,omitempty"`
}

// Waiting counts what waits for a yes.
func (t Trust) Waiting() int {
	n := 0
	for _, s := range t.Settings {
		if !s.Granted {
			n++
		}
	}
	for _, w := range t.Workflows {
		if !w.Granted {
			n++
		}
	}
	return n
}

// Brief is the trust in a few words.
func (t Trust) Brief() TrustBrief { return TrustBrief{t.Level, t.Means, t.Waiting(), t.Note} }

// MarshalJSON adds `"type":"trust"`.
func (t Trust) MarshalJSON() ([]byte, error) {
	type plain Trust
	t.Settings, t.Workflows = orNone(t.Settings), orNone(t.Workflows)
	for i, w := range t.Workflows {
		t.Workflows[i].Reach, t.Workflows[i].New, t.Workflows[i].Gone = orNone(w.Reach), orNone(w.New), orNone(w.Gone)
	}
	return json.Marshal(struct {
		Type string `json:"type"`
		plain
	}{"trust", plain(t)})
}
