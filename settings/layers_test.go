package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/settings"
)

// two loads a vault with a file of its own over the user's.
func two(t *testing.T, user, vault string, more settings.Input) *settings.Settings {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "vault", "settings.yaml"), vault+"\n", 0o600)
	write(t, filepath.Join(dir, "config", "settings.yaml"), user+"\n", 0o600)
	more.Vault, more.User = filepath.Join(dir, "vault"), filepath.Join(dir, "config", "settings.yaml")
	s, err := settings.Load(more)
	if err != nil {
		t.Fatalf("%s\n%s: %v", user, vault, err)
	}
	return s
}

func TestUserFile(t *testing.T) {
	t.Parallel()
	for want, environ := range map[string][]string{
		"/c/vaultflow/settings.yaml":              {"HOME=/home/x", "XDG_CONFIG_HOME=/c"},
		"/home/x/.config/vaultflow/settings.yaml": {"HOME=/home/x", "XDG_CONFIG_HOME=relative"},
		"": {"XDG_CONFIG_HOME="},
	} {
		if got := settings.UserFile(environ); got != want {
			t.Errorf("%v: %q, want %q", environ, got, want)
		}
	}
}

// Key by key: flag, environment, vault, user, default.
func TestLayers_precedence(t *testing.T) {
	t.Parallel()
	s := two(t, "engine: {timezone: Europe/Oslo, auto_buffer_tokens: 500}\nvault: {import_dir: User, imported_dir: Bundles}\nlogging: {level: warn, format: json}\nweb: {listen: '127.0.0.1:1111'}",
		"engine: {timezone: UTC}\nvault: {import_dir: Inbox}\nlogging: {level: info}",
		settings.Input{Environ: []string{"VAULTFLOW_VAULT_IMPORT_DIR=FromEnvironment", "VAULTFLOW_LOGGING_LEVEL=error"}, Overrides: map[string]string{"logging.level": "debug"}})
	got := map[string]string{}
	for _, path := range []string{"engine.timezone", "engine.auto_buffer_tokens", "vault.import_dir", "vault.imported_dir", "logging.level", "logging.format", "web.listen", "vault.watch"} {
		i := slices.IndexFunc(s.Values(), func(v settings.Value) bool { return v.Path == path })
		got[path] = s.Values()[i].Value + " " + string(s.Values()[i].Origin.Source)
	}
	want := map[string]string{
		"engine.timezone": "UTC settings", "engine.auto_buffer_tokens": "500 user", "vault.import_dir": "FromEnvironment environment", "vault.imported_dir": "Bundles user",
		"logging.level": "debug flag", "logging.format": "json user", "web.listen": "127.0.0.1:1111 user", "vault.watch": "auto default",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(s.Waiting) > 0 {
		t.Errorf("the user's own file waits: %+v", s.Waiting)
	}
}

// A vault never combines its address with the user's key, nor takes one of the two away from the other.
func TestLayers_providersAreReplacedWhole(t *testing.T) {
	t.Parallel()
	user := "providers: {lab: {kind: vllm, base_url: 'https://mine.example/v1', api_key_env: MINE, headers: {X: mine}, timeout: 1m, requests_per_minute: 10}}"
	environ := []string{"MINE=my-key", "THEIRS=their-key"}
	for name, c := range map[string]struct {
		vault   string
		granted bool
		want    settings.Provider
	}{
		"limits alone":    {"providers: {lab: {timeout: 2m, requests_per_minute: 5}}", false, settings.Provider{BaseURL: "https://mine.example/v1", APIKeyEnv: "MINE", Key: "my-key", Headers: map[string]settings.Secret{"X": "mine"}, RequestsPerMinute: 5}},
		"a looser limit":  {"providers: {lab: {requests_per_minute: 50, timeout: 2m}}", false, settings.Provider{BaseURL: "https://mine.example/v1", APIKeyEnv: "MINE", Key: "my-key", Headers: map[string]settings.Secret{"X": "mine"}, RequestsPerMinute: 10}},
		"an address":      {"providers: {lab: {kind: vllm, base_url: 'https://evil.example/v1', timeout: 2m}}", false, settings.Provider{BaseURL: "https://mine.example/v1", APIKeyEnv: "MINE", Key: "my-key", Headers: map[string]settings.Secret{"X": "mine"}, RequestsPerMinute: 10}},
		"granted":         {"providers: {lab: {kind: vllm, base_url: 'https://evil.example/v1', timeout: 2m}}", true, settings.Provider{BaseURL: "https://evil.example/v1", RequestsPerMinute: 10}},
		"granted its key": {"providers: {lab: {kind: vllm, base_url: 'https://evil.example/v1', api_key_env: THEIRS, timeout: 2m}}", true, settings.Provider{BaseURL: "https://evil.example/v1", APIKeyEnv: "THEIRS", Key: "their-key", RequestsPerMinute: 10}},
		"said once more":  {"providers: {lab: {api_key_env: MINE, base_url: 'https://mine.example/v1', kind: vllm, headers: {X: mine}, timeout: 2m}}", false, settings.Provider{BaseURL: "https://mine.example/v1", APIKeyEnv: "MINE", Key: "my-key", Headers: map[string]settings.Secret{"X": "mine"}, RequestsPerMinute: 10}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := two(t, user, c.vault, settings.Input{Environ: environ, Grants: func(settings.Waiting) bool { return c.granted }})
			p := s.Providers["lab"]
			c.want.Kind, p.KeyFrom, c.want.Timeout = "vllm", "", settings.Duration(2*60e9)
			if fmt.Sprintf("%+v", plain(p)) != fmt.Sprintf("%+v", plain(c.want)) {
				t.Errorf("got %+v\nwant %+v", plain(p), plain(c.want))
			}
		})
	}
}

