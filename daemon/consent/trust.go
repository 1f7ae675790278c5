// Package consent is what the user allows a vault: how far it is trusted, what its files ask for, and the Answers.
package consent

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

// Answers is what the user had answered about a vault when it was opened. Get them from [Open].
type Answers struct {
	store  *trust.Store
	opened trust.State
}

// Trust decides what a vault may do, by the answers at the time its settings were loaded. A later answer that forbids something
// counts at once; one that allows more counts after the settings are loaded again.
type Trust struct {
	answers  Answers
	asks     []trust.Ask // values of the settings that wait
	granted  []trust.Ask // values in force because somebody granted them
	settings *settings.Settings
	log      *slog.Logger
}

// New returns the trust in a vault whose settings were loaded with the grants of the answers.
func New(given Answers, s *settings.Settings, log *slog.Logger) *Trust {
	return &Trust{answers: given, asks: asksOf(s.Waiting), granted: asksOf(s.Granted), settings: s, log: log}
}

// Open reads how far a vault is trusted. A vault that an earlier version worked on becomes the user's own, with the settings
// it has now.
func Open(ctx context.Context, stateDir, dir string, in settings.Input) (Answers, error) {
	store, err := trust.Open(stateDir, dir)
	if err != nil {
		return Answers{}, err
	}
	a := Answers{store: store}
	if a.opened, err = store.Read(); err != nil {
		return Answers{}, control.Denied.Wrap(err)
	}
	if store.Exists() {
		return a, nil
	}
	if earlier, err := journal.Earlier(ctx, stateDir); err != nil || !earlier {
		return a, nil //nolint:nilerr // an unreadable database proves nothing, and is reported where it is opened
	}
	asks, err := asked(in)
	if err != nil {
		return a, nil //nolint:nilerr // faults in the settings are reported when they are loaded
	}
	if err := store.Adopt(time.Now(), asks); err != nil {
		return Answers{}, err
	}
	a.opened, err = store.Read()
	return a, err
}

// Grants reports whether a value of the vault's settings was granted.
func (a Answers) Grants(w settings.Waiting) bool { return a.opened.Grants(w.Key, w.Digest) }

// Begin records that the vault is used with this version, before there is a journal that could be taken for an earlier one's.
func (t *Trust) Begin() error { return t.answers.store.Begin() }

// Announce reports whether [Adopted] must still be shown in a place (the log, the dashboard), and marks it as shown.
func (t *Trust) Announce(place string) bool { return t.answers.store.Tell(place) }

// Stored returns the answers on disk.
func (t *Trust) Stored() (trust.State, error) { return t.answers.store.Read() }

// Fingerprint identifies the grants that the settings in force were loaded with.
func (t *Trust) Fingerprint() string { return Fingerprint(t.answers.opened) }

// Now returns the answers that count now.
func (t *Trust) Now() trust.State {
	s, err := t.answers.store.Read()
	if err != nil {
		t.log.Error("vault treated as untrusted: its trust cannot be read", "err", err)
	}
	if t.answers.opened.Level == trust.Untrusted || t.answers.opened.Level == trust.Shared && s.Level == trust.Own {
		s.Level = t.answers.opened.Level
	}
	return s
}

// Untrusted reports whether the vault may start no programs and send nothing.
func (t *Trust) Untrusted() bool { return t.Now().Level == trust.Untrusted }

// Outdated reports whether the settings in force were loaded with other grants than there are now.
func (t *Trust) Outdated() bool {
	s, err := t.answers.store.Read()
	return err == nil && Fingerprint(s) != t.Fingerprint()
}

// Stamp returns a text that changes when the user allows a workflow.
func (t *Trust) Stamp() string {
	s, _ := t.answers.store.Read()
	text := ""
	for _, g := range s.Workflows {
		text += g.Workflow + " " + g.Digest + "\n"
	}
	return text
}

// Refusal returns an error if the vault is untrusted, for something that such a vault may not do.
func (t *Trust) Refusal(what string) error {
	if !t.Untrusted() {
		return nil
	}
	return t.refuse("this vault is not trusted yet: " + what)
}

func (t *Trust) refuse(message string) *failure.Error {
	return failure.New(failure.Permission, "`vaultflow trust` shows what the vault asks for and lets you decide", "%s", message)
}

// Fingerprint identifies the level and the granted settings: a process loads its settings again when it changes.
func Fingerprint(s trust.State) string {
	var lines []string
	for _, g := range s.Settings {
		lines = append(lines, g.Key+" "+g.Digest)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(string(s.Level) + "\n" + strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:8])
}

