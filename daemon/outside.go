package daemon

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/engine/artifact"
	"github.com/vaultflow/vaultflow/media/remote"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/tools"
	"github.com/vaultflow/vaultflow/tools/mcp"
	"github.com/vaultflow/vaultflow/tools/toolbox"
	"github.com/vaultflow/vaultflow/tools/websearch"
)

// outside knows what the settings allow beyond the vault: fetches, search, MCP servers.
type outside struct {
	settings *settings.Settings
	trust    *Trust
	log      *slog.Logger
}

// namedOutside names the tools that lead out of the vault, as a run would offer them, and reaches nothing: for previews.
func (a *Workspace) namedOutside() *toolbox.Outside {
	return &toolbox.Outside{
		Fetcher: func(func(string) error) tools.Fetcher { return nil }, Search: a.outside.searcher(), Results: a.Settings.WebSearch.MaxResults,
		Artifacts: noArtifacts{}, Servers: mcp.New(a.outside.mcpServers(), mcp.Options{Idle: true}),
	}
}

// reach is what tools reach beyond the vault, as far as the settings set it up. It starts w.servers.
func (w *Process) reach(d *step.Deps) *toolbox.Outside {
	if w.Trust.Untrusted() {
		w.servers = mcp.New(nil, mcp.Options{})
		return &toolbox.Outside{Artifacts: keptArtifacts{w}} // what was fetched before may be read
	}
	w.servers = mcp.New(w.outside.mcpServers(), mcp.Options{Version: w.options.Version, Picture: d.Foreign().Keep, Log: w.Log, Pins: mcp.OpenPins(w.StateDir)})
	return &toolbox.Outside{
		Fetcher: func(may func(string) error) tools.Fetcher {
			p := w.outside.pages()
			p.May = may
			if w.options.Web.Pages != nil {
				return w.options.Web.Pages(p)
			}
			return remote.New(p)
		},
		Search: w.outside.searcher(), Results: w.Settings.WebSearch.MaxResults, Artifacts: keptArtifacts{w}, Servers: w.servers,
	}
}

// pages is what web_fetch may ask, whatever a workflow says.
func (o *outside) pages() remote.Policy {
	in := o.settings.WebFetch
	return remote.Policy{
		Enabled: true, Allow: in.Allow, Deny: in.Deny, MaxBytes: int64(in.MaxSize), Timeout: in.Timeout.Std(), MaxRedirects: in.MaxRedirects,
		SizeSetting: "web_fetch.max_size", Setting: "web_fetch",
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

// foreignTool says whether a tool that is not one of the language can be named, or why one of the language cannot be.
func (o *outside) foreignTool(name string) (found bool, why string) {
	if name == tools.WebSearch && !o.settings.WebSearch.Enabled() && !o.trust.asksFor("web_search") {
		return false, "set web_search.provider in the settings"
	}
	server, tool, dotted := strings.Cut(name, ".")
	in, known := o.settings.MCPServers[server]
	switch {
	case !dotted:
		return false, ""
	case !known && o.trust.asksFor("mcp_servers."+server):
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

// keptArtifacts are the artifacts of a state directory. It implements toolbox.Artifacts.
type keptArtifacts struct{ w *Process }

// Keep implements toolbox.Artifacts.
func (k keptArtifacts) Keep(ctx context.Context, r io.Reader, from artifact.Source) (string, error) {
	store, err := k.w.artifacts()
	if err != nil {
		return "", err
	}
	kept, err := store.Put(ctx, r, from)
	return kept.Ref, err
}

// Of implements toolbox.Artifacts.
func (k keptArtifacts) Of(run string) []tools.Artifact {
	store, err := k.w.artifacts()
	if err != nil {
		k.w.Log.Warn("artifacts cannot be listed", "err", err)
		return nil
	}
	var list []tools.Artifact
	for _, a := range store.Of(run) {
		list = append(list, tools.Artifact{Ref: a.Ref, Line: a.Line()})
	}
	return list
}

// Open implements toolbox.Artifacts.
func (k keptArtifacts) Open(ref string) (io.ReadSeekCloser, error) {
	store, err := k.w.artifacts()
	if err != nil {
		return nil, err
	}
	return store.Open(ref)
}

// noArtifacts keeps nothing: a preview.
type noArtifacts struct{}

// Keep implements toolbox.Artifacts.
func (noArtifacts) Keep(context.Context, io.Reader, artifact.Source) (string, error) {
	return "", errPreview
}

// Of implements toolbox.Artifacts.
func (noArtifacts) Of(string) []tools.Artifact { return nil }

// Open implements toolbox.Artifacts.
func (noArtifacts) Open(string) (io.ReadSeekCloser, error) { return nil, errPreview }

// sweepEvery is how often serve removes artifacts that are beyond their limits. They are days old then.
const sweepEvery = time.Hour

// sweepArtifacts removes what is beyond the limits, at once and whenever a tick comes. Where nothing was ever fetched there
// is nothing to do.
func (w *Process) sweepArtifacts(ctx context.Context, ticks <-chan time.Time) error {
	for {
		if _, err := os.Stat(filepath.Join(w.StateDir, "artifacts")); err == nil {
			store, err := w.artifacts()
			if err == nil {
				var removed int
				if removed, err = store.Sweep(); removed > 0 {
					w.Log.Info("artifacts removed", "count", removed)
				}
			}
			if err != nil {
				w.Log.Warn("artifacts not swept", "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks:
		}
	}
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