// plain is a provider with its secrets, for a comparison.
func plain(p settings.Provider) map[string]any {
	headers := map[string]string{}
	for k, v := range p.Headers {
		headers[k] = string(v)
	}
	return map[string]any{"url": string(p.BaseURL), "key": string(p.Key), "env": p.APIKeyEnv, "headers": headers, "rpm": p.RequestsPerMinute, "timeout": p.Timeout, "kind": p.Kind}
}

// A vault's file never loosens what the user's own file bounds; a note says so. It may be stricter.
func TestLayers_towardsTheStricter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		user, vault, path, want string
		loosens                 bool
	}{
		{"policy: {budget: {max_images: 5}}", "policy: {budget: {max_images: 50}}", "policy.budget.max_images", "5", true},
		{"policy: {budget: {max_images: 5}}", "policy: {budget: {max_images: 2}}", "policy.budget.max_images", "2", false},
		{"policy: {budget: {max_cost_usd: 1}}", "policy: {budget: {max_cost_usd: 0}}", "policy.budget.max_cost_usd", "1", true},
		{"policy: {budget: {max_cost_usd_per_month: 10}}", "policy: {budget: {max_cost_usd_per_month: 100}}", "policy.budget.max_cost_usd_per_month", "10", true},
		{"policy: {budget: {max_cost_usd: 0}}", "policy: {budget: {max_cost_usd: 9}}", "policy.budget.max_cost_usd", "9", false},
		{"policy: {budget: {max_total_tokens_per_day: 1000}}", "policy: {budget: {max_total_tokens_per_day: 0}}", "policy.budget.max_total_tokens_per_day", "1000", true},
		{"engine: {run_timeout: 1h}", "engine: {run_timeout: 0s}", "engine.run_timeout", "1h", true},
		{"engine: {max_selected_files: 10}", "engine: {max_selected_files: 100000}", "engine.max_selected_files", "10", true},
		{"engine: {retention: {contents: 10d}}", "engine: {retention: {contents: 1h}}", "engine.retention.contents", "10d", true},
		{"engine: {retention: {contents: 1w}}", "engine: {retention: {contents: 2w}}", "engine.retention.contents", "2w", false},
		{"ingestion: {require_confinement: true}", "ingestion: {require_confinement: false}", "ingestion.require_confinement", "true", true},
		{"ingestion: {require_confinement: false}", "ingestion: {require_confinement: true}", "ingestion.require_confinement", "true", false},
		{"ingestion: {memory: 512MiB}", "ingestion: {memory: 64GiB}", "ingestion.memory", "512MiB", true},
		{"web_fetch: {deny: [a.example, b.example]}", "web_fetch: {deny: [c.example]}", "web_fetch.deny", "[a.example, b.example, c.example]", true},
		{"policy: {remote_images: {deny: [a.example]}}", "policy: {remote_images: {deny: []}}", "policy.remote_images.deny", "[a.example]", true},
		{"vault: {ignore: ['Private/**']}", "vault: {ignore: []}", "vault.ignore", "[Private/**]", true},
		{"policy: {untrusted: ['Web/**']}", "policy: {untrusted: []}", "policy.untrusted", "[Web/**]", true},
		{"policy: {untrusted: []}", "policy: {untrusted: ['Web/**']}", "policy.untrusted", "[Web/**]", false},
		{"", "policy: {untrusted: []}", "policy.untrusted", "[Clippings/**]", true},
		{"policy: {untrusted_properties: [source]}", "policy: {untrusted_properties: [url]}", "policy.untrusted_properties", "[source, url]", true},
	} {
		s := two(t, c.user, c.vault, settings.Input{})
		i := slices.IndexFunc(s.Values(), func(v settings.Value) bool { return v.Path == c.path })
		if got := s.Values()[i].Value; got != c.want {
			t.Errorf("%s under %s: %s is %s, want %s", c.vault, c.user, c.path, got, c.want)
		}
		loosens := slices.ContainsFunc(s.Diagnostics, func(d diag.Diagnostic) bool { return d.Code == settings.CodeStricter })
		if loosens != c.loosens {
			t.Errorf("%s under %s: a note %v, want %v: %v", c.vault, c.user, loosens, c.loosens, s.Diagnostics)
		}
	}
}

