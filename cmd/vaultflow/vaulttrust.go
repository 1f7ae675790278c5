package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/daemon/modelset"

	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/tools"
	"github.com/vaultflow/vaultflow/trust"
	"github.com/vaultflow/vaultflow/workflow"
)

// vaultTrust is how far the vault is believed. The level and the settings' values are those that were in force when the
// settings were loaded; what is said later counts at once where it takes something away, and after the settings were loaded
// again where it allows more.
type vaultTrust struct {
	store    *trust.Store
	opened   trust.State
	asks     []trust.Ask // values of the settings that wait
	granted  []trust.Ask // and those that are in force because somebody granted them
	settings *settings.Settings
	dir      string
	log      *slog.Logger // nil until the settings are loaded
}

// openTrust finds out how far a vault is believed. A vault that an earlier version worked on becomes the user's own, with the
// values of its settings that are in force.
func openTrust(ctx context.Context, stateDir, dir string, waiting func() ([]trust.Ask, error)) (*vaultTrust, error) {
	store, err := trust.Open(stateDir, dir)
	if err != nil {
		return nil, err
	}
	t := &vaultTrust{store: store, dir: dir}
	if t.opened, err = store.Read(); err != nil {
		return nil, exit(exitRefused, err)
	}
	if store.Exists() {
		return t, nil
	}
	if earlier, err := journal.Earlier(ctx, stateDir); err != nil || !earlier {
		return t, nil //nolint:nilerr // a database that cannot be read is reported where it is opened; it proves nothing
	}
	asks, err := waiting()
	if err != nil {
		return t, nil //nolint:nilerr // settings with faults are reported when they are loaded in earnest
	}
	if err := store.Adopt(time.Now(), asks); err != nil {
		return nil, err
	}
	t.opened, err = store.Read()
	return t, err
}

// grants reports whether a value of the vault's files was granted when the vault was opened.
func (t *vaultTrust) grants(w settings.Waiting) bool { return t.opened.Grants(w.Key, w.Digest) }

// now is what counts now. Nobody has said anything about an app that was made without.
func (t *vaultTrust) now() trust.State {
	if t == nil {
		return trust.State{Level: trust.Untrusted}
	}
	s, err := t.store.Read()
	if err != nil && t.log != nil {
		t.log.Error("the vault counts as not trusted", "err", err)
	}
	if t.opened.Level == trust.Untrusted || t.opened.Level == trust.Shared && s.Level == trust.Own {
		s.Level = t.opened.Level
	}
	return s
}

// untrusted reports whether nothing may start or leave.
func (t *vaultTrust) untrusted() bool { return t.now().Level == trust.Untrusted }

// refusal is an error for what an untrusted vault may not do, nil in others.
func (t *vaultTrust) refusal(what string) error {
	if !t.untrusted() {
		return nil
	}
	return t.refuse("vaultflow trust", "this vault is not trusted yet: "+what)
}

func (t *vaultTrust) refuse(command, message string) *failure.Error {
	return failure.New(failure.Permission, "`"+command+"` shows what the vault asks for, and asks you", "%s", message)
}

// fingerprint names what a process has to load its settings again for: the level, and the values that were granted.
func fingerprint(s trust.State) string {
	var lines []string
	for _, g := range s.Settings {
		lines = append(lines, g.Key+" "+g.Digest)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(string(s.Level) + "\n" + strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:8])
}

// service names the service that a model alias leads to; empty for one that sends nothing.
func (t *vaultTrust) service(alias string) string {
	alias = cmp.Or(alias, t.settings.Models.Default)
	a, p, ok := t.alias(alias)
	switch {
	case !ok:
		return "the model " + alias + ", which is not set up"
	case p.Kind == settings.Offline:
		return ""
	}
	if address := modelset.AddressOf(p); address != "" {
		return a.Provider + " (" + strings.TrimPrefix(strings.TrimPrefix(hostOf(address), "https://"), "http://") + ")"
	}
	return a.Provider
}

// alias is an alias as a workflow means it: one of the vault's files, though it may wait, goes before one of that name below.
func (t *vaultTrust) alias(name string) (a settings.Alias, p settings.Provider, ok bool) {
	if a, p, ok = t.settings.Withheld(name); ok {
		return a, p, ok
	}
	return t.settings.Alias(name)
}

// reach is what a workflow may do.
func (t *vaultTrust) reach(p *workflow.Plan) trust.Reach { return trust.ReachOf(p, t.service) }

