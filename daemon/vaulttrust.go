package daemon

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

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/modelset"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy/trust"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/tools"
	"github.com/vaultflow/vaultflow/workflow"
)

// answers is what a person has said about a vault, as it was when the vault was opened.
type answers struct {
	store  *trust.Store
	opened trust.State
}

// Trust decides what a vault may do. The level and the values of the settings are those of the moment the settings were
// loaded: a later answer that takes something away counts at once, and one that allows more after the settings were loaded
// again.
type Trust struct {
	answers
	asks     []trust.Ask // values of the settings that wait
	granted  []trust.Ask // values in force because somebody granted them
	settings *settings.Settings
	log      *slog.Logger
}

func newTrust(given answers, s *settings.Settings, log *slog.Logger) *Trust {
	return &Trust{answers: given, asks: asksOf(s.Waiting), granted: asksOf(s.Granted), settings: s, log: log}
}

// openAnswers finds out how far a vault is trusted. A vault that an earlier version worked on becomes the user's own, with the
// values of its settings that are in force.
func openAnswers(ctx context.Context, stateDir, dir string, waiting func() ([]trust.Ask, error)) (answers, error) {
	store, err := trust.Open(stateDir, dir)
	if err != nil {
		return answers{}, err
	}
	a := answers{store: store}
	if a.opened, err = store.Read(); err != nil {
		return answers{}, control.Denied.Wrap(err)
	}
	if store.Exists() {
		return a, nil
	}
	if earlier, err := journal.Earlier(ctx, stateDir); err != nil || !earlier {
		return a, nil //nolint:nilerr // a database that cannot be read is reported where it is opened; it proves nothing
	}
	asks, err := waiting()
	if err != nil {
		return a, nil //nolint:nilerr // settings with faults are reported when they are loaded in earnest
	}
	if err := store.Adopt(time.Now(), asks); err != nil {
		return answers{}, err
	}
	a.opened, err = store.Read()
	return a, err
}

// grants reports whether a value of the vault's files was granted when the vault was opened.
func (a answers) grants(w settings.Waiting) bool { return a.opened.Grants(w.Key, w.Digest) }

// Tell reports whether a vault of an earlier version was Adopted and this place has not said so yet.
func (t *Trust) Tell(place string) bool { return t.store.Tell(place) }

// Stored returns the answers on disk.
func (t *Trust) Stored() (trust.State, error) { return t.store.Read() }

