package reload_test

import (
	"slices"
	"testing"

	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/reload"
	"github.com/vaultflow/vaultflow/settings"
)

// Values from the environment and from flags are compared by key, whatever they come from, but for what is each process's own.
func TestGiven(t *testing.T) {
	t.Parallel()
	load := func(flags map[string]string, environ ...string) *settings.Settings {
		t.Helper()
		s, err := settings.Load(settings.Input{Vault: t.TempDir(), Environ: environ, Overrides: flags})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const zone = "VAULTFLOW_ENGINE_TIMEZONE=Europe/Oslo"
	command := load(map[string]string{"web.listen": "127.0.0.1:1"}, zone, "VAULTFLOW_LOGGING_LEVEL=debug", "ANTHROPIC_API_KEY=k")
	given := reload.Given(command, false)
	if len(given) != 1 || given["engine.timezone"] != (control.Given{Value: "Europe/Oslo", From: "environment VAULTFLOW_ENGINE_TIMEZONE"}) {
		t.Errorf("given: %v", given)
	}
	if got := reload.Differ(given, load(map[string]string{"engine.timezone": "Europe/Oslo"})); got != nil {
		t.Errorf("the same value from another place differs: %v", got)
	}
	if got := reload.Differ(given, load(nil)); !slices.Equal(got, []string{"engine.timezone (environment VAULTFLOW_ENGINE_TIMEZONE)"}) {
		t.Errorf("got %q", got)
	}
	if reload.Refuse(given, load(nil)) == nil || reload.Refuse(given, command) != nil || reload.Refuse(nil, command) != nil {
		t.Error("refused what agrees, or took what does not")
	}
	if all := reload.Given(load(nil), true); len(all) < 50 || all["engine.timezone"].From != "default" || all["web.listen"] != (control.Given{}) {
		t.Errorf("with a file of its own: %d values", len(all))
	}
}
