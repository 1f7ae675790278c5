package settings_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/settings"
)

// canaries are secrets at every place of a settings file that may hold one. Each contains hush.
const canaries = `models: {default: m, aliases: {m: {provider: lab, model: x}}}
providers:
  lab: {kind: vllm, base_url: "http://10.0.0.1/hush0123456789abcdefgh/v1", api_key: hush-key-of-lab, headers: {X-Key: hush-header}, proxy: "http://me:hush-proxy@proxy.example:3128"}
  bedrock: {region: eu-north-1, access_key_id: hush-id, secret_access_key: hush-secret, session_token: hush-session}
web_search: {provider: searxng, base_url: "https://search.example/hush0123456789abcdefgh", api_key: hush-search}
ingestion: {passwords: [hush-password], ocr: {mistral: {endpoint: "https://ocr.example/v1?key=hush-query"}}}
web: {token: hush-hush-hush-hush}
mcp_servers:
  address: {url: "https://mcp.example.org/s/hush-0123456789abcdefgh/mcp?token=hush-query#hush", headers: {Authorization: "Bearer hush-bearer"}}
  program: {command: [notes, --token, hush-argument, --api-key=hush-argument, "https://me:hush-user@x.example/?t=hush", HUSH_TOKEN=hush], env: {TOKEN: hush-env}}
`

// No place that prints settings prints a secret: not the tree, the list of values, what waits, diagnostics, faults, logs.
func TestShown_neverSecrets(t *testing.T) {
	t.Parallel()
	vault, outside := t.TempDir(), t.TempDir()
	write(t, filepath.Join(vault, "settings.yaml"), canaries, 0o600)
	write(t, filepath.Join(vault, ".env"), "ANTHROPIC_API_KEY=hush-dotenv\nAWS_BEARER_TOKEN_BEDROCK=hush-dotenv\n", 0o600)
	write(t, filepath.Join(outside, "settings.yaml"), canaries, 0o600)
	var out bytes.Buffer
	for _, in := range []settings.Input{
		{Vault: vault},
		{Vault: vault, Grants: everything},
		{Vault: t.TempDir(), User: filepath.Join(outside, "settings.yaml")},
		{Vault: vault, File: filepath.Join(outside, "settings.yaml"), User: filepath.Join(outside, "settings.yaml")},
	} {
		s, err := settings.Load(in)
		if err != nil {
			t.Fatal(err)
		}
		described, err := s.Describe()
		if err != nil {
			t.Fatal(err)
		}
		out.Write(described)
		for _, v := range []any{s, s.Values(), s.Waiting, s.Granted, s.Diagnostics, s.Parts(), s.Providers, s.MCPServers, s.WebSearch} {
			fmt.Fprintf(&out, "%v %+v %#v %s\n", v, v, v, v)
			slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
			slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
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
	}
	// The same with a fault at each value, for the texts of errors.
	for _, old := range []string{"kind: vllm", "provider: searxng", "eu-north-1", "proxy.example:3128", "https://mcp.example.org", "http://10.0.0.1", "https://search.example", "https://ocr.example", "[notes,", "default: m"} {
		if !strings.Contains(canaries, old) {
			t.Fatalf("%s is not in the file", old)
		}
		for _, text := range []string{strings.Replace(canaries, old, "bad bad", 1), strings.Replace(canaries, old, strings.Replace(old, "http", "ftp", 1)+"\x01", 1)} {
			write(t, filepath.Join(outside, "settings.yaml"), text, 0o600)
			_, err := settings.Load(settings.Input{Vault: vault, File: filepath.Join(outside, "settings.yaml")})
			fmt.Fprintf(&out, "%v\n", err)
			if faults := (*settings.Error)(nil); errors.As(err, &faults) {
				fmt.Fprintf(&out, "%+v\n", faults.Diagnostics)
			}
		}
	}
	for text := out.String(); ; {
		i := strings.Index(text, "hush")
		if i < 0 {
			break
		}
		t.Fatalf("a secret is shown: …%s…", text[max(0, i-200):min(len(text), i+60)])
	}
	for _, want := range []string{"http://10.0.0.1/***/v1", "https://mcp.example.org/s/***/mcp?token=***#***", "notes --token *** --api-key=***"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not shown", want)
		}
	}
}

func TestDescribe_saysWhereFrom(t *testing.T) {
	t.Parallel()
	s := two(t, "engine: {timezone: UTC}\nproviders: {lab: {kind: vllm, base_url: 'http://127.0.0.1:1'}}", "logging:\n  level: warn\nvault: {ignore: [a, b]}",
		settings.Input{Environ: []string{"VAULTFLOW_WEB_LISTEN=127.0.0.1:8888"}, Overrides: map[string]string{"ingestion.pdf.dpi": "99"}})
	data, err := s.Describe()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"timezone: UTC # your settings:1\n", "level: warn # settings.yaml:2\n", "ignore: [a, b] # settings.yaml:3\n", "listen: 127.0.0.1:8888 # environment VAULTFLOW_WEB_LISTEN\n",
		"dpi: 99 # flag\n", "base_url: http://127.0.0.1:1 # your settings:2\n", "import_dir: Import\n",
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%q is missing in\n%s", want, data)
		}
	}
	var got []string
	for _, p := range s.Parts() {
		got = append(got, string(p.Source)+": "+strings.Join(p.Keys, " "))
	}
	if text := strings.Join(got, "\n"); text != "user: providers.lab engine.timezone\nsettings: vault.ignore logging.level\nenvironment: web.listen\nflag: ingestion.pdf.dpi" {
		t.Error(text)
	}
}