// Now returns the answers that count now.
func (t *Trust) Now() trust.State {
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

// Untrusted reports whether nothing may start or leave.
func (t *Trust) Untrusted() bool { return t.Now().Level == trust.Untrusted }

// refusal is an error for what an untrusted vault may not do, nil in others.
func (t *Trust) refusal(what string) error {
	if !t.Untrusted() {
		return nil
	}
	return t.refuse("vaultflow trust", "this vault is not trusted yet: "+what)
}

func (t *Trust) refuse(command, message string) *failure.Error {
	return failure.New(failure.Permission, "`"+command+"` shows what the vault asks for, and asks you", "%s", message)
}

// Fingerprint names what a process has to load its settings again for: the level, and the values that were granted.
func Fingerprint(s trust.State) string {
	var lines []string
	for _, g := range s.Settings {
		lines = append(lines, g.Key+" "+g.Digest)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(string(s.Level) + "\n" + strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:8])
}

// service names the service that a model alias leads to; empty for one that sends nothing.
func (t *Trust) service(alias string) string {
	alias = cmp.Or(alias, t.settings.Models.Default)
	a, p, ok := t.settings.Meant(alias)
	switch {
	case !ok:
		return "the model " + alias + ", which is not set up"
	case p.Kind == settings.Offline:
		return ""
	}
	if address := modelset.AddressOf(p); address != "" {
		return a.Provider + " (" + strings.TrimPrefix(strings.TrimPrefix(modelset.HostOf(address), "https://"), "http://") + ")"
	}
	return a.Provider
}

// Reach is what a workflow may do.
func (t *Trust) Reach(p *workflow.Plan) trust.Reach { return trust.ReachOf(p, t.service) }

// waits returns why trust does not let a workflow run, or "". Whatever starts a run asks it.
func (t *Trust) waits(s trust.State, p *workflow.Plan) string {
	switch {
	case s.Level == trust.Untrusted:
		return "this vault is not trusted yet"
	case !s.Allows(p.Name, t.Reach(p)):
		if last, ok := s.LastReach(p.Name); ok {
			return "it reaches further than you have allowed: " + list(t.Reach(p).Beyond(last.Reach))
		}
		return "it waits for your yes to what it reaches"
	}
	if keys := t.waitingFor(p); len(keys) > 0 {
		return usesWaiting(keys)
	}
	return ""
}

// list joins what a reach allows, in words.
func list(items []trust.Item) string {
	return words.Shorten(strings.Join(sentences(items), "; "), 300)
}

// waitingFor are the settings that a workflow needs and that wait: without them it would ask another service than its author
// meant, or lack a tool.
func (t *Trust) waitingFor(p *workflow.Plan) []string {
	var keys, needs []string
	for _, s := range p.Steps {
		if s.Model == nil || !s.Model.None {
			keys = append(keys, t.settings.ModelWaits(p.Alias(s, ""))...)
			if s.Model != nil && s.Model.Fallback != "" {
				keys = append(keys, t.settings.ModelWaits(s.Model.Fallback)...)
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
	for _, a := range t.asks {
		if slices.ContainsFunc(needs, func(n string) bool { n = visible.Name(n); return a.Key == n || strings.HasPrefix(a.Key, n+".") }) {
			keys = append(keys, a.Key)
		}
	}
	for i := range keys {
		keys[i] = trust.Plain(keys[i])
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// asksFor reports whether a setting, or one below it, waits.
func (t *Trust) asksFor(key string) bool {
	key = visible.Name(key)
	return slices.ContainsFunc(t.asks, func(a trust.Ask) bool { return a.Key == key || strings.HasPrefix(a.Key, key+".") })
}

// mayRun refuses a run that a person asks for. In an untrusted vault a workflow runs with the offline model alone.
func (t *Trust) mayRun(p *workflow.Plan) error {
	s := t.Now()
	if s.Level == trust.Untrusted {
		return t.offlineOnly(p)
	}
	if why := t.waits(s, p); why != "" {
		command := fmt.Sprintf("vaultflow trust --workflow %q", p.Name)
		if s.Allows(p.Name, t.Reach(p)) {
			command = "vaultflow trust"
		}
		return t.refuse(command, fmt.Sprintf("workflow %q may not run: %s", p.Name, why))
	}
	return nil
}

// MayPreview refuses a preview that a run by hand would not follow: it would show a prompt for another model, or other tools.
// What a workflow of a shared vault reaches may be looked at before it is allowed.
func (t *Trust) MayPreview(p *workflow.Plan) error {
	if t.Untrusted() {
		return nil // what may be asked there, the models say
	}
	if keys := t.waitingFor(p); len(keys) > 0 {
		return t.refuse("vaultflow trust", fmt.Sprintf("workflow %q may not run: %s", p.Name, usesWaiting(keys)))
	}
	return nil
}

func usesWaiting(keys []string) string {
	return "it uses settings of this vault that wait for your yes: " + strings.Join(keys, ", ")
}

// offlineOnly refuses steps whose model is reached over a network.
func (t *Trust) offlineOnly(p *workflow.Plan) error {
	for _, s := range p.Steps {
		if s.Model != nil && s.Model.None {
			continue
		}
		alias := p.Alias(s, t.settings.Models.Default)
		if _, provider, ok := t.settings.Meant(alias); ok && provider.Kind != settings.Offline {
			return failure.New(failure.Permission, "`vaultflow trust` shows what the vault asks for, and asks you; --model offline runs it without a service",
				"this vault is not trusted yet: step %q would send its prompt to %s", s.Name, t.service(alias))
		}
	}
	return nil
}

// mayNest refuses a workflow that a model asks for.
func (t *Trust) mayNest(p *workflow.Plan) error {
	s := t.Now()
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
