package toolbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/vaultflow/vaultflow/engine/artifact"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/media"
	"github.com/vaultflow/vaultflow/tools"
)

// Outside is what tools reach beyond the vault. A nil field disables its tools. It is safe for concurrent use when its parts
// are.
type Outside struct {
	Fetcher   func(may func(host string) error) tools.Fetcher // obeys the settings' rules, and one more for hosts
	Search    tools.SearchService
	Results   int // at most, of one search
	Artifacts Artifacts
	Servers   Servers
}

// Artifacts keep fetched content while a run may need it, and some days longer.
type Artifacts interface {
	Keep(ctx context.Context, r io.Reader, from artifact.Source) (ref string, err error)
	// Of lists the artifacts of a run, oldest first.
	Of(run string) []tools.Artifact
	Open(ref string) (io.ReadSeekCloser, error)
}

// Servers are the configured servers of the Model Context Protocol.
type Servers interface {
	// Tools returns the tools with these names (server.tool), in order, and starts their servers if needed. Calls of an
	// unavailable tool fail with the reason. Names that the settings do not permit are left out.
	Tools(names []string) []tools.Tool
}

// artifactScope is the scope of a workflow's artifacts: each has its own space.
func artifactScope(workflow string) string { return "workflow:" + workflow }

// outward is the part of a turn that leaves the vault.
type outward struct{ t *turn }

// tools returns the configured tools. Without permissions.network web_fetch could contact no host, and is left out.
func (w outward) tools() []tools.Tool {
	o := w.t.box.Outside
	if o == nil {
		return nil
	}
	var list []tools.Tool
	if o.Fetcher != nil && o.Artifacts != nil && len(w.t.s.Plan.Meta.Permissions.Network) > 0 {
		fetcher := &tools.WebFetcher{Fetcher: o.Fetcher(w.mayReach), Keeper: keeper(w), Media: w.t.media}
		list = append(list, fetcher.Tool())
	}
	if o.Artifacts != nil {
		reader := &tools.ArtifactReader{Open: o.Artifacts.Open}
		if w.t.in.Run != "" {
			reader.List = func() []tools.Artifact { return o.Artifacts.Of(w.t.in.Run) }
			reader.Open = w.openArtifact
		}
		list = append(list, reader.Tool())
	}
	if o.Search != nil {
		list = append(list, (&tools.WebSearcher{Service: o.Search, MaxResults: o.Results}).Tool())
	}
	return list
}

// openArtifact opens an artifact for the current call.
func (w outward) openArtifact(ref string) (io.ReadSeekCloser, error) {
	f, err := w.t.box.Outside.Artifacts.Open(ref)
	if err == nil {
		engine.Report(w.t.ctx, engine.Event{Kind: engine.EventArtifact, Step: w.t.in.Step, Batch: w.t.in.Batch, Name: ref, Message: "read"})
	}
	return f, err
}

// servers returns the tools of MCP servers that @tools names. `@tools all` includes none of them.
func (w outward) servers() []tools.Tool {
	o, s := w.t.box.Outside, w.t.s
	if o == nil || o.Servers == nil || s.Step.Tools == nil {
		return nil
	}
	var names []string
	for _, use := range s.Step.Tools.Uses {
		if strings.Contains(use.Name, ".") && s.Plan.Meta.Permissions.MayUse(use.Name) {
			names = append(names, use.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return o.Servers.Tools(names)
}

// mayReach returns why the workflow may not connect to a host.
func (w outward) mayReach(host string) error {
	if w.t.s.Plan.Meta.Permissions.MayReach(host) {
		return nil
	}
	return fmt.Errorf("the workflow's permissions.network does not name %s", host)
}

// keeper keeps fetched content.
type keeper struct{ t *turn }

var _ tools.Keeper = keeper{}

// Keep implements tools.Keeper.
func (k keeper) Keep(ctx context.Context, f *os.File, kind filetype.Kind, mediaType, source string) (tools.Fetched, error) {
	t, artifacts := k.t, k.t.box.Outside.Artifacts
	from := artifact.Source{Scope: artifactScope(t.s.Plan.Name), Run: t.in.Run, MediaType: mediaType, URL: source}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return tools.Fetched{}, errors.New("it cannot be read")
	}
	ref, err := artifacts.Keep(ctx, f, from)
	if err != nil {
		return tools.Fetched{}, err
	}
	kept := tools.Fetched{Ref: ref}
	engine.Report(ctx, engine.Event{
		Kind: engine.EventArtifact, Step: t.in.Step, Batch: t.in.Batch, Name: ref, Message: fmt.Sprintf("kept: %s from %s", mediaType, source),
	})
	if kind == filetype.KindText {
		return kept, nil
	}
	read, err := media.ReadText(ctx, t.box.foreign.Worker, f, kind)
	if err != nil || strings.TrimSpace(read.Text) == "" {
		return kept, ctx.Err() // the content is kept, and its line shows that no text was read
	}
	from.MediaType = "text/markdown"
	if kept.TextRef, err = artifacts.Keep(ctx, strings.NewReader(read.Text), from); err != nil {
		return kept, err
	}
	kept.Handler, kept.Text, kept.Chars, kept.Truncated = read.Handler, read.Text, read.Chars, read.Truncated
	return kept, nil
}

// Picture implements tools.Keeper.
func (k keeper) Picture(ctx context.Context, data []byte) (content.Image, error) {
	return k.t.box.foreign.Keep(ctx, data)
}
