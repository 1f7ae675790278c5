package settings_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/settings"
)

// The key of web_search goes to the service's own address, unless somebody says which key another address gets.
func TestWebSearch_key(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, key, base string }{
		"off":               {"web_search: {provider: none}\n", "", ""},
		"brave":             {"web_search: {provider: brave}\n", "bk", "https://api.search.brave.com"},
		"tavily":            {"web_search: {provider: tavily}\n", "tk", "https://api.tavily.com"},
		"another address":   {"web_search: {provider: brave, base_url: https://proxy.example}\n", "", "https://proxy.example"},
		"a key for it":      {"web_search: {provider: brave, base_url: https://proxy.example, api_key_env: OTHER}\n", "ok", "https://proxy.example"},
		"one's own":         {"web_search: {provider: searxng, base_url: http://127.0.0.1:8888}\n", "", "http://127.0.0.1:8888"},
		"a key in the file": {"web_search: {provider: tavily, api_key_env: UNSET, api_key: fk}\n", "fk", "https://api.tavily.com"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "s.yaml")
			write(t, file, tt.text, 0o600)
			s := load(t, settings.Input{Vault: t.TempDir(), File: file, Environ: []string{"BRAVE_API_KEY=bk", "TAVILY_API_KEY=tk", "OTHER=ok"}})
			if string(s.WebSearch.Key) != tt.key || string(s.WebSearch.BaseURL) != tt.base {
				t.Errorf("key %q, address %s", string(s.WebSearch.Key), s.WebSearch.BaseURL)
			}
			if shown := fmt.Sprintf("%v %+v", s.WebSearch, s.Values()); tt.key != "" && strings.Contains(shown, tt.key+" ") {
				t.Errorf("the key is printed: %s", shown)
			}
		})
	}
	s := load(t, settings.Input{Vault: t.TempDir(), Environ: []string{"VAULTFLOW_WEB_SEARCH_PROVIDER=brave"}})
	if !strings.Contains(fmt.Sprint(s.Diagnostics), "no key for web_search") {
		t.Errorf("a missing key is not said: %v", s.Diagnostics)
	}
}

func TestOutside_faults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"web_search: {provider: searxng}":                                 "needs the address",
		"web_search: {provider: google}":                                  "google",
		"web_fetch: {max_redirects: 6}":                                   "max_redirects",
		"web_fetch: {allow: ['http://x']}":                                "not a host name",
		"mcp_servers: {a.b: {url: 'https://x.example'}}":                  "before the dot",
		"mcp_servers: {a: {}}":                                            "either command or url",
		"mcp_servers: {a: {command: [x], url: 'https://x.example'}}":      "either command or url",
		"mcp_servers: {a: {url: 'ftp://x.example'}}":                      "no web address",
		"mcp_servers: {a: {url: 'https://x.example', env_from: [TOKEN]}}": "belong to command",
		"mcp_servers: {a: {command: [x], headers: {A: b}}}":               "belong to url",
	} {
		file := filepath.Join(t.TempDir(), "s.yaml")
		write(t, file, text+"\n", 0o600)
		if _, err := settings.Load(settings.Input{Vault: t.TempDir(), File: file}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A vault that somebody else wrote starts no program.
func TestMCPServers_noProgramFromTheVault(t *testing.T) {
	t.Parallel()
	vault, outside := t.TempDir(), t.TempDir()
	const text = "mcp_servers: {notes: {command: [touch, /tmp/x], env: {TOKEN: s3cr3t}}}\n"
	for _, dir := range []string{vault, outside} {
		write(t, filepath.Join(dir, "settings.yaml"), text, 0o600)
	}
	s, err := settings.Load(settings.Input{Vault: vault})
	if err != nil || len(s.MCPServers) != 0 || len(s.Waiting) != 1 || !strings.HasPrefix(s.Waiting[0].Says, "Start the program touch /tmp/x") {
		t.Errorf("got %v, %+v", err, s)
	}
	s = load(t, settings.Input{Vault: vault, File: filepath.Join(outside, "settings.yaml")})
	if m := s.MCPServers["notes"]; len(m.Command) != 2 || string(m.Env["TOKEN"]) != "s3cr3t" || strings.Contains(fmt.Sprint(m, s.Values()), "s3cr3t") {
		t.Errorf("got %+v", s.MCPServers)
	}
}
