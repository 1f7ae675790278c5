package consent

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy/trust"
	"github.com/vaultflow/vaultflow/tools/mcp"
	"github.com/vaultflow/vaultflow/workflow"
)

// Offer is what the user is asked, with what each answer grants.
type Offer struct {
	engine.Trust
	asks    []trust.Ask
	reaches map[string]trust.Reach // of workflows, by "name digest"
	book    *mcp.Pins
	pins    []mcp.Waiting // tools of MCP servers that describe themselves differently now
}

// Offers finds what the files of a vault ask for.
type Offers struct {
	Trust     *Trust
	Folders   func() []trust.Ask // what settings files in import folders ask for
	Workflows func() ([]workflow.Loaded, error)
	Dir       string
	StateDir  string
}

// Look returns what the vault's files ask for now.
func (of *Offers) Look() (Offer, error) {
	t := of.Trust
	s, err := t.Stored()
	if err != nil {
		return Offer{}, control.Denied.Wrap(err)
	}
	o := Offer{Trust: engine.Trust{Level: string(s.Level), Means: s.Level.Words(), Since: s.Since, Vault: of.Dir}, reaches: map[string]trust.Reach{}}
	for _, ask := range t.granted {
		o.Settings = append(o.Settings, settingOf(s, ask, s.Level != trust.Untrusted)) // by this grant or a wider one
		o.asks = append(o.asks, ask)
	}
	for _, ask := range t.asks {
		o.Settings = append(o.Settings, settingOf(s, ask, s.Grants(ask.Key, ask.Digest)))
		o.asks = append(o.asks, ask)
	}
	for _, ask := range of.Folders() {
		o.Settings = append(o.Settings, settingOf(s, ask, s.Grants(ask.Key, ask.Digest)))
		o.asks = append(o.asks, ask)
	}
	if err := o.addPins(of.StateDir); err != nil {
		return o, err
	}
	o.dropWas()
	if s.Level == trust.Own {
		return o, nil
	}
	all, err := of.Workflows()
	if err != nil {
		return o, err
	}
	for _, loaded := range all {
		if !loaded.Valid() {
			continue
		}
		r := t.Reach(loaded.Plan)
		w := engine.TrustWorkflow{
			Name: loaded.Plan.Name, File: loaded.Plan.File, Enabled: loaded.Plan.Meta.Enabled && loaded.Plan.Meta.Triggered(), Digest: r.Digest(),
			Granted: s.Allows(loaded.Plan.Name, r), Reach: sentences(r),
		}
		last, _ := s.LastReach(loaded.Plan.Name)
		if !w.Granted {
			w.New, w.Gone = sentences(r.Beyond(last.Reach)), sentences(last.Reach.Beyond(r))
		}
		o.Workflows = append(o.Workflows, w)
		o.reaches[w.Name+" "+w.Digest] = r
	}
	return o, nil
}

// addPins offers the tools of MCP servers that have changed since they were trusted.
func (o *Offer) addPins(stateDir string) (err error) {
	o.book = mcp.OpenPins(stateDir)
	if o.pins, err = o.book.Waiting(); err != nil {
		return control.Denied.Wrap(err)
	}
	for _, p := range o.pins {
		o.Settings = append(o.Settings, engine.TrustSetting{
			Key: "mcp_servers." + p.Server + ".tools." + p.Tool, Digest: p.Digest, Says: p.Says, Value: p.Now, Was: p.Before,
		})
	}
	return nil
}

// pin returns the tool of an MCP server with this digest.
func (o Offer) pin(digest string) (mcp.Waiting, bool) {
	i := slices.IndexFunc(o.pins, func(w mcp.Waiting) bool { return w.Digest == digest })
	if i < 0 {
		return mcp.Waiting{}, false
	}
	return o.pins[i], true
}

// grantPins grants those of an answer's settings that are tools.
func (o Offer) grantPins(settings []string) error {
	for _, digest := range settings {
		p, is := o.pin(digest)
		if !is {
			continue
		}
		granted, err := o.book.Grant(p.Server, p.Tool, digest)
		if err != nil {
			return err
		}
		if !granted {
			return failure.New(failure.Conflict, "", "%v", errOffer)
		}
	}
	return nil
}

