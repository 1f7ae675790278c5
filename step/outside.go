package step

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/media"
	"github.com/vaultflow/vaultflow/tools"
)

// Outside is what tools reach beyond the vault. What is nil is not offered, but for a preview, which names the tools that
// a run would offer and reaches nothing. It is safe for concurrent use when its parts are.
type Outside struct {
	Fetcher   func(may func(host string) error) tools.Fetcher // under the settings' rules, and one more for hosts
	Search    tools.SearchService
	Results   int // of one search, at most
	Artifacts Artifacts
	Servers   Servers
	Log       *slog.Logger // nil: nothing is logged
}

// Artifacts keep fetched contents, as long as a run may want them and some days more.
type Artifacts interface {
	Keep(ctx context.Context, r io.Reader, from ArtifactSource) (ref string, err error)
	// Of lists what a run refers to, the oldest first.
	Of(run string) []tools.Artifact
	Open(ref string) (io.ReadSeekCloser, error)
}

// ArtifactSource says what a content is and for whom it is kept.
type ArtifactSource struct {
	Scope, Run, MediaType, URL string
}

// Servers are the configured servers of the Model Context Protocol.
type Servers interface {
	// Tools gives the tools of these names (server.tool), in their order. A server is started when the first of its tools is
	// asked for, within the time that the settings give it. A tool that is not to be had is given as one whose calls fail and say why; one that the settings do not
	// allow is not given.
	Tools(names []string) []tools.Tool
}

// artifactScope keeps the artifacts of one workflow from pushing out those of others.
func artifactScope(workflow string) string { return "workflow:" + workflow }

// outside are the tools that lead out of the vault, as far as there is something behind them. Without permissions.network
// there is no host that web_fetch could ask.
func (b *toolbox) outside() []tools.Tool {
	o := b.w.Outside
	if o == nil {
		return nil
	}
	var list []tools.Tool
	if o.Fetcher != nil && o.Artifacts != nil && len(b.s.plan.Meta.Permissions.Network) > 0 {
		fetcher := &tools.WebFetcher{Fetcher: o.Fetcher(b.mayReach), Keeper: &keeper{b}, Media: b.media}
		list = append(list, fetcher.Tool())
	}
	if o.Artifacts != nil {
		reader := &tools.ArtifactReader{Open: o.Artifacts.Open}
		if b.in.Run != "" {
			reader.List = func() []tools.Artifact { return o.Artifacts.Of(b.in.Run) }
			reader.Open = b.openArtifact
		}
		list = append(list, reader.Tool())
	}
	if o.Search != nil {
		list = append(list, (&tools.WebSearcher{Service: o.Search, MaxResults: o.Results}).Tool())
	}
	return list
}

// openArtifact opens an artifact for the call at work.
func (b *toolbox) openArtifact(ref string) (io.ReadSeekCloser, error) {
	f, err := b.w.Outside.Artifacts.Open(ref)
	if err == nil {
		engine.Report(b.ctx, engine.Event{Kind: engine.EventArtifact, Step: b.in.Step, Batch: b.in.Batch, Name: ref, Message: "read"})
	}
	return f, err
}

// servers are the tools of MCP servers that @tools names. `@tools all` is none of them: each is named.
func (b *toolbox) servers() []tools.Tool {
	if b.w.Outside == nil || b.w.Outside.Servers == nil || b.s.step.Tools == nil {
		return nil
	}
	var names []string
	for _, use := range b.s.step.Tools.Uses {
		if strings.Contains(use.Name, ".") && b.s.plan.Meta.Permissions.MayUse(use.Name) {
			names = append(names, use.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return b.w.Outside.Servers.Tools(names)
}

// mayReach says why the workflow may not connect to a host.
func (b *toolbox) mayReach(host string) error {
	if b.s.plan.Meta.Permissions.MayReach(host) {
		return nil
	}
	return fmt.Errorf("the workflow's permissions.network does not name %s", host)
}

// keeper keeps what web_fetch brings. It implements tools.Keeper.
type keeper struct{ *toolbox }

// Keep implements tools.Keeper.
func (k *keeper) Keep(ctx context.Context, f *os.File, kind filetype.Kind, mediaType, source string) (tools.Fetched, error) {
	from := ArtifactSource{Scope: artifactScope(k.s.plan.Name), Run: k.in.Run, MediaType: mediaType, URL: source}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return tools.Fetched{}, errors.New("it cannot be read")
	}
	ref, err := k.w.Outside.Artifacts.Keep(ctx, f, from)
	if err != nil {
		return tools.Fetched{}, err
	}
	kept := tools.Fetched{Ref: ref}
	engine.Report(ctx, engine.Event{
		Kind: engine.EventArtifact, Step: k.in.Step, Batch: k.in.Batch, Name: ref, Message: fmt.Sprintf("kept: %s from %s", mediaType, source),
	})
	if kind == filetype.KindText {
		return kept, nil
	}
	read, err := media.ReadText(ctx, k.w.Media.Worker, f, kind)
	if err != nil || strings.TrimSpace(read.Text) == "" {
		return kept, ctx.Err() // the content itself is kept, and its line says that nothing was read
	}
	from.MediaType = "text/markdown"
	if kept.TextRef, err = k.w.Outside.Artifacts.Keep(ctx, strings.NewReader(read.Text), from); err != nil {
		return kept, err
	}
	kept.Handler, kept.Text, kept.Chars, kept.Truncated = read.Handler, read.Text, read.Chars, read.Truncated
	return kept, nil
}

// Picture implements tools.Keeper.
func (k *keeper) Picture(ctx context.Context, data []byte) (content.Image, error) {
	return k.w.ForeignPicture(ctx, data)
}

// ForeignPicture keeps a picture from outside as its worker has made it anew. The name is left to the caller.
func (w *Workflow) ForeignPicture(ctx context.Context, data []byte) (content.Image, error) {
	limits := imaging.Limits{MaxSide: w.Budget.MaxImagePixels, MaxDecodePixels: w.Budget.MaxDecodePixels}
	return media.Foreign{Worker: w.Media.Worker, Blobs: w.Blobs, Limits: limits}.Keep(ctx, data)
}
