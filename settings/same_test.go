package settings_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vaultflow/vaultflow/settings"
)

// Comments, blank lines and unused variables are no change of the settings. A value, a key and what waits are.
func TestSettings_Same(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	load := func(text, env string) *settings.Settings {
		t.Helper()
		for name, data := range map[string]string{"settings.yaml": text, ".env": env} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, err := settings.Load(settings.Input{Vault: dir, Grants: func(w settings.Waiting) bool { return w.Key != "providers.lab" }})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const text, env = "engine: {max_parallel_runs: 3}\nproviders: {lab: {kind: openai, base_url: \"http://lab/v1\"}}\n", "ANTHROPIC_API_KEY=a\n"
	was := load(text, env)
	for name, c := range map[string]struct {
		text, env string
		same      bool
	}{
		"nothing":           {text, env, true},
		"a comment":         {"# why\n\n" + text, "# whose\n" + env, true},
		"another value":     {"engine: {max_parallel_runs: 4}\n" + text[len("engine: {max_parallel_runs: 3}\n"):], env, false},
		"another key":       {text, "ANTHROPIC_API_KEY=b\n", false},
		"one more":          {text + "policy: {links: strict}\n", env, false},
		"unlike what waits": {text[:len(text)-len("lab/v1\"}}\n")] + "lab/v2\"}}\n", env, false},
	} {
		if now := load(c.text, c.env); was.Same(now) != c.same {
			t.Errorf("%s: Same is %v", name, !c.same)
		}
	}
}
