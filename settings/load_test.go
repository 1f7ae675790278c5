package settings_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/settings"
)

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// everything grants whatever is asked.
func everything(settings.Waiting) bool { return true }

func load(t *testing.T, in settings.Input) *settings.Settings {
	t.Helper()
	if in.Grants == nil {
		in.Grants = everything
	}
	s, err := settings.Load(in)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return s
}

func TestLoad_noFileMeansDefaultsAndSaysSo(t *testing.T) {
	t.Parallel()
	vault := t.TempDir()
	for _, in := range []settings.Input{{Vault: vault}, {Vault: vault, File: filepath.Join(vault, "settings.yaml")}, {}} {
		s := load(t, in)
		if s.Models.Default != settings.Offline || s.File != "" {
			t.Errorf("default %q, file %q", s.Models.Default, s.File)
		}
		if len(s.Diagnostics) != 1 || s.Diagnostics[0].Code != settings.CodeDefault || s.Diagnostics[0].Severity != diag.SeverityNote {
			t.Errorf("diagnostics %v", s.Diagnostics)
		}
	}
	if _, err := settings.Load(settings.Input{Vault: vault, File: filepath.Join(vault, "other.yaml")}); err == nil {
		t.Error("a file that was named and is not there")
	}
	s := load(t, settings.Input{Vault: vault, Environ: []string{"ANTHROPIC_API_KEY=x"}})
	if s.Models.Default != settings.Offline || !strings.Contains(s.Diagnostics[0].Suggestion, "ANTHROPIC_API_KEY is set") {
		t.Errorf("a key alone configures no model, and is offered: %v", s.Diagnostics)
	}
}

func TestLoad_flagOverEnvironmentOverFile(t *testing.T) {
	t.Parallel()
	vault := t.TempDir()
	write(t, filepath.Join(vault, "settings.yaml"), "engine: {max_parallel_runs: 2, timezone: UTC}\nweb: {listen: 127.0.0.1:1111}\nproviders: {ollama: {num_ctx: 8192, base_url: http://127.0.0.1:9}}\n", 0o600)
	s := load(t, settings.Input{
		Vault:     vault,
		Environ:   []string{"VAULTFLOW_ENGINE_MAX_PARALLEL_RUNS=3", "VAULTFLOW_WEB_LISTEN=127.0.0.1:2222", "VAULTFLOW_INGESTION_OCR_LANGUAGES=eng, deu", "VAULTFLOW_WORKER=/opt/w", "VAULTFLOW_VAULT=/v"},
		Overrides: map[string]string{"web.listen": "127.0.0.1:3333", "providers.ollama.base_url": "http://127.0.0.1:10"},
	})
	got := []any{s.Engine.MaxParallelRuns, s.Engine.Timezone, s.Web.Listen, s.Ingestion.OCR.Languages, s.Ingestion.Worker, string(s.Providers["ollama"].BaseURL), s.Providers["ollama"].NumCtx}
	if diff := cmp.Diff([]any{3, "UTC", "127.0.0.1:3333", []string{"eng", "deu"}, "/opt/w", "http://127.0.0.1:10", 8192}, got); diff != "" {
		t.Error(diff)
	}
	origins := []string{s.Origin("engine.max_parallel_runs").String(), s.Origin("web.listen").String(), s.Origin("vault.import_dir").String()}
	if diff := cmp.Diff([]string{"environment VAULTFLOW_ENGINE_MAX_PARALLEL_RUNS", "flag", "default"}, origins); diff != "" {
		t.Error(diff)
	}
	if at := s.Origin("engine.timezone"); at.Line != 1 || at.Source != settings.SourceFile {
		t.Errorf("origin %+v", at)
	}
}

func TestLoad_faultsOutsideTheFile(t *testing.T) {
	t.Parallel()
	_, err := settings.Load(settings.Input{
		Environ: []string{"VAULTFLOW_ENGINE_MAX_PARALLEL_RUNS=0"}, Overrides: map[string]string{"web.lisen": "x", "ingestion.pdf.dpi": "lots"},
	})
	want := `environment VAULTFLOW_ENGINE_MAX_PARALLEL_RUNS: error[VS106]: engine.max_parallel_runs must be from 1 to 256, not 0
flag ingestion.pdf.dpi: error[VS105]: ingestion.pdf.dpi: "lots" is not a whole number
flag web.lisen: error[VS102]: web has no key "lisen" (did you mean "listen"?)`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	s := load(t, settings.Input{Environ: []string{"VAULTFLOW_WEB_LISTN=x"}})
	if d := s.Diagnostics[0]; d.Severity != diag.SeverityWarning || !strings.Contains(d.Suggestion, "VAULTFLOW_WEB_LISTEN") {
		t.Errorf("an unknown variable: %v", s.Diagnostics)
	}
}