// dropWas removes the former value of settings whose key occurs more than once: entries of a list replace nothing.
func (o Offer) dropWas() {
	number := map[string]int{}
	for _, s := range o.Settings {
		number[s.Key]++
	}
	for i, s := range o.Settings {
		if number[s.Key] > 1 {
			o.Settings[i].Was = ""
		}
	}
}

func settingOf(s trust.State, ask trust.Ask, granted bool) engine.TrustSetting {
	line := engine.TrustSetting{Key: ask.Key, Digest: ask.Digest, Says: ask.Says, Value: ask.Value, Granted: granted}
	if last, ok := s.Last(ask.Key); ok && !granted {
		line.Was = last.Value
	}
	return line
}

func sentences(items []trust.Item) []string {
	var out []string
	for _, item := range items {
		out = append(out, item.String())
	}
	return out
}

// WaitingSettings returns the digests of all settings that are not granted.
func (o Offer) WaitingSettings() []string {
	var list []string
	for _, s := range o.Settings {
		if !s.Granted {
			list = append(list, s.Digest)
		}
	}
	return list
}

// WaitingWorkflows returns all workflows that are not granted, as answers name them.
func (o Offer) WaitingWorkflows() []string {
	var list []string
	for _, w := range o.Workflows {
		if !w.Granted {
			list = append(list, w.Name+" "+w.Digest)
		}
	}
	return list
}

// errOffer means that an answer is about something that is not offered, or not any more.
var errOffer = errors.New("what the vault asks for has changed since it was shown; look at it again")

// Accept stores the user's answer to an offer. Only what was offered can be granted.
func (t *Trust) Accept(o Offer, answer engine.TrustAnswer) error {
	level := trust.Level(answer.Level)
	if answer.Level != "" && !slices.Contains([]trust.Level{trust.Untrusted, trust.Shared, trust.Own}, level) {
		return control.Usage.Errorf("unknown level %q; use own, shared or untrusted", answer.Level)
	}
	if level == trust.Untrusted && len(answer.Settings)+len(answer.Workflows) > 0 || answer.Level == "" && o.Level == string(trust.Untrusted) {
		return control.Usage.Errorf("nothing can be granted in an untrusted vault; say first whether it is your own or shared")
	}
	var asks []trust.Ask
	for _, digest := range answer.Settings {
		if _, is := o.pin(digest); is {
			continue
		}
		i := slices.IndexFunc(o.asks, func(a trust.Ask) bool { return a.Digest == digest })
		if i < 0 {
			return failure.New(failure.Conflict, "", "%v", errOffer)
		}
		asks = append(asks, o.asks[i])
	}
	for _, name := range answer.Workflows {
		if _, shown := o.reaches[name]; !shown {
			return failure.New(failure.Conflict, "", "%v", errOffer)
		}
	}
	if err := o.grantPins(answer.Settings); err != nil {
		return err
	}
	now := time.Now()
	return t.answers.store.Change(func(s *trust.State) {
		if answer.Level != "" {
			s.Decide(level, now)
		}
		s.Grant(now, asks...)
		for _, name := range answer.Workflows {
			s.GrantReach(now, name[:strings.LastIndexByte(name, ' ')], o.reaches[name])
		}
	})
}

// Chosen returns the answer that grants the named settings and workflows.
func (o Offer) Chosen(settings, workflows []string) (engine.TrustAnswer, error) {
	var answer engine.TrustAnswer
	for _, key := range settings {
		before := len(answer.Settings)
		for _, s := range o.Settings { // each entry of a list is a setting
			if s.Key == key {
				answer.Settings = append(answer.Settings, s.Digest)
			}
		}
		if len(answer.Settings) == before {
			return answer, control.Usage.Errorf("this vault does not ask for the setting %q; `vaultflow trust --dry-run` lists what it asks for", key)
		}
	}
	for _, name := range workflows {
		i := slices.IndexFunc(o.Workflows, func(w engine.TrustWorkflow) bool { return words.SameWorkflow(w.Name, name) })
		if i < 0 {
			return answer, control.Usage.Errorf("no workflow %q waits for a grant; `vaultflow trust --dry-run` lists those that do", name)
		}
		answer.Workflows = append(answer.Workflows, o.Workflows[i].Name+" "+o.Workflows[i].Digest)
	}
	return answer, nil
}

// Adopted explains why a vault counts as the user's own although nobody was asked.
const Adopted = "this vault was used with an earlier version of vaultflow, so it counts as your own, with the settings it had; `vaultflow trust --revoke` undoes that"
