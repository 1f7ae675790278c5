package steptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/policy/origin/origintest"
	"github.com/vaultflow/vaultflow/workflow"
)

// Script is a provider that answers as a test says. Several goroutines may call Generate.
type Script struct {
	Reply    func(llm.Request) (*llm.Response, error) // nil: no request is expected
	Requests []llm.Request

	mu sync.Mutex
}

// ErrNoReply is the answer of a script without a reply.
var ErrNoReply = errors.New("this test expects no call")

var _ llm.Provider = (*Script)(nil)

// Generate implements llm.Provider.
func (s *Script) Generate(_ context.Context, request llm.Request, _ func(string)) (*llm.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Requests = append(s.Requests, request)
	if s.Reply == nil {
		return nil, ErrNoReply
	}
	return s.Reply(request)
}

// Says returns a reply with this text.
func Says(text string) func(llm.Request) (*llm.Response, error) {
	return func(r llm.Request) (*llm.Response, error) {
		return &llm.Response{Text: text, Stop: llm.StopEnd, Model: r.Model, Blocks: []content.Block{content.Text{Value: text}}}, nil
	}
}

// Plan returns a plan of these steps. A step without a name gets one.
func Plan(steps []workflow.Step) workflow.Plan {
	for i := range steps {
		if steps[i].Name == "" {
			steps[i].Name = fmt.Sprintf("Step %d", i+1)
		}
	}
	return workflow.Plan{Name: "Flow", File: "Workflows/Flow.md", Meta: workflow.Meta{WeekStart: "monday"}, Steps: steps}
}

// Steps parses the steps of a workflow note.
func Steps(t *testing.T, note string) []workflow.Step {
	t.Helper()
	plan, list := workflow.Parse("w", "Workflows/w.md", []byte(note))
	if diag.HasErrors(list) {
		t.Fatal(list)
	}
	return plan.Steps
}

// Tools parses an @tools line.
func Tools(t *testing.T, use string) *directives.Tools {
	t.Helper()
	return Steps(t, "@tools "+use+"\nx")[0].Tools
}

// Ref pins a plan and names its first step.
func (j *Journal) Ref(t *testing.T, plan workflow.Plan) engine.StepRef {
	t.Helper()
	data, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	return engine.StepRef{Run: "r1", Workflow: plan.Name, Plan: j.PutText(t, string(data)), Step: plan.Steps[0].Name, At: Noon}
}

// PutText stores a text as a blob and returns its digest.
func (j *Journal) PutText(t *testing.T, text string) string {
	t.Helper()
	digest, err := j.Put(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// Text returns the content of a blob.
func (j *Journal) Text(t *testing.T, digest string) string {
	t.Helper()
	data, err := j.Get(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Text of an imported document, and the origin that its import records.
const (
	Strange  = "The committee decided in March that the harbour is to be closed for two years.\n"
	Imported = "import 01J (report.pdf)"
)

// Report puts an imported document into the vault, at Imported/report, and returns the origins that its import recorded.
func Report(t *testing.T, files fstest.MapFS) *origin.Book {
	t.Helper()
	files["Imported/report/index.md"] = &fstest.MapFile{Data: []byte(Strange), ModTime: Noon}
	files["Imported/report/Obey me.md"] = &fstest.MapFile{Data: []byte("x"), ModTime: Noon}
	book := &origin.Book{FS: files, Store: &origintest.Store{}}
	if err := book.Imported(t.Context(), "Imported/report", Imported); err != nil {
		t.Fatal(err)
	}
	return book
}
