package settings

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// WebFetch bounds what the tool web_fetch may request, in addition to a workflow's permissions.network.
type WebFetch struct {
	Allow        []string `yaml:"allow" doc:"Hosts, such as *.example.org. Empty: all that deny does not list. Private addresses are never contacted; a workflow names its hosts in permissions.network."`
	Deny         []string `yaml:"deny" doc:"Hosts that are never contacted."`
	MaxSize      Bytes    `yaml:"max_size" min:"1KiB" max:"256MiB" doc:"Larger responses are refused."`
	Timeout      Duration `yaml:"timeout" min:"1s" max:"10m" doc:"Time for one request, including redirects."`
	MaxRedirects int      `yaml:"max_redirects" min:"0" max:"5" doc:"Most redirects to follow. Each is checked like the first address."`
}

// WebSearch is the service behind the tool web_search.
type WebSearch struct {
	Provider   string   `yaml:"provider" oneof:"none searxng brave tavily" doc:"The search service. none: there is no tool web_search."`
	BaseURL    Address  `yaml:"base_url" doc:"Address of your SearXNG, which must offer the format json. Empty: the public address of Brave or Tavily."`
	APIKeyEnv  string   `yaml:"api_key_env" doc:"Environment variable (or line of .env) that holds the key. Empty: BRAVE_API_KEY or TAVILY_API_KEY, at the service's own address."`
	APIKey     Secret   `yaml:"api_key" doc:"The key itself, with a warning. Better: keep keys out of the vault and use api_key_env."`
	MaxResults int      `yaml:"max_results" min:"1" max:"20" doc:"Most results of one search."`
	Timeout    Duration `yaml:"timeout" min:"1s" max:"10m" doc:"Time for one search."`

	Key Secret `yaml:"-"` // what was found
}

// MCPServer is a server of the Model Context Protocol whose tools workflows may name as server.tool. It is a program on this
// machine or an address.
type MCPServer struct {
	Command Arguments         `yaml:"command" doc:"Program and arguments. It speaks MCP over standard input and output."`
	URL     Address           `yaml:"url" doc:"Instead of command: address of a server that speaks streamable HTTP."`
	Env     map[string]Secret `yaml:"env" doc:"Further environment variables for the program. From vaultflow's own it gets only PATH, HOME, LANG and the like."`
	EnvFrom []string          `yaml:"env_from" doc:"Names of variables in vaultflow's environment to pass on, for keys."`
	Headers map[string]Secret `yaml:"headers" doc:"HTTP headers for url."`
	Allow   []string          `yaml:"allow" doc:"Tools that workflows may use. Empty: all that deny does not list."`
	Deny    []string          `yaml:"deny" doc:"Tools that no workflow may use."`
	Timeout Duration          `yaml:"timeout" min:"0s" max:"1h" doc:"Time to start it, and for one call. 0s: 1m."`
}

// searchKinds holds the services of web_search with their addresses and usual key variables.
var searchKinds = map[string]kind{
	"searxng": {local: true},
	"brave":   {baseURL: "https://api.search.brave.com", keyEnv: "BRAVE_API_KEY"},
	"tavily":  {baseURL: "https://api.tavily.com", keyEnv: "TAVILY_API_KEY"},
}

// complete fills in the service's address and key variable. As with providers, they belong together.
func (w WebSearch) complete() WebSearch {
	k := searchKinds[w.Provider]
	if w.BaseURL == "" {
		w.BaseURL = k.baseURL
	}
	if w.APIKeyEnv == "" && w.BaseURL == k.baseURL {
		w.APIKeyEnv = k.keyEnv
	}
	return w
}

// Enabled reports whether a service is set.
func (w WebSearch) Enabled() bool { return w.Provider != "" && w.Provider != "none" }

// findSearchKey looks for the key of web_search in the places where those of providers are.
func findSearchKey(s *Settings, k *keyring) {
	w := &s.WebSearch
	if !w.Enabled() {
		return
	}
	w.Key, _ = findKey(s, "web_search", Provider{APIKeyEnv: w.APIKeyEnv, APIKey: w.APIKey}, k)
	if w.Key == "" && !searchKinds[w.Provider].local {
		suggestion := "name a variable with web_search.api_key_env"
		if w.APIKeyEnv != "" {
			suggestion = "set " + w.APIKeyEnv
		}
		k.report(placeOf(s, "web_search.provider"), diag.SeverityWarning, CodeReference, suggestion, "there is no key for web_search with %s", w.Provider)
	}
}

var serverForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,29}$`)

// validateOutside checks what leads out of this machine for tools.
func validateOutside(s *Settings, r *reporter) {
	if w := s.WebSearch; w.Enabled() && !webAddress(string(w.BaseURL)) {
		fault(s, r, "web_search.base_url", CodeValue, "write it as https://search.example.org", "web_search.base_url: %s needs the address of a service", w.Provider)
	}
	for _, name := range sortedKeys(s.MCPServers) {
		m, key := s.MCPServers[name], "mcp_servers."+name
		switch {
		case !serverForm.MatchString(name):
			fault(s, r, key, CodeValue, "", "%s: a server's name has letters, digits, - and _, at most 30: it stands before the dot in server.tool", key)
		case (len(m.Command) == 0) == (m.URL == ""):
			fault(s, r, key, CodeValue, "", "%s needs either command or url", key)
		case m.URL != "" && !webAddress(string(m.URL)):
			fault(s, r, key+".url", CodeValue, "write it as https://mcp.example.org/mcp", "%s.url is no web address", key)
		case m.URL != "" && len(m.Env)+len(m.EnvFrom) > 0:
			fault(s, r, key, CodeConflict, "use headers", "%s: env and env_from belong to command", key)
		case m.URL == "" && len(m.Headers) > 0:
			fault(s, r, key, CodeConflict, "use env", "%s: headers belong to url", key)
		}
	}
}

func webAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && !strings.Contains(address, " ")
}
