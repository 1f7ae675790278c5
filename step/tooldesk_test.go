package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/vaulttest"
	"github.com/vaultflow/vaultflow/workflow"
)

var errKilled = errors.New("killed")

// desk is a world whose vault keeps its conditions, and which can die between any two things that it does.
type desk struct {
	*world
	intents map[string]intent
	steps   int // things done
	dies    int // at this one, counted from 1; 0 never
	after   bool
	dead    bool
	between func() // somebody else, at the moment of death
}

type intent struct {
	change engine.Change
	said   string
	made   bool
}

func newDesk(t *testing.T, files map[string]string, use string) *desk {
	t.Helper()
	step := workflow.Step{Name: "Step 1", Prompt: "work", Set: directives.Set{Tools: toolsOf(t, use)}}
	w := newWorld(t, files, step)
	d := &desk{world: w, intents: map[string]intent{}}
	w.Workflow.Vault, w.Workflow.Blobs, w.Workflow.Memory, w.Changes = d.mortal(), d, d, d
	return d
}

// toolsOf reads an @tools line.
func toolsOf(t *testing.T, use string) *directives.Tools {
	t.Helper()
	plan, list := workflow.Parse("w", "Workflows/w.md", []byte("@tools "+use+"\nx"))
	if directives.HasErrors(list) {
		t.Fatal(list)
	}
	return plan.Steps[0].Tools
}

// alive counts one thing that is done: do is carried out unless the process is dead by then.
func (d *desk) alive(do func() error) error {
	d.steps++
	if d.dead || d.steps == d.dies && !d.after {
		d.die()
		return errKilled
	}
	err := do()
	if d.steps == d.dies {
		d.die()
		return errKilled
	}
	return err
}

func (d *desk) die() {
	if !d.dead && d.between != nil {
		d.between()
	}
	d.dead = true
}

// mortal is the vault, whose changes are things done too.
func (d *desk) mortal() vault.Writer {
	return vaulttest.Intercept(d.vault, func(_ string, do func() error) error { return d.alive(do) })
}

func (d *desk) digestOf(name string) string {
	if f, ok := d.files[name]; ok {
		return sha(f.Data)
	}
	return ""
}

// Put implements Blobs.
func (d *desk) Put(ctx context.Context, data []byte) (digest string, err error) {
	err = d.alive(func() error { digest, err = d.world.Put(ctx, data); return err })
	return digest, err
}

// Writing implements Memory.
func (d *desk) Writing(ctx context.Context, ref engine.StepRef, files []engine.StagedFile) error {
	return d.alive(func() error { return d.world.Writing(ctx, ref, files) })
}

func callKey(ref engine.StepRef, call string) string {
	return fmt.Sprint(ref.Run, ref.Index, ref.Batch, call)
}

// Intended implements Changes.
func (d *desk) Intended(_ context.Context, ref engine.StepRef, call string) (engine.Change, string, bool, error) {
	i, ok := d.intents[callKey(ref, call)]
	if !ok {
		return engine.Change{}, "", false, engine.ErrNotFound
	}
	return i.change, i.said, i.made, nil
}

// Latest implements Changes.
func (d *desk) Latest(ctx context.Context, ref engine.StepRef, call string) (engine.Change, bool, error) {
	c, _, made, err := d.Intended(ctx, ref, call)
	return c, made, err
}

// Intend implements Changes.
func (d *desk) Intend(_ context.Context, ref engine.StepRef, call string, c engine.Change, said string, _ time.Time) error {
	return d.alive(func() error { d.intents[callKey(ref, call)] = intent{c, said, false}; return nil })
}

// Made implements Changes.
func (d *desk) Made(_ context.Context, ref engine.StepRef, call string, made bool) error {
	return d.alive(func() error {
		i := d.intents[callKey(ref, call)]
		if i.made = made; !made {
			delete(d.intents, callKey(ref, call))
			return nil
		}
		d.intents[callKey(ref, call)] = i
		return nil
	})
}

// tool is a call with its input.
func tool(name string, input any) content.ToolCall {
	data, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return content.ToolCall{ID: name, Name: name, Input: data}
}

// turn makes the input of a UseTools for some calls.
func (d *desk) turn(calls ...content.ToolCall) engine.UseToolsIn {
	d.t.Helper()
	var blocks []content.Block
	for i, c := range calls {
		c.ID = fmt.Sprintf("t%d", i)
		blocks = append(blocks, c)
	}
	d.reply = func(llm.Request) (*llm.Response, error) {
		return &llm.Response{Stop: llm.StopToolUse, Blocks: blocks}, nil
	}
	ref := d.ref()
	prompt := d.assembled(ref).Prompt
	got, err := d.Workflow.Generate(d.t.Context(), engine.GenerateIn{StepRef: ref, Prompt: prompt, Model: "seer"})
	if err != nil {
		d.t.Fatal(err)
	}
	return engine.UseToolsIn{StepRef: ref, Prompt: prompt, Raw: got.Raw, Model: "seer", Round: 1}
}

// results are those of a reply.
func (d *desk) results(out engine.UseToolsOut) []content.ToolResult {
	d.t.Helper()
	reply, err := content.UnmarshalBlocks([]byte(d.text(out.Reply)))
	if err != nil {
		d.t.Fatal(err)
	}
	var list []content.ToolResult
	for _, b := range reply {
		list = append(list, b.(content.ToolResult)) //nolint:errcheck,forcetypeassert // the test's point
	}
	return list
}

func (d *desk) use(calls ...content.ToolCall) (engine.UseToolsOut, []content.ToolResult) {
	d.t.Helper()
	out, err := d.UseTools(d.t.Context(), d.turn(calls...))
	if err != nil {
		d.t.Fatal(err)
	}
	return out, d.results(out)
}

func (d *desk) snapshot() map[string]string { return d.vault.Texts() }

type in = map[string]any