func TestLoad_defaultModel(t *testing.T) {
	t.Parallel()
	cases := []struct{ file, model, note string }{
		{"models: {aliases: {mine: {provider: ollama, model: x}}}", "mine", "the only model you configured"},
		{"models: {default: offline, aliases: {mine: {provider: ollama, model: x}, two: {provider: ollama, model: y}}}", "offline", ""},
		{"models: {default: local}", "local", ""},
		{"models: {default: sonnet}", "sonnet", "there is no key for provider anthropic"},
	}
	for _, c := range cases {
		path := filepath.Join(t.TempDir(), "s.yaml")
		write(t, path, c.file, 0o600)
		s := load(t, settings.Input{File: path})
		text := fmt.Sprint(s.Diagnostics)
		if s.Models.Default != c.model || c.note == "" && len(s.Diagnostics) > 0 || !strings.Contains(text, c.note) {
			t.Errorf("%s: default %q, %s", c.file, s.Models.Default, text)
		}
		if _, _, ok := s.Alias(""); !ok {
			t.Errorf("%s: the default alias has no provider", c.file)
		}
	}
}

func TestKeys_whereTheyAreFound(t *testing.T) {
	t.Parallel()
	const line = "ANTHROPIC_API_KEY=%s\nVAULTFLOW_WEB_TOKEN=not-taken-from-here\n"
	base := t.TempDir()
	vault, conf, state := filepath.Join(base, "vault"), filepath.Join(base, "conf"), filepath.Join(base, "state")
	file := filepath.Join(conf, "settings.yaml")
	write(t, file, "models: {default: sonnet}\n", 0o600)
	write(t, filepath.Join(vault, ".env"), fmt.Sprintf(line, "from-vault"), 0o600)
	in := settings.Input{Vault: vault, File: file, StateDir: state}

	s := load(t, in)
	if string(s.Providers["anthropic"].Key) != "from-vault" || len(s.Diagnostics) != 1 || s.Diagnostics[0].Code != settings.CodeSecret {
		t.Errorf("in the vault: %v", s.Diagnostics)
	}
	write(t, filepath.Join(state, ".env"), fmt.Sprintf(line, "from-state"), 0o644)
	if s = load(t, in); string(s.Providers["anthropic"].Key) != "from-state" || len(s.Diagnostics) != 1 || !strings.Contains(s.Diagnostics[0].Suggestion, "chmod 600") {
		t.Errorf("in the state directory, readable by others: %v", s.Diagnostics)
	}
	if err := os.Chmod(filepath.Join(state, ".env"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(conf, ".env"), fmt.Sprintf(line, "from-conf"), 0o600)
	if s = load(t, in); string(s.Providers["anthropic"].Key) != "from-conf" || len(s.Diagnostics) != 0 || s.Web.Token != "" {
		t.Errorf("beside the settings file: %v", s.Diagnostics)
	}
	in.Environ = []string{"ANTHROPIC_API_KEY= from-environment "}
	if s = load(t, in); string(s.Providers["anthropic"].Key) != "from-environment" || s.Providers["anthropic"].KeyFrom != "environment variable ANTHROPIC_API_KEY" {
		t.Errorf("in the environment: %v", s.Providers["anthropic"].KeyFrom)
	}
	write(t, filepath.Join(conf, ".env"), "ANTHROPIC_API_KEY='secret-value\n", 0o600)
	if s = load(t, in); strings.Contains(fmt.Sprint(s.Diagnostics), "secret-value") || len(s.Diagnostics) != 1 {
		t.Errorf("a broken .env: %v", s.Diagnostics)
	}
}

func TestKeys_inTheSettingsWorkWithAWarning(t *testing.T) {
	t.Parallel()
	key := "sk-ant-" + strings.Repeat("a1", 20)
	path := filepath.Join(t.TempDir(), "settings.yaml")
	write(t, path, "models: {default: sonnet}\n# old: "+key+"\nproviders:\n  anthropic:\n    api_key: "+key+"\n  vllm:\n    api_key: short\n", 0o600)
	s := load(t, settings.Input{File: path})
	if string(s.Providers["anthropic"].Key) != key {
		t.Error("the key was not taken")
	}
	var lines []int
	for _, d := range s.Diagnostics {
		if d.Code == settings.CodeSecret {
			lines = append(lines, d.Line)
		}
	}
	if diff := cmp.Diff([]int{2, 5, 7}, lines); diff != "" {
		t.Errorf("%s\n%v", diff, s.Diagnostics)
	}
	if text := fmt.Sprint(s.Diagnostics); strings.Contains(text, key) {
		t.Errorf("a diagnostic repeats the key: %s", text)
	}
}

func TestKeys_goOnlyToTheVendor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.yaml")
	write(t, path, "providers: {anthropic: {base_url: 'https://proxy.example'}, openai: {kind: openai_chat, base_url: 'http://127.0.0.1:1/v1'}}\n", 0o600)
	s := load(t, settings.Input{File: path, Environ: []string{"ANTHROPIC_API_KEY=a", "OPENAI_API_KEY=b"}})
	for _, name := range []string{"anthropic", "openai"} {
		if p := s.Providers[name]; p.Key != "" {
			t.Errorf("%s: the vendor's key would go to %s", name, p.BaseURL)
		}
	}
}

