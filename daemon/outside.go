package daemon

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/daemon/artifacts"
	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/media/remote"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/tools"
	"github.com/vaultflow/vaultflow/tools/mcp"
	"github.com/vaultflow/vaultflow/tools/toolbox"
	"github.com/vaultflow/vaultflow/tools/websearch"
)

// outside knows what the settings allow beyond the vault: fetches, search, MCP servers.
type outside struct {
	settings *settings.Settings
	trust    *consent.Trust
	log      *slog.Logger
}

// namedOutside names the tools that lead out of the vault, as a run would offer them, and reaches nothing: for previews.
func (a *Workspace) namedOutside() *toolbox.Outside {
	return &toolbox.Outside{
		Fetcher: func(func(string) error) tools.Fetcher { return nil }, Search: a.outside.searcher(), Results: a.Settings.WebSearch.MaxResults,
		Artifacts: artifacts.None{}, Servers: mcp.New(a.outside.mcpServers(), mcp.Options{Idle: true}),
	}
}

// servers returns the configured MCP servers, which start when they are first used. An untrusted vault has none.
func (a *Workspace) servers(picture func(context.Context, []byte) (content.Image, error)) *mcp.Hub {
	if a.Trust.Untrusted() {
		return mcp.New(nil, mcp.Options{})
	}
	return mcp.New(a.outside.mcpServers(), mcp.Options{Version: a.options.Version, Picture: picture, Log: a.Log, Pins: mcp.OpenPins(a.StateDir)})
}

// reach returns what tools can reach outside the vault. In an untrusted vault they can only read what was fetched before.
func (a *Workspace) reach(kept *artifacts.Artifacts, servers *mcp.Hub) *toolbox.Outside {
	if a.Trust.Untrusted() {
		return &toolbox.Outside{Artifacts: kept}
	}
	return &toolbox.Outside{
		Fetcher: func(may func(string) error) tools.Fetcher {
			p := a.outside.pages(may)
			if a.options.Web.Pages != nil {
				return a.options.Web.Pages(p)
			}
			return remote.New(p)
		},
		Search: a.outside.searcher(), Results: a.Settings.WebSearch.MaxResults, Artifacts: kept, Servers: servers,
	}
}

// pages returns what web_fetch may fetch. may refuses what the workflow does not allow.
func (o *outside) pages(may func(string) error) remote.Policy {
	in := o.settings.WebFetch
	return remote.Policy{
		Enabled: true, Allow: in.Allow, Deny: in.Deny, MaxBytes: int64(in.MaxSize), Timeout: in.Timeout.Std(), MaxRedirects: in.MaxRedirects,
		SizeSetting: "web_fetch.max_size", Setting: "web_fetch", May: may,
	}
}

// searcher asks the configured service; nil when there is none.
func (o *outside) searcher() tools.SearchService {
	in := o.settings.WebSearch
	if !in.Enabled() {
		return nil
	}
	service, err := websearch.New(websearch.Config{Provider: in.Provider, BaseURL: string(in.BaseURL), Key: string(in.Key), Timeout: in.Timeout.Std()})
	if err != nil { // the settings know the same services
		o.log.Error("no search", "err", err)
		return nil
	}
	return service
}

// mcpServers are the configured servers, with the environment that their programs get.
func (o *outside) mcpServers() []mcp.Server {
	var list []mcp.Server
	for name, in := range o.settings.MCPServers {
		s := mcp.Server{Name: name, Command: in.Command, URL: string(in.URL), Allow: in.Allow, Deny: in.Deny, Timeout: in.Timeout.Std()}
		if in.URL != "" {
			s.Headers = map[string]string{}
			for header, value := range in.Headers {
				s.Headers[header] = string(value)
			}
		} else {
			s.Env = programEnvironment(in, os.Environ())
		}
		list = append(list, s)
	}
	return list
}

// common are the variables of ours that every program gets: what programs cannot do without, and no secrets.
var common = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "XDG_RUNTIME_DIR", "SystemRoot", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "PATHEXT"}

// programEnvironment is the whole environment of a server's program.
func programEnvironment(in settings.MCPServer, ours []string) []string {
	env := []string{}
	for _, line := range ours {
		if name, _, _ := strings.Cut(line, "="); slices.Contains(common, name) || slices.Contains(in.EnvFrom, name) {
			env = append(env, line)
		}
	}
	for name, value := range in.Env {
		env = append(env, name+"="+string(value))
	}
	return env
}

// foreignTool reports whether workflows may name a tool that is not built in, or why they may not.
func (o *outside) foreignTool(name string) (found bool, why string) {
	if name == tools.WebSearch && !o.settings.WebSearch.Enabled() && !o.trust.AsksFor("web_search") {
		return false, "set web_search.provider in the settings"
	}
	server, tool, dotted := strings.Cut(name, ".")
	in, known := o.settings.MCPServers[server]
	switch {
	case !dotted:
		return false, ""
	case !known && o.trust.AsksFor("mcp_servers."+server):
		return true, "" // a run is refused until the server is allowed
	case !known:
		return false, "the servers of mcp_servers are: " + cmp.Or(strings.Join(o.serverNames(), ", "), "none")
	case slices.Contains(in.Deny, tool) || len(in.Allow) > 0 && !slices.Contains(in.Allow, tool):
		return false, "mcp_servers." + server + " does not allow it"
	}
	return true, ""
}

func (o *outside) serverNames() []string {
	var names []string
	for name := range o.settings.MCPServers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// pictures is the policy in package remote's words.
func (o *outside) pictures() remote.Policy {
	in := o.settings.Policy.RemoteImages
	return remote.Policy{
		Enabled: in.Enabled, Allow: in.Allow, Deny: in.Deny, MaxBytes: int64(in.MaxMB * (1 << 20)), Timeout: in.Timeout.Std(),
		MaxRedirects: in.MaxRedirects,
	}
}

// documents is the policy of pictures of the web with the bounds of documents. Naming an address on the command line is
// consent to fetch it; hosts that the policy refuses, and private addresses, stay refused.
func (o *outside) documents() remote.Policy {
	p, in := o.pictures(), o.settings.Ingestion.Remote
	p.Enabled, p.MaxBytes, p.Timeout, p.SizeSetting = true, int64(in.MaxSize), in.Timeout.Std(), "ingestion.remote.max_size"
	return p
}
