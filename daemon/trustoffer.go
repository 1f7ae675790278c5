package daemon

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy/trust"
	"github.com/vaultflow/vaultflow/tools/mcp"
)

// Look is what a person is shown, with what a yes to each part grants.
type Offer struct {
	engine.Trust
	asks    []trust.Ask
	reaches map[string]trust.Reach // of workflows, by "name digest"
	book    *mcp.Pins
	pins    []mcp.Waiting // tools of MCP servers that describe themselves differently now
}

// Offers is what the files of a vault ask for.
type Offers struct {
	trust     *Trust
	rules     *importRules
	workflows *Workflows
	dir       string
	stateDir  string
}

// Look returns what the vault's files ask for now.
func (of *Offers) Look() (Offer, error) {
	t := of.trust
	s, err := t.store.Read()
	if err != nil {
		return Offer{}, control.Denied.Wrap(err)
	}
	o := Offer{Trust: engine.Trust{Level: string(s.Level), Means: s.Level.Words(), Since: s.Since, Vault: of.dir}, reaches: map[string]trust.Reach{}}
	for _, ask := range t.granted {
		o.Settings = append(o.Settings, settingOf(s, ask, s.Level != trust.Untrusted)) // itself, or something wider
		o.asks = append(o.asks, ask)
	}
	for _, ask := range t.asks {
		o.Settings = append(o.Settings, settingOf(s, ask, s.Grants(ask.Key, ask.Digest)))
		o.asks = append(o.asks, ask)
	}
	for _, ask := range of.rules.asks() {
		o.Settings = append(o.Settings, settingOf(s, ask, s.Grants(ask.Key, ask.Digest)))
		o.asks = append(o.asks, ask)
	}
	if err := o.addPins(of.stateDir); err != nil {
		return o, err
	}
	o.comparable()
	if s.Level == trust.Own {
		return o, nil
	}
	all, err := of.workflows.All()
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

// addPins offers the tools of MCP servers that are not as they were trusted.
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

// pin is the tool of an MCP server that a digest of an answer names.
func (o Offer) pin(digest string) (mcp.Waiting, bool) {
	i := slices.IndexFunc(o.pins, func(w mcp.Waiting) bool { return w.Digest == digest })
	if i < 0 {
		return mcp.Waiting{}, false
	}
	return o.pins[i], true
}

// grantPins grants the tools among an answer's settings.
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

// comparable leaves what was there before only where one value took the place of another: the entries of a list have one key
// and replace nothing.
func (o Offer) comparable() {
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

// WaitingSettings are the digests of all values that wait.
func (o Offer) WaitingSettings() []string {
	var list []string
	for _, s := range o.Settings {
		if !s.Granted {
			list = append(list, s.Digest)
		}
	}
	return list
}

// WaitingWorkflows are all workflows that wait, as an answer names them.
func (o Offer) WaitingWorkflows() []string {
	var list []string
	for _, w := range o.Workflows {
		if !w.Granted {
			list = append(list, w.Name+" "+w.Digest)
		}
	}
	return list
}

// errOffer is an answer to something that was not shown, or is not asked any more.
var errOffer = errors.New("what the vault asks for has changed since it was shown; look at it again")

// Accept stores a person's answer to what was offered. Nothing is granted that the offer does not hold.
func (t *Trust) Accept(o Offer, answer engine.TrustAnswer) error {
	level := trust.Level(answer.Level)
	if answer.Level != "" && !slices.Contains([]trust.Level{trust.Untrusted, trust.Shared, trust.Own}, level) {
		return control.Usage.Errorf("the level %q is not known; there are own, shared and untrusted", answer.Level)
	}
	if level == trust.Untrusted && len(answer.Settings)+len(answer.Workflows) > 0 || answer.Level == "" && o.Level == string(trust.Untrusted) {
		return control.Usage.Errorf("in a vault that is not trusted nothing is granted; say first whether it is your own or shared")
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
	return t.store.Change(func(s *trust.State) {
		if answer.Level != "" {
			s.Decide(level, now)
		}
		s.Grant(now, asks...)
		for _, name := range answer.Workflows {
			s.GrantReach(now, name[:strings.LastIndexByte(name, ' ')], o.reaches[name])
		}
	})
}

// Chosen is the answer that grants what the command line names.
func (o Offer) Chosen(settings, workflows []string) (engine.TrustAnswer, error) {
	var answer engine.TrustAnswer
	for _, key := range settings {
		before := len(answer.Settings)
		for _, s := range o.Settings { // each entry of a list waits by itself
			if s.Key == key {
				answer.Settings = append(answer.Settings, s.Digest)
			}
		}
		if len(answer.Settings) == before {
			return answer, control.Usage.Errorf("no setting %q reaches out in this vault; `vaultflow trust --dry-run` lists those that do", key)
		}
	}
	for _, name := range workflows {
		i := slices.IndexFunc(o.Workflows, func(w engine.TrustWorkflow) bool { return SameName(w.Name, name) })
		if i < 0 {
			return answer, control.Usage.Errorf("no workflow %q waits in this vault; `vaultflow trust --dry-run` lists those that do", name)
		}
		answer.Workflows = append(answer.Workflows, o.Workflows[i].Name+" "+o.Workflows[i].Digest)
	}
	return answer, nil
}

// Adopted explains why a vault that nobody was asked about is one's own.
const Adopted = "this vault was used with an earlier version of vaultflow, so it is your own, with the settings it had; `vaultflow trust --revoke` takes that back"
