package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine/artifact"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/media"
	"github.com/vaultflow/vaultflow/media/remote"
	"github.com/vaultflow/vaultflow/tools"
	"github.com/vaultflow/vaultflow/tools/websearch"
)

// abroad is everything beyond the vault, in memory. It counts who was asked.
type abroad struct {
	body  string
	asked []string
	kept  map[string]string
	by    []artifact.Source
}

type web struct {
	*abroad
	may func(string) error
}

func (w web) FetchDocument(_ context.Context, address string, to io.Writer) (remote.Document, error) {
	if err := w.may("example.org"); err != nil {
		return remote.Document{}, err
	}
	w.asked = append(w.asked, "web_fetch")
	n, err := io.WriteString(to, w.body)
	return remote.Document{Name: "x", URL: address, Size: int64(n)}, err
}

func (a *abroad) Search(context.Context, string, int) ([]websearch.Found, error) {
	a.asked = append(a.asked, "web_search")
	return nil, nil
}

func (a *abroad) Provider() string { return "brave" }

func (a *abroad) Tools(names []string) []tools.Tool {
	var list []tools.Tool
	for _, name := range names {
		list = append(list, tools.Tool{
			Name: strings.ReplaceAll(name, ".", "__"), Called: name, Effect: tools.EffectNetwork, Parameters: json.RawMessage(`{"type":"object"}`),
			Run: func(context.Context, json.RawMessage) content.ToolResult {
				a.asked = append(a.asked, name)
				return content.ToolResult{Success: true, Output: "said", Origins: []string{"mcp " + name}}
			},
		})
	}
	return list
}

func (a *abroad) Keep(_ context.Context, r io.Reader, from artifact.Source) (string, error) {
	data, err := io.ReadAll(r)
	ref := fmt.Sprintf("art_%024d", len(a.by))
	a.kept[ref], a.by = string(data), append(a.by, from)
	return ref, err
}

func (a *abroad) Of(run string) []tools.Artifact {
	var list []tools.Artifact
	for i, from := range a.by {
		if from.Run == run {
			list = append(list, tools.Artifact{Ref: fmt.Sprintf("art_%024d", i)})
		}
	}
	return list
}

type closing struct{ *strings.Reader }

func (closing) Close() error { return nil }

func (a *abroad) Open(ref string) (io.ReadSeekCloser, error) {
	return closing{strings.NewReader(a.kept[ref])}, nil
}

// reaching is a desk whose tools lead out of the vault.
func reaching(t *testing.T, files map[string]string, use string) (*world, *abroad, *bytes.Buffer) {
	t.Helper()
	d, a, log := newDesk(t, files, use), &abroad{body: "a text", kept: map[string]string{}}, &bytes.Buffer{}
	d.plan.Meta.Permissions.Network = []string{"example.org"}
	d.plan.Meta.Permissions.Tools = []string{"write_file", "append_file", "edit_file", "move_file", "delete_file", "read_file", "read_variable", "web_fetch", "web_search", "read_artifact", "srv.say"}
	d.config.Outside = &Outside{
		Fetcher: func(may func(string) error) tools.Fetcher { return web{a, may} }, Search: a, Results: 5, Artifacts: a, Servers: a,
	}
	d.config.Log = slog.New(slog.NewTextHandler(log, nil))
	return d, a, log
}