// Without a cap of the user's the vault sets its own, and prices; with one, prices wait: at a price of 0 no cap is reached.
func TestLayers_pricesUnderACap(t *testing.T) {
	t.Parallel()
	const vault = "models: {default: m, aliases: {m: {provider: anthropic, model: x, price: {input: 0, output: 0}}}}"
	if s := two(t, "", vault, settings.Input{}); len(s.Waiting) > 0 || !s.Models.Aliases["m"].Price.Known() {
		t.Errorf("%+v", s.Waiting)
	}
	for name, c := range map[string]struct {
		user string
		in   settings.Input
	}{
		"user":        {"policy: {budget: {max_cost_usd_per_day: 1}}", settings.Input{}},
		"environment": {"", settings.Input{Environ: []string{"VAULTFLOW_POLICY_BUDGET_MAX_COST_USD=1"}}},
		"flag":        {"", settings.Input{Overrides: map[string]string{"policy.budget.max_cost_usd_per_run": "1"}}},
	} {
		s := two(t, c.user, vault, c.in)
		if len(s.Waiting) != 1 || s.Waiting[0].Key != "models.aliases.m.price" || s.Models.Aliases["m"].Price.Known() {
			t.Errorf("%s: %+v, %+v", name, s.Waiting, s.Models.Aliases["m"])
		}
	}
}

// An alias of the vault that says no price keeps the user's under a cap.
func TestLayers_aPriceIsNotForgotten(t *testing.T) {
	t.Parallel()
	s := two(t, "models: {default: m, aliases: {m: {provider: anthropic, model: x, price: {input: 3, output: 15}}}}\npolicy: {budget: {max_cost_usd: 1}}",
		"models: {aliases: {m: {provider: anthropic, model: x}}}", settings.Input{})
	if p := s.Models.Aliases["m"].Price; !p.Known() || *p.Output != 15 || len(s.Waiting) > 0 {
		t.Errorf("%+v, %+v", p, s.Waiting)
	}
}

// The vault's servers keep what the user's deny, and replace the rest of an entry.
func TestLayers_servers(t *testing.T) {
	t.Parallel()
	user := "mcp_servers: {n: {command: [notes], env: {K: mine}, deny: [delete]}, o: {command: [other]}}"
	s := two(t, user, "mcp_servers: {n: {command: [notes], deny: [move]}}", settings.Input{Grants: everything})
	if n := s.MCPServers["n"]; len(n.Env) > 0 || !slices.Equal(n.Deny, []string{"move", "delete"}) || len(s.MCPServers["o"].Command) != 1 {
		t.Errorf("%+v", s.MCPServers)
	}
	s = two(t, user, "mcp_servers: {n: {command: [evil]}}", settings.Input{})
	if n := s.MCPServers["n"]; n.Command[0] != "notes" || len(s.Waiting) != 1 {
		t.Errorf("%+v", s.MCPServers)
	}
	s = two(t, user, "mcp_servers: {n: {command: [notes], env: {K: mine}, allow: [read]}}", settings.Input{})
	if n := s.MCPServers["n"]; len(s.Waiting) > 0 || !slices.Equal(n.Allow, []string{"read"}) || !slices.Equal(n.Deny, []string{"delete"}) {
		t.Errorf("the user's own server with fewer tools: %+v %+v", n, s.Waiting)
	}
}