func TestSecret_neverPrints(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.yaml")
	write(t, path, "web: {token: hush-hush-hush-hush}\nproviders: {vllm: {headers: {X-Key: hush-header}}}\n", 0o600)
	s := load(t, settings.Input{File: path, Environ: []string{"ANTHROPIC_API_KEY=hush-key"}})
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb+"\n", s.Web.Token)
		fmt.Fprintf(&out, verb+"\n", *s)
		fmt.Fprintf(&out, verb+"\n", s.Providers)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "token", s.Web.Token, "web", s.Web, "providers", s.Providers)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "token", s.Web.Token, "web", s.Web, "providers", s.Providers)
	for _, v := range []any{s, s.Web, s.Providers, s.Values()} {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(data)
		if data, err = yaml.Marshal(v); err != nil {
			t.Fatal(err)
		}
		out.Write(data)
	}
	if i := strings.Index(out.String(), "hush"); i >= 0 {
		t.Errorf("a secret is shown: …%s…", out.String()[max(0, i-60):i+20])
	}
	if !strings.Contains(out.String(), "***") {
		t.Error("nothing shows that there is a secret")
	}
}

func TestValues_nameEverySetting(t *testing.T) {
	t.Parallel()
	s := load(t, settings.Input{Environ: []string{"ANTHROPIC_API_KEY=x"}})
	got := map[string]string{}
	for _, v := range s.Values() {
		got[v.Path] = v.Value
	}
	for path, want := range map[string]string{
		"ingestion.pdf.dpi": "150", "vault.quiet_period": "2s", "ingestion.memory": "1.5GiB", "ingestion.ocr.languages": "[auto]",
		"models.aliases.sonnet.model": "claude-sonnet-5-5", "providers.anthropic.key": "***", "policy.budget.max_image_mb": "5",
	} {
		if got[path] != want {
			t.Errorf("%s is %q, want %q", path, got[path], want)
		}
	}
}

func TestSettings_roundTrip(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/settings/units.good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "s.yaml")
	write(t, path, string(file), 0o600)
	s := load(t, settings.Input{File: path})
	data, err := yaml.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(data), 0o600)
	again := load(t, settings.Input{File: path})
	want, err := s.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.MarshalJSON(); err != nil || string(got) != string(want) {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}

// TestPolicy_sameNames keeps the names that stand in two packages equal; settings may not import policy.
func TestPolicy_sameNames(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.yaml")
	var names []string
	for _, c := range policy.AllCapabilities() {
		names = append(names, string(c))
	}
	write(t, path, "models: {aliases: {x: {provider: ollama, model: y, capabilities: ["+strings.Join(names, ", ")+"]}}}\n", 0o600)
	if s := load(t, settings.Input{File: path}); len(s.Models.Aliases["x"].Capabilities.Exact) != len(names) {
		t.Error("capabilities differ")
	}
	var budget strings.Builder
	defaults := reflect.ValueOf(settings.Defaults().Policy.Budget)
	for i := range defaults.NumField() {
		fmt.Fprintf(&budget, "    %s: %v\n", defaults.Type().Field(i).Tag.Get("yaml"), defaults.Field(i))
	}
	write(t, path, "policy:\n  budget:\n"+budget.String(), 0o600)
	limits, whenExceeded := load(t, settings.Input{File: path}).BudgetOverlay()
	merged, err := policy.DefaultBudget().Merge(policy.Overlay{From: "settings", Limits: limits, WhenExceeded: whenExceeded})
	if err != nil {
		t.Fatal(err)
	}
	if len(merged.Origins) != defaults.NumField() {
		t.Errorf("%d keys arrive, want %d", len(merged.Origins), defaults.NumField())
	}
	merged.Origins = nil
	if diff := cmp.Diff(policy.DefaultBudget(), merged); diff != "" {
		t.Errorf("defaults differ (-policy +settings):\n%s", diff)
	}
	if limits, _ := settings.Defaults().BudgetOverlay(); len(limits) != 0 {
		t.Errorf("defaults count as set: %v", limits)
	}
}