// After content from outside a step reaches nobody and changes nothing but its own outputs, unless the workflow grants it.
// The model, the events, the record and the log hear of it, with the source.
func TestUseTools_afterContentFromOutside(t *testing.T) {
	t.Parallel()
	const all = "write_file, append_file, edit_file, move_file, delete_file, read_file, web_fetch, web_search, srv.say"
	calls := map[string]content.ToolCall{
		"own":        tool("append_file", in{"path": "Out", "content": "x"}),
		"other":      tool("append_file", in{"path": "a.md", "content": "x"}),
		"new":        tool("write_file", in{"path": "New.md", "content": "x"}),
		"edit":       tool("edit_file", in{"path": "a.md", "old_text": "mine", "new_text": "x"}),
		"move":       tool("move_file", in{"from": "a.md", "to": "b.md"}),
		"move own":   tool("move_file", in{"from": "Out.md", "to": "b.md"}),
		"delete":     tool("delete_file", in{"path": "a.md"}),
		"read":       tool("read_file", in{"path": "a.md"}),
		"web_fetch":  tool("web_fetch", in{"url": "https://example.org/?token=s3cr3t"}),
		"web_search": tool("web_search", in{"query": "x"}),
		"srv.say":    tool("srv__say", in{}),
	}
	foreign := []string{"file Imported/a/index.md"}
	for name, tt := range map[string]struct {
		use     string
		origins []string
		passes  []string
	}{
		"nothing foreign":    {all, nil, []string{"own", "other", "new", "edit", "move", "move own", "delete", "read", "web_fetch", "web_search", "srv.say"}},
		"content of imports": {all, foreign, []string{"own", "read"}},
		"granted network": {
			strings.NewReplacer("web_fetch", "web_fetch (untrusted=allow)", "srv.say", "srv.say (untrusted=allow)").Replace(all), foreign,
			[]string{"own", "read", "web_fetch", "srv.say"},
		},
		"granted append": {strings.Replace(all, "append_file", "append_file (untrusted=allow)", 1), foreign, []string{"own", "other", "read"}},
		"blocked again":  {strings.Replace(all, "web_search", "web_search (untrusted=block)", 1), foreign, []string{"own", "read"}},
	} {
		for what, call := range calls {
			d, a, log := reaching(t, map[string]string{"a.md": "mine\n", "Out.md": "out\n"}, tt.use)
			d.plan.Steps[0].Outputs = []directives.Output{{Target: fileTarget("Out")}, {Target: directives.Target{Scheme: directives.SchemeVariable, Path: "New.md"}}}
			turn := d.turn(call)
			turn.Origins = tt.origins
			var events []engine.Event
			before := d.vault.Texts()
			out, err := d.box().Use(engine.WithReporter(t.Context(), func(e engine.Event) { events = append(events, e) }), turn)
			if err != nil {
				t.Fatal(err)
			}
			r := d.results(out)[0]
			if slices.Contains(tt.passes, what) {
				if !r.Success || len(events)+len(out.Warnings) > 0 || log.Len() > 0 {
					t.Errorf("%s: %s: %s; %+v, %q", name, what, r.Error, events, out.Warnings)
				}
				continue
			}
			if r.Success || len(a.asked) > 0 || !equalFiles(before, d.vault.Texts()) || len(out.Changes) > 0 {
				t.Errorf("%s: %s was carried out: %+v, asked %q", name, what, r, a.asked)
			}
			if len(events) != 1 || events[0].Kind != engine.EventBlocked || events[0].Step != "Step 1" || len(out.Warnings) != 1 {
				t.Fatalf("%s: %s: events %+v, warnings %q", name, what, events, out.Warnings)
			}
			for where, said := range map[string]string{"result": r.Error, "event": events[0].Message, "record": out.Warnings[0], "log": log.String()} {
				if !strings.Contains(said, "Imported/a/index.md") || strings.Contains(said, "s3cr3t") {
					t.Errorf("%s: %s: the %s says %q", name, what, where, said)
				}
			}
		}
	}
}

