package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/tools/mcp"
	"github.com/vaultflow/vaultflow/trust"
)

// trustOffer is what a person is shown, with what a yes to each part grants.
type trustOffer struct {
	engine.Trust
	asks    []trust.Ask
	reaches map[string]trust.Reach // of workflows, by "name digest"
	book    *mcp.Pins
	pins    []mcp.Waiting // tools of MCP servers that describe themselves differently now
}

// offer looks at what the vault's files ask for now.
func (a *app) offer() (trustOffer, error) {
	t := a.trust
	s, err := t.store.Read()
	if err != nil {
		return trustOffer{}, exit(exitRefused, err)
	}
	o := trustOffer{Trust: engine.Trust{Level: string(s.Level), Means: s.Level.Words(), Since: s.Since, Vault: a.dir}, reaches: map[string]trust.Reach{}}
	for _, ask := range t.granted {
		o.Settings = append(o.Settings, settingOf(s, ask, s.Level != trust.Untrusted)) // itself, or something wider
		o.asks = append(o.asks, ask)
	}
	for _, ask := range t.asks {
		o.Settings = append(o.Settings, settingOf(s, ask, s.Grants(ask.Key, ask.Digest)))
		o.asks = append(o.asks, ask)
	}
	for _, ask := range a.folderAsks() {
		o.Settings = append(o.Settings, settingOf(s, ask, s.Grants(ask.Key, ask.Digest)))
		o.asks = append(o.asks, ask)
	}
	if err := o.addPins(a.stateDir); err != nil {
		return o, err
	}
	o.comparable()
	if s.Level == trust.Own {
		return o, nil
	}
	all, err := a.workflows()
	if err != nil {
		return o, err
	}
	for _, loaded := range all {
		if !loaded.Valid() {
			continue
		}
		r := t.reach(loaded.Plan)
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
func (o *trustOffer) addPins(stateDir string) (err error) {
	o.book = mcp.OpenPins(stateDir)
	if o.pins, err = o.book.Waiting(); err != nil {
		return exit(exitRefused, err)
	}
	for _, p := range o.pins {
		o.Settings = append(o.Settings, engine.TrustSetting{
			Key: "mcp_servers." + p.Server + ".tools." + p.Tool, Digest: p.Digest, Says: p.Says, Value: p.Now, Was: p.Before,
		})
	}
	return nil
}

// pin is the tool of an MCP server that a digest of an answer names.
func (o trustOffer) pin(digest string) (mcp.Waiting, bool) {
	i := slices.IndexFunc(o.pins, func(w mcp.Waiting) bool { return w.Digest == digest })
	if i < 0 {
		return mcp.Waiting{}, false
	}
	return o.pins[i], true
}

// grantPins says yes to the tools among an answer's settings.
func (o trustOffer) grantPins(settings []string) error {
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
func (o trustOffer) comparable() {
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

// waitingSettings are the digests of all values that wait.
func (o trustOffer) waitingSettings() []string {
	var list []string
	for _, s := range o.Settings {
		if !s.Granted {
			list = append(list, s.Digest)
		}
	}
	return list
}

// waitingWorkflows are all workflows that wait, as an answer names them.
func (o trustOffer) waitingWorkflows() []string {
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

// accept stores a person's answer to what was offered. Nothing is granted that the offer does not hold.
func (t *vaultTrust) accept(o trustOffer, answer engine.TrustAnswer) error {
	level := trust.Level(answer.Level)
	if answer.Level != "" && !slices.Contains([]trust.Level{trust.Untrusted, trust.Shared, trust.Own}, level) {
		return usagef("the level %q is not known; there are own, shared and untrusted", answer.Level)
	}
	if level == trust.Untrusted && len(answer.Settings)+len(answer.Workflows) > 0 || answer.Level == "" && o.Level == string(trust.Untrusted) {
		return usagef("in a vault that is not trusted nothing is granted; say first whether it is your own or shared")
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

// chosen is the answer that grants what the command line names.
func (o trustOffer) chosen(settings, workflows []string) (engine.TrustAnswer, error) {
	var answer engine.TrustAnswer
	for _, key := range settings {
		before := len(answer.Settings)
		for _, s := range o.Settings { // each entry of a list waits by itself
			if s.Key == key {
				answer.Settings = append(answer.Settings, s.Digest)
			}
		}
		if len(answer.Settings) == before {
			return answer, usagef("no setting %q reaches out in this vault; `vaultflow trust --dry-run` lists those that do", key)
		}
	}
	for _, name := range workflows {
		i := slices.IndexFunc(o.Workflows, func(w engine.TrustWorkflow) bool { return sameName(w.Name, name) })
		if i < 0 {
			return answer, usagef("no workflow %q waits in this vault; `vaultflow trust --dry-run` lists those that do", name)
		}
		answer.Workflows = append(answer.Workflows, o.Workflows[i].Name+" "+o.Workflows[i].Digest)
	}
	return answer, nil
}

// lines print an offer for people.
func (o trustOffer) lines() string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("vault  %s", trust.Plain(o.Vault))
	say("trust  %s", o.Means)
	if o.Note != "" {
		say("       %s", o.Note)
	}
	if len(o.Settings) > 0 {
		say("\nsettings of this vault that reach out:")
	}
	for _, s := range o.Settings {
		say("  %s %s: %s", mark(s.Granted), trust.Plain(s.Key), trust.Plain(s.Says))
		switch {
		case s.Was != "" && !s.Granted:
			say("      before: %s", trust.Plain(s.Was))
			say("      now:    %s", trust.Plain(s.Value))
		case s.Value != "":
			say("      value: %s", trust.Plain(s.Value))
		}
	}
	if len(o.Workflows) > 0 {
		say("\nworkflows:")
	}
	for _, w := range o.Workflows {
		state := ""
		if !w.Enabled {
			state = " (by hand)"
		}
		say("  %s %s%s", mark(w.Granted), trust.Plain(w.Name), state)
		if w.Granted {
			continue
		}
		for _, line := range w.New {
			say("      + %s", line)
		}
		for _, line := range w.Gone {
			say("      - %s", line)
		}
		if len(w.New) == 0 {
			say("      reaches nothing but its own notes")
		}
	}
	return b.String()
}

func mark(granted bool) string {
	if granted {
		return "allowed"
	}
	return "waits  "
}