func TestVariables_areUnambiguous(t *testing.T) {
	t.Parallel()
	seen := map[string]string{"VAULTFLOW_VAULT": "--vault", "VAULTFLOW_STATE_DIR": "--state-dir", "VAULTFLOW_SETTINGS": "--settings"}
	for _, v := range settings.Defaults().Values() {
		if strings.HasPrefix(v.Path, "models.aliases.") || strings.HasPrefix(v.Path, "providers.") {
			continue
		}
		name := settings.Variable(v.Path)
		if other, twice := seen[name]; twice {
			t.Errorf("%s stands for %s and %s", name, other, v.Path)
		}
		seen[name] = v.Path
		if v.Doc == "" {
			t.Errorf("%s is not described", v.Path)
		}
	}
}

func TestLoad_boundedAndStrict(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"bomb": "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nvault: {ignore: *b}\n", "self": "models: &m {aliases: *m}\n",
		"merge": "x: &x {dpi: 100}\ningestion: {pdf: {<<: *x}}\n", "nul": "vault: {import_dir: \"a\\0b\"}\n", "bytes": "\xff\xfe\x00",
	} {
		path := filepath.Join(dir, name)
		write(t, path, text, 0o600)
		if _, err := settings.Load(settings.Input{File: path}); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	write(t, filepath.Join(dir, "large"), strings.Repeat("#", 2<<20), 0o600)
	if _, err := settings.Load(settings.Input{File: filepath.Join(dir, "large")}); err == nil {
		t.Error("a file of 2 MiB was accepted")
	}
	if _, err := settings.Load(settings.Input{File: dir}); err == nil {
		t.Error("a folder was accepted")
	}
}

func TestUnits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "2d": 48 * time.Hour, "1w": 168 * time.Hour, "1w2d3h": 219 * time.Hour, "0s": 0, "1.5d": 36 * time.Hour, "250ms": 250 * time.Millisecond,
	} {
		d, err := settings.ParseDuration(text)
		if err != nil || d.Std() != want {
			t.Errorf("ParseDuration(%q) = %v, %v", text, d, err)
		}
		if back, err := settings.ParseDuration(d.String()); err != nil || back != d {
			t.Errorf("%v is written %q, which is read as %v, %v", want, d.String(), back, err)
		}
	}
	for _, text := range []string{"", "-", "5", "1.5", "d", "2 d", "1d2w", "abc", "9999999999w", "s"} {
		if d, err := settings.ParseDuration(text); err == nil {
			t.Errorf("ParseDuration(%q) = %v", text, d)
		}
	}
	for text, want := range map[string]settings.Bytes{"512MB": 512e6, "1.5GiB": 3 << 29, "1 KiB": 1024, "7b": 7, "0": 0} {
		b, err := settings.ParseBytes(text)
		if err != nil || b != want {
			t.Errorf("ParseBytes(%q) = %d, %v", text, b, err)
		}
		if back, err := settings.ParseBytes(b.String()); err != nil || back != b {
			t.Errorf("%d is written %q, which is read as %d, %v", want, b.String(), back, err)
		}
	}
	for _, text := range []string{"", "12", "-1GB", "GB", "many", "9e30GB", "nanMB"} {
		if b, err := settings.ParseBytes(text); err == nil {
			t.Errorf("ParseBytes(%q) = %d", text, b)
		}
	}
}