func equalFiles(a, b map[string]string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// The calls of one answer were decided on together: what one brings does not block the others. What they bring together is
// known afterwards, without what was known before.
func TestUseTools_tellsWhatWasRead(t *testing.T) {
	t.Parallel()
	d, a, _ := reaching(t, map[string]string{"a.md": "mine\n", "Imported/b.md": "theirs\n"}, "read_file, web_fetch, web_search, srv.say, append_file, read_variable")
	turn := d.turn(
		tool("read_file", in{"path": "a.md"}), tool("read_file", in{"path": "Imported/b.md"}), tool("web_fetch", in{"url": "https://example.org/?token=s3cr3t"}),
		tool("web_search", in{"query": "x"}), tool("srv__say", in{}), tool("read_variable", in{"action": "read", "name": "v"}), tool("append_file", in{"path": "a.md", "content": "x"}),
	)
	turn.Vars = []engine.Var{{Name: "v", Digest: d.put("value"), Origins: []string{"web https://before.example/"}}}
	out, err := d.box().Use(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range d.results(out) {
		if !r.Success {
			t.Errorf("call %d: %s", i, r.Error)
		}
	}
	want := []string{"file Imported/b.md", "web https://example.org/?token=***", "search brave", "mcp srv.say", "web https://before.example/"}
	if !slices.Equal(out.Origins, want) || len(a.asked) != 3 {
		t.Errorf("origins %q, want %q; asked %q", out.Origins, want, a.asked)
	}
	again := d.turn(tool("read_file", in{"path": "Imported/b.md"}), tool("read_variable", in{"action": "read", "name": "v"}))
	again.Vars, again.Origins = turn.Vars, want[:3]
	if out, err = d.box().Use(t.Context(), again); err != nil || !slices.Equal(out.Origins, want[4:]) {
		t.Errorf("origins %q, want %q, %v", out.Origins, want[4:], err)
	}
}

// A PDF of the web is kept with its text, and read_artifact reads on in it; hosts that permissions.network does not name are
// not asked, and without any there is no web_fetch.
func TestUseTools_fetchesAndReadsOn(t *testing.T) {
	t.Parallel()
	d, a, _ := reaching(t, nil, "web_fetch")
	a.body = "%PDF-1.7 whatever"
	d.Media.Worker = threePages{}
	out, results := d.use(tool("web_fetch", in{"url": "https://example.org/q3.pdf?token=s3cr3t"}), tool("read_artifact", in{"artifact_ref": "art_000000000000000000000001", "search": "page 3"}))
	text := results[0].Text()
	for _, want := range []string{`"artifact_ref":"art_000000000000000000000000","text_ref":"art_000000000000000000000001","content_kind":"pdf"`, `"handler":"pdf_text"`, "## Page 2\n\ntext of page 2"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if !strings.Contains(results[1].Text(), "text of page 3") || !slices.Contains(out.Origins, "artifact art_000000000000000000000001") {
		t.Errorf("%s %s, origins %q", results[1].Text(), results[1].Error, out.Origins)
	}
	for _, from := range a.by {
		if from.Run != "r1" || from.Scope != "workflow:Flow" || strings.Contains(from.URL, "s3cr3t") {
			t.Errorf("kept for %+v", from)
		}
	}
	d.plan.Meta.Permissions.Network = []string{"other.example"}
	if _, results := d.use(tool("web_fetch", in{"url": "https://example.org/"})); results[0].Success || !strings.Contains(results[0].Error, "permissions.network does not name example.org") {
		t.Errorf("got %+v", results[0])
	}
	d.plan.Meta.Permissions.Network = nil
	if _, results := d.use(tool("web_fetch", in{"url": "https://example.org/"})); results[0].Success || !strings.Contains(results[0].Error, "no tool ") {
		t.Errorf("got %+v", results[0])
	}
}

// threePages is a worker for a document of three pages.
type threePages struct{}

func (threePages) Ready() error { return nil }

func (threePages) Open(context.Context, string, string, extract.Open) (media.Session, extract.Document, error) {
	return threePages{}, extract.Document{Pages: 3}, nil
}

func (threePages) OpenData(context.Context, []byte, extract.Open) (media.Session, extract.Document, error) {
	return threePages{}, extract.Document{Pages: 3}, nil
}

func (threePages) Page(_ context.Context, r extract.PageRequest) (extract.Page, error) {
	return extract.Page{N: r.N, Text: &extract.PageText{Markdown: fmt.Sprintf("text of page %d", r.N)}}, nil
}

func (threePages) Cut(context.Context, []int) (extract.Cut, error) { return extract.Cut{}, nil }

func (threePages) Close() error { return nil }