// service names the service behind a model alias, or returns "" if it sends nothing.
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

// Reach returns what a workflow can do.
func (t *Trust) Reach(p *workflow.Plan) trust.Reach { return trust.ReachOf(p, t.service) }

// Waits returns why trust does not let a workflow run, or "". Everything that starts runs calls it.
func (t *Trust) Waits(s trust.State, p *workflow.Plan) string {
	switch {
	case s.Level == trust.Untrusted:
		return "this vault is not trusted yet"
	case !s.Allows(p.Name, t.Reach(p)):
		if last, ok := s.LastReach(p.Name); ok {
			return "it reaches further than you have allowed: " + list(t.Reach(p).Beyond(last.Reach))
		}
		return "it waits for your approval to what it reaches"
	}
	if keys := t.waitingFor(p); len(keys) > 0 {
		return usesWaiting(keys)
	}
	return ""
}

// list joins the items of a reach.
func list(items []trust.Item) string {
	return words.Shorten(strings.Join(sentences(items), "; "), 300)
}

// waitingFor returns the settings that a workflow needs and that are not granted. Without them it would ask another service
// than its author meant, or lack a tool.
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

// AsksFor reports whether a setting, or one below it, waits for a grant.
func (t *Trust) AsksFor(key string) bool {
	key = visible.Name(key)
	return slices.ContainsFunc(t.asks, func(a trust.Ask) bool { return a.Key == key || strings.HasPrefix(a.Key, key+".") })
}

// MayRun returns an error if a user may not start this workflow. In an untrusted vault only the offline model runs.
func (t *Trust) MayRun(p *workflow.Plan) error {
	s := t.Now()
	if s.Level == trust.Untrusted {
		return t.offlineOnly(p)
	}
	if why := t.Waits(s, p); why != "" {
		message := fmt.Sprintf("workflow %q may not run: %s", p.Name, why)
		if s.Allows(p.Name, t.Reach(p)) {
			return t.refuse(message)
		}
		return failure.New(failure.Permission,
			fmt.Sprintf("`vaultflow trust --dry-run` shows what the workflow can reach; `vaultflow trust --workflow %q` allows it", p.Name), "%s", message)
	}
	return nil
}

// MayPreview returns an error if a preview would show another model or other tools than a run would use. A workflow of a shared
// vault can be previewed before it is allowed.
func (t *Trust) MayPreview(p *workflow.Plan) error {
	if t.Untrusted() {
		return nil // the models refuse what is not allowed
	}
	if keys := t.waitingFor(p); len(keys) > 0 {
		return t.refuse(fmt.Sprintf("workflow %q may not run: %s", p.Name, usesWaiting(keys)))
	}
	return nil
}

func usesWaiting(keys []string) string {
	return "it uses settings of this vault that wait for your approval: " + strings.Join(keys, ", ")
}

// offlineOnly returns an error if a step's model is reached over a network.
func (t *Trust) offlineOnly(p *workflow.Plan) error {
	for _, s := range p.Steps {
		if s.Model != nil && s.Model.None {
			continue
		}
		alias := p.Alias(s, t.settings.Models.Default)
		if _, provider, ok := t.settings.Meant(alias); ok && provider.Kind != settings.Offline {
			return failure.New(failure.Permission, "`vaultflow trust` shows what the vault asks for and lets you decide; --model offline runs it without a service",
				"this vault is not trusted yet: step %q would send its prompt to %s", s.Name, t.service(alias))
		}
	}
	return nil
}

// MayNest returns an error if a model may not start this workflow.
func (t *Trust) MayNest(p *workflow.Plan) error {
	s := t.Now()
	if s.Level == trust.Untrusted {
		return t.offlineOnly(p)
	}
	if why := t.Waits(s, p); why != "" {
		return fmt.Errorf("the user must allow it first: %s", why)
	}
	return nil
}

// asked returns the values of the vault's settings that need a grant, including those that only show once others are granted:
// a link to a settings file hides what the file says.
func asked(in settings.Input) ([]trust.Ask, error) {
	in.Grants = func(settings.Waiting) bool { return true }
	if s, err := settings.Load(in); err == nil {
		return asksOf(s.Granted), nil
	}
	in.Grants = nil
	s, err := settings.Load(in)
	if err != nil {
		return nil, err
	}
	return asksOf(s.Waiting), nil
}

func asksOf(list []settings.Waiting) []trust.Ask {
	asks := make([]trust.Ask, len(list))
	for i, w := range list {
		asks[i] = trust.Ask{Key: w.Key, Digest: w.Digest, Says: w.Says, Value: w.Value}
	}
	return asks
}
