package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/artifact"
	"github.com/vaultflow/vaultflow/media/remote"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/tools"
	"github.com/vaultflow/vaultflow/tools/toolstest"
	"github.com/vaultflow/vaultflow/tools/websearch"
)

// slow is everything that a call may wait for: it ends when the context does.
type slow struct {
	*abroad
	*house
	reached func()
}

func (s slow) wait(ctx context.Context) error {
	s.reached()
	<-ctx.Done()
	return ctx.Err()
}

func (s slow) FetchDocument(ctx context.Context, _ string, _ io.Writer) (remote.Document, error) {
	return remote.Document{}, s.wait(ctx)
}

func (s slow) Search(ctx context.Context, _ string, _ int) ([]websearch.Found, error) {
	return nil, s.wait(ctx)
}

func (s slow) Wait(ctx context.Context, _ string) (engine.RunRecord, error) {
	return engine.RunRecord{}, s.wait(ctx)
}

// loud is a search service whose every field is too long.
type loud struct{ *abroad }

func (loud) Search(context.Context, string, int) ([]websearch.Found, error) {
	long := strings.Repeat("word ", 1<<14)
	return make20(websearch.Found{Title: long, URL: "https://example.org/" + strings.Repeat("x", 1900), Excerpt: long}), nil
}

func make20(f websearch.Found) []websearch.Found {
	list := make([]websearch.Found, 20)
	for i := range list {
		list[i] = f
	}
	return list
}

// Every tool of this version passes the suite, wired as runs wire it, over a vault where everything is too long.
func TestTools_contract(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a long line of the vault that holds the word needle\n", 4000)
	files := map[string]string{"long.md": long, "old.md": "old", "Imported/W/manifest.json": `{"version":1,"source":{"name":"W.pdf","sha256":"00"}}`, "Imported/W/index.md": "w"}
	for i := range 1000 {
		files[fmt.Sprintf("Many/%0200d.md", i)] = "needle"
	}
	kept := "art_" + strings.Repeat("0", 24)
	inputs := map[string]in{
		tools.ReadFile: {"path": "long.md"}, tools.ListFiles: {"glob": "**"}, tools.SearchFiles: {"query": "needle"},
		tools.WriteFile: {"path": "New.md", "content": long}, tools.AppendFile: {"path": "long.md", "content": "x"},
		tools.EditFile: {"path": "long.md", "old_text": "needle", "new_text": "x", "replace_all": true},
		tools.MoveFile: {"from": "old.md", "to": "New/old.md"}, tools.DeleteFile: {"path": "old.md"},
		tools.ReadVariable: {"action": "read", "name": "long"}, tools.ReadArtifact: {"artifact_ref": kept},
		tools.WebFetch: {"url": "https://example.org/page"}, tools.WebSearch: {"query": "needle"}, tools.RunWorkflow: {"workflow": "brew"},
		tools.ReadChunks: {"ids": []string{"c1", "c2"}},
	}
	// build returns a tool of a fresh world.
	build := func(t *testing.T, name string, reached func()) tools.Tool {
		d, a, _ := reaching(t, files, "all, run_workflow, delete_file")
		d.plan.Meta.Permissions.Tools = Names()
		a.body = long
		a.kept[kept], a.by = long, []artifact.Source{{Run: "r1"}}
		_, h := nesting(t, "all")
		d.config.Runs = h
		if reached != nil {
			s := slow{a, h, reached}
			d.config.Runs, d.config.Outside.Search = s, s
			d.config.Outside.Fetcher = func(func(string) error) tools.Fetcher { return s }
		} else {
			d.config.Outside.Search = loud{a}
		}
		vars := []engine.Var{{Name: "long", Digest: d.put(long)}}
		ref := d.ref()
		plan, err := d.deps().Plans.Context(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		stored := step.Prompt{Limits: step.CallLimits{ToolImages: 5, StepImages: 5}}
		turn := d.box().turn(plan, d.models["seer"], stored, engine.UseToolsIn{StepRef: ref, Vars: vars, Model: "seer"})
		turn.ctx, turn.call = t.Context(), "1/0/x"
		turn.chunks = &tools.ChunkReader{Media: turn.media}
		for _, id := range []string{"c1", "c2"} {
			turn.chunks.Chunks = append(turn.chunks.Chunks, tools.Chunk{ID: id, Blocks: []content.Block{content.Text{Value: long}}})
		}
		for _, tool := range append(turn.registry, turn.chunks.Tool()) {
			if tool.Name == name {
				return tool
			}
		}
		t.Fatalf("the toolbox offers no %s", name)
		return tools.Tool{}
	}
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == tools.ReadPages { // tools.TestReadPages_contract: it needs a document
				return
			}
			input, err := json.Marshal(inputs[name])
			if err != nil || inputs[name] == nil {
				t.Fatalf("no input for this tool: %v", err)
			}
			c := toolstest.Case{Tool: build(t, name, nil), Input: string(input), Long: name == tools.RunWorkflow}
			if name == tools.WebFetch || name == tools.WebSearch || name == tools.RunWorkflow {
				c.Slow = func(reached func()) tools.Tool { return build(t, name, reached) }
			}
			toolstest.Exercise(t, c)
		})
	}
}