func TestStateDir(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	vault := filepath.Join(base, "My Notes!")
	link := filepath.Join(base, "link")
	write(t, filepath.Join(vault, "a.md"), "", 0o600)
	if err := os.Symlink(vault, link); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	got, err := settings.StateDir(vault, "", []string{"HOME=/home/x", "XDG_STATE_HOME=" + base + "/state"})
	if err != nil || !strings.HasPrefix(got, base+"/state/vaultflow/my-notes-") {
		t.Errorf("%s, %v", got, err)
	}
	if again, err := settings.StateDir(link, "", []string{"XDG_STATE_HOME=" + base + "/state"}); err != nil || again != got {
		t.Errorf("through a link: %s, %v", again, err)
	}
	if got, err := settings.StateDir(vault, "", []string{"HOME=/home/x", "XDG_STATE_HOME=relative"}); err != nil || !strings.HasPrefix(got, "/home/x/.local/state/vaultflow/") {
		t.Errorf("%s, %v", got, err)
	}
	for _, inside := range []string{vault, filepath.Join(vault, ".state"), filepath.Join(link, "x", "y")} {
		if got, err := settings.StateDir(vault, inside, nil); err == nil {
			t.Errorf("inside the vault: %s", got)
		}
	}
	if got, err := settings.StateDir(vault, filepath.Join(base, "mine"), nil); err != nil || got != filepath.Join(base, "mine") {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := settings.StateDir(vault, "", nil); err == nil {
		t.Error("neither HOME nor XDG_STATE_HOME")
	}
	if settings.VaultID(vault) == settings.VaultID(filepath.Join(base, "My Notes?")) {
		t.Error("two vaults have one id")
	}
}

func ExampleLoad() {
	s, err := settings.Load(settings.Input{Overrides: map[string]string{"ingestion.ocr.languages": "eng,nor"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Ingestion.OCR.Languages, s.Models.Default, s.Vault.QuietPeriod)
	// Output: [eng nor] offline 2s
}

func TestWeb_listenAndProxy(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{listen: 'unix:/run/v.sock'}": "",
		"{listen: 'unix:/run/v.sock', proxy: {trust: [unix], user_header: Remote-User}}": "",
		"{listen: 'unix:v.sock'}":                                             "is not an absolute path",
		"{listen: 'unix:/a/../b'}":                                            "is not an absolute path",
		"{listen: 'unix:/" + strings.Repeat("x", 100) + "'}":                  "more than 100 bytes",
		"{proxy: {trust: [unix]}}":                                            "works only if web.listen is a socket",
		"{proxy: {trust: [10.0.0.0/24, '2001:db8::1'], user_header: X-User}}": "",
		"{proxy: {trust: [everywhere]}}":                                      "is not an address or network",
		"{proxy: {trust: [0.0.0.0/0]}}":                                       "means everybody",
		"{proxy: {user_header: Remote-User}}":                                 "no proxy is trusted",
		"{proxy: {trust: [10.0.0.1], user_header: Cookie}}":                   "is not a usable header name",
		"{proxy: {trust: [10.0.0.1], user_header: 'a b'}}":                    "is not a usable header name",
		"{proxy: {trust: [127.0.0.1], user_header: Remote-User}}":             "warning: every account on this machine",
		"{listen: '0.0.0.0:8321'}":                                            "warning: tokens travel unencrypted",
	} {
		path := filepath.Join(t.TempDir(), "settings.yaml")
		write(t, path, "web: "+text+"\n", 0o600)
		s, err := settings.Load(settings.Input{File: path})
		said := fmt.Sprint(err)
		if warning, ok := strings.CutPrefix(want, "warning: "); ok && err == nil {
			want, said = warning, fmt.Sprint(s.Diagnostics)
		}
		if want == "" && err != nil || !strings.Contains(said, want) {
			t.Errorf("%s: %s; want %q", text, said, want)
		}
	}
}

// Pages go to a vision model only within a limit of cost, and to a model that was named.
func TestLoad_visionNeedsABudgetAndAModel(t *testing.T) {
	t.Parallel()
	const model = "models: {default: eyes, aliases: {eyes: {provider: anthropic, model: x}}}\n"
	for text, want := range map[string]string{
		"ingestion: {vision: doubtful, max_cost_usd_per_import: 0.5}":                      "add ingestion.ocr.model with a model that sees",
		model + "ingestion: {vision: all}":                                                 "add ingestion.max_cost_usd_per_import: 0.50",
		model + "ingestion: {vision: doubtful, max_cost_usd_per_import: 0.5}":              "",
		"ingestion: {vision: off}":                                                         "",
		model + "ingestion: {vision: maybe, max_cost_usd_per_import: 1}":                   "off, doubtful",
		model + "ingestion: {vision: all, max_cost_usd_per_import: -1}":                    "0",
		model + "ingestion: {vision: all, ocr: {model: eyes}, max_cost_usd_per_import: 3}": "",
	} {
		file := filepath.Join(t.TempDir(), "settings.yaml")
		write(t, file, text+"\n", 0o600)
		_, err := settings.Load(settings.Input{User: file})
		var said string
		if list, ok := errors.AsType[*settings.Error](err); ok {
			for _, d := range list.Diagnostics {
				said += d.Message + d.Suggestion
			}
		}
		if (err != nil) != (want != "") || !strings.Contains(said, want) {
			t.Errorf("%s\n%v, %s", text, err, said)
		}
	}
}