// --settings takes the vault's place: outside the vault it needs no grants and loosens what it likes, inside it is the vault's.
func TestLayers_aFileInTheVaultsPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	vault, user, outside := filepath.Join(dir, "vault"), filepath.Join(dir, "config", "settings.yaml"), filepath.Join(dir, "mine.yaml")
	write(t, user, "policy: {budget: {max_images: 5}}\nengine: {timezone: UTC}\n", 0o600)
	const text = "policy: {budget: {max_images: 50}}\ningestion: {worker: /opt/w}\n"
	write(t, outside, text, 0o600)
	write(t, filepath.Join(vault, "settings.yaml"), "engine: {timezone: Europe/Oslo}\n", 0o600)
	write(t, filepath.Join(vault, "sub", "other.yaml"), text, 0o600)
	for name, c := range map[string]struct {
		file   string
		worker string
		images int
	}{
		"outside": {outside, "/opt/w", 50},
		"inside":  {filepath.Join(vault, "sub", "other.yaml"), "", 5},
	} {
		s, err := settings.Load(settings.Input{Vault: vault, User: user, File: c.file})
		if err != nil || s.Ingestion.Worker != c.worker || s.Policy.Budget.MaxImages != c.images || s.Engine.Timezone != "UTC" || (len(s.Waiting) == 0) != (c.worker != "") {
			t.Errorf("%s: %v, %+v", name, err, s)
		}
	}
	for name, target := range map[string]string{"from-outside.yaml": filepath.Join(vault, "sub", "other.yaml")} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skipf("no symbolic links: %v", err)
		}
		s, err := settings.Load(settings.Input{Vault: vault, User: filepath.Join(dir, name)})
		if err != nil || s.Ingestion.Worker != "" || len(s.Waiting) != 1 {
			t.Errorf("a file of the user's that lies in the vault is the vault's: %v, %+v", err, s)
		}
	}
	if err := os.Symlink(dir, filepath.Join(vault, "up")); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	if s, err := settings.Load(settings.Input{Vault: vault, File: filepath.Join(vault, "up", "mine.yaml")}); err != nil || s.Ingestion.Worker != "" || len(s.Waiting) != 1 || !strings.HasPrefix(s.Waiting[0].Key, "file:up/mine.yaml") {
		t.Errorf("a folder on the way is a link: %v, %+v", err, s)
	}
}

// The user's own file is the place for keys: they need no warning there, unless others may read them.
func TestLayers_keysInTheUsersFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	user := filepath.Join(dir, "settings.yaml")
	write(t, user, "models: {default: sonnet}\nproviders: {anthropic: {api_key: some-key}}\n", 0o600)
	s, err := settings.Load(settings.Input{Vault: t.TempDir(), User: user})
	if err != nil || string(s.Providers["anthropic"].Key) != "some-key" || len(s.Diagnostics) > 0 {
		t.Errorf("%v, %v", err, s.Diagnostics)
	}
	for mode, want := range map[os.FileMode]string{0o644: "can read", 0o620: "can change"} {
		if err := os.Chmod(user, mode); err != nil {
			t.Fatal(err)
		}
		if s, err = settings.Load(settings.Input{Vault: t.TempDir(), User: user}); err != nil || !strings.Contains(fmt.Sprint(s.Diagnostics), want) || !strings.Contains(fmt.Sprint(s.Diagnostics), "chmod 600") {
			t.Errorf("mode %o: %v, %v", mode, err, s.Diagnostics)
		}
	}
	write(t, filepath.Join(dir, ".env"), "OPENAI_API_KEY=beside\n", 0o600)
	if s, err = settings.Load(settings.Input{Vault: t.TempDir(), User: user}); err != nil || string(s.Providers["openai"].Key) != "beside" {
		t.Errorf("the .env beside it: %v, %v", err, s.Providers["openai"].KeyFrom)
	}
	if _, err := settings.Load(settings.Input{User: filepath.Join(dir, "none.yaml")}); err != nil {
		t.Errorf("a missing one: %v", err)
	}
	write(t, user, "web: {lisen: x}\n", 0o600)
	if _, err := settings.Load(settings.Input{User: user}); err == nil || !strings.Contains(err.Error(), user+":1:7") {
		t.Errorf("faults name the file: %v", err)
	}
}

func TestPolicy_untrustedFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"policy: {untrusted: ['[']}":                  "is not a glob",
		"policy: {untrusted: ['/abs/**']}":            "inside the vault",
		"policy: {untrusted_properties: [\"a\\nb\"]}": "not a property name",
	} {
		vault := t.TempDir()
		write(t, filepath.Join(vault, "settings.yaml"), text+"\n", 0o600)
		if _, err := settings.Load(settings.Input{Vault: vault}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