// waits says why a workflow may not run as far as trust goes, empty when it may. Whatever starts a run asks it.
func (t *vaultTrust) waits(s trust.State, p *workflow.Plan) string {
	switch {
	case s.Level == trust.Untrusted:
		return "this vault is not trusted yet"
	case !s.Allows(p.Name, t.reach(p)):
		if last, ok := s.LastReach(p.Name); ok {
			return "it reaches further than you have allowed: " + list(t.reach(p).Beyond(last.Reach))
		}
		return "it waits for your yes to what it reaches"
	}
	if keys := t.waitingFor(p); len(keys) > 0 {
		return "it uses settings of this vault that wait for your yes: " + strings.Join(keys, ", ")
	}
	return ""
}

// list joins what a reach allows, in words.
func list(items []trust.Item) string {
	words := make([]string, len(items))
	for i, item := range items {
		words[i] = item.String()
	}
	return shorten(strings.Join(words, "; "), 300)
}

// waitingFor are the settings that a workflow needs and that wait: without them it would ask another service than its author
// meant, or lack a tool.
func (t *vaultTrust) waitingFor(p *workflow.Plan) []string {
	var needs []string
	for _, s := range p.Steps {
		if s.Model == nil || !s.Model.None {
			needs = append(needs, t.provider(p.Alias(s, ""))...)
			if s.Model != nil && s.Model.Fallback != "" {
				needs = append(needs, t.provider(s.Model.Fallback)...)
			}
		}
		if s.Tools == nil {
			continue
		}
		for _, use := range s.Tools.Uses {
			if server, _, dotted := strings.Cut(use.Name, "."); dotted {
				needs = append(needs, "mcp_servers."+server)
			} else if use.Name == tools.WebSearch {
				needs = append(needs, "web_search")
			}
		}
	}
	var keys []string
	for _, a := range t.asks {
		if slices.ContainsFunc(needs, func(n string) bool { return a.Key == n || strings.HasPrefix(a.Key, n+".") }) {
			keys = append(keys, trust.Plain(a.Key))
		}
	}
	return keys
}

func (t *vaultTrust) provider(alias string) []string {
	if alias == "" && t.settings.Origin("models.default").Source == settings.SourceDefault {
		return []string{"providers", "models"} // it may stand in for a default model that waits, and reach somebody else
	}
	alias = cmp.Or(alias, t.settings.Models.Default)
	a, _, ok := t.alias(alias)
	if !ok {
		return nil
	}
	return []string{"providers." + a.Provider, "models.aliases." + alias}
}

// asksFor reports whether a setting, or one below it, waits.
func (t *vaultTrust) asksFor(key string) bool {
	return t != nil && slices.ContainsFunc(t.asks, func(a trust.Ask) bool { return a.Key == key || strings.HasPrefix(a.Key, key+".") })
}

// mayRun refuses a run that a person asks for. In an untrusted vault a workflow runs with the offline model alone.
func (t *vaultTrust) mayRun(p *workflow.Plan) error {
	s := t.now()
	if s.Level == trust.Untrusted {
		return t.offlineOnly(p)
	}
	if why := t.waits(s, p); why != "" {
		command := fmt.Sprintf("vaultflow trust --workflow %q", p.Name)
		if s.Allows(p.Name, t.reach(p)) {
			command = "vaultflow trust"
		}
		return t.refuse(command, fmt.Sprintf("workflow %q may not run: %s", p.Name, why))
	}
	return nil
}

// offlineOnly refuses steps whose model is reached over a network.
func (t *vaultTrust) offlineOnly(p *workflow.Plan) error {
	for _, s := range p.Steps {
		if s.Model != nil && s.Model.None {
			continue
		}
		alias := p.Alias(s, t.settings.Models.Default)
		if _, provider, ok := t.alias(alias); ok && provider.Kind != settings.Offline {
			return failure.New(failure.Permission, "`vaultflow trust` shows what the vault asks for, and asks you; --model offline runs it without a service",
				"this vault is not trusted yet: step %q would send its prompt to %s", s.Name, t.service(alias))
		}
	}
	return nil
}

// mayNest refuses a workflow that a model asks for.
func (t *vaultTrust) mayNest(p *workflow.Plan) error {
	s := t.now()
	if s.Level == trust.Untrusted {
		return t.offlineOnly(p)
	}
	if why := t.waits(s, p); why != "" {
		return fmt.Errorf("a person must allow it first: %s", why)
	}
	return nil
}

// off is a workflow whose triggers fire nothing.
func off(p *workflow.Plan) *workflow.Plan {
	quiet := *p
	quiet.Meta.Enabled = false
	return &quiet
}
