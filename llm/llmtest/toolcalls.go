package llmtest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// toolbox are the tools of the suite.
func toolbox() []llm.Tool {
	return []llm.Tool{
		{Name: "read_chunks", Description: "Gives parts of the prompt.", Parameters: json.RawMessage(`{"type":"object","properties":{"ids":{"type":"array","items":{"type":"string"}}}}`)},
		{Name: "list"},
	}
}

// called asks and expects calls; it returns the request with the answer's turn, and the calls.
func called(t *testing.T, p llm.Provider, request llm.Request) (llm.Request, []content.ToolCall) {
	t.Helper()
	response := generate(t, p, request, nil)
	var calls []content.ToolCall
	for _, b := range response.Blocks {
		if call, ok := b.(content.ToolCall); ok {
			calls = append(calls, call)
		}
	}
	if response.Stop != llm.StopToolUse || len(calls) == 0 {
		t.Fatalf("got stop %q and %d calls, want tool_use", response.Stop, len(calls))
	}
	request.Messages = append(request.Messages, llm.Message{Role: llm.Assistant, Blocks: response.Blocks, Raw: response.Raw})
	return request, calls
}

// answered adds a user's turn.
func answered(request llm.Request, blocks ...content.Block) llm.Request {
	request.Messages = append(request.Messages, llm.Message{Role: llm.User, Blocks: blocks})
	return request
}

// key is how a result names what it belongs to.
func (s Subject) key(c content.ToolCall) string {
	if s.ByToolName {
		return c.Name
	}
	return c.ID
}

// results are the parts of the last request that stand in tools' results or behind them.
func results(t *testing.T, server *Server) []Part {
	t.Helper()
	all := server.Requests()
	parts := all[len(all)-1].Parts
	for i, p := range parts {
		if p.Result != "" {
			return parts[i:]
		}
	}
	t.Fatalf("no result arrived: %+v", parts)
	return nil
}

func twoCalls() Answer {
	return Answer{Thinking: "which", Text: "let me see", Input: 10, Output: 5, ToolCalls: []ToolCall{
		{Name: "read_chunks", Input: `{"ids":["c1","größe"]}`}, {Name: "list"},
	}}
}

func toolCalls(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, one(twoCalls()), one(Answer{Text: "done"}))
	p := s.provider(server)
	request := ask()
	request.Tools = toolbox()
	request, calls := called(t, p, request)
	if len(calls) != 2 || calls[0].ID == "" || calls[0].ID == calls[1].ID {
		t.Fatalf("calls %+v, want two with ids of their own", calls)
	}
	inputs := []string{calls[0].Name + string(calls[0].Input), calls[1].Name + string(calls[1].Input)}
	if diff := cmp.Diff([]string{`read_chunks{"ids":["c1","größe"]}`, "list{}"}, inputs); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	request = answered(
		request, text("and be quick"), // results come first all the same, in the order of the calls
		content.ToolResult{CallID: calls[1].ID, Success: true, Output: "a.md"},
		content.ToolResult{CallID: calls[0].ID, Success: true, Output: "chunk one"},
	)
	if response := generate(t, p, request, nil); response.Text != "done" || response.Stop != llm.StopEnd {
		t.Errorf("got %q, stop %q", response.Text, response.Stop)
	}
	want := []Part{{Text: "chunk one", Result: s.key(calls[0])}, {Text: "a.md", Result: s.key(calls[1])}, {Text: "and be quick"}}
	if diff := cmp.Diff(want, results(t, server)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"read_chunks", "list"}, server.Requests()[1].Tools()); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func toolMedia(t *testing.T, s Subject) {
	album := &Album{}
	picture, document := album.Add(t, "in.png", "png", 20, 7), album.AddDocument(t, "paper.pdf", 2)
	document.Extracted = "the paper's words"
	server := NewServer(t, s.Wire, one(twoCalls()), one(Answer{Text: "done"}))
	p := s.provider(server)
	request := ask()
	request.Tools, request.Media = toolbox(), album
	request, calls := called(t, p, request)
	request = answered(
		request,
		content.ToolResult{CallID: calls[0].ID, Success: true, Blocks: []content.Block{text("[c1]\n"), picture, text("\n"), text("after")}},
		content.ToolResult{CallID: calls[1].ID, Success: true, Output: "two", Blocks: []content.Block{document, picture}},
		text("go on"),
	)
	response := generate(t, p, request, nil)
	first, second := s.key(calls[0]), s.key(calls[1])
	png := Part{MediaType: "image/png", Data: album.files["in.png"]}
	pdf := Part{MediaType: "application/pdf", Data: album.files["paper.pdf"]}
	paper, thing := "See file "+llm.MediaID(document)+".", "See file "+llm.MediaID(picture)+"."
	isPicture, isPaper := Part{Text: "This is file " + llm.MediaID(picture) + ":"}, Part{Text: "This is file " + llm.MediaID(document) + ":"}
	in := func(p Part, result string) Part {
		p.Result = result
		return p
	}
	var want []Part
	switch {
	case s.DocumentBeside:
		want = []Part{
			{Text: "[c1]\n", Result: first},
			in(png, first),
			{Text: "after", Result: first},
			{Text: "two", Result: second},
			{Text: paper, Result: second},
			in(png, second),
			isPaper, pdf,
			{Text: "go on"},
		}
	case s.PictureBehind:
		want = []Part{
			{Text: "[c1]\n" + thing + "\nafter", Result: first},
			{Text: "two\n" + paper + "\n" + thing, Result: second},
			in(pdf, second),
			isPicture, png, isPicture, png,
			{Text: "go on"},
		}
	case s.MediaInResults:
		want = []Part{
			{Text: "[c1]\n", Result: first},
			in(png, first),
			{Text: "after", Result: first},
			{Text: "two", Result: second},
			in(pdf, second), in(png, second),
			{Text: "go on"},
		}
	case s.MediaBeside:
		want = []Part{
			{Text: "[c1]\n" + thing + "\nafter", Result: first},
			in(png, first),
			{Text: "two\n" + paper + "\n" + thing, Result: second},
			in(pdf, second), in(png, second),
			{Text: "go on"},
		}
	case s.Documents:
		want = []Part{
			{Text: "[c1]\n" + thing + "\nafter", Result: first},
			{Text: "two\n" + paper + "\n" + thing, Result: second},
			isPicture, png, isPaper, pdf, isPicture, png,
			{Text: "go on"},
		}
	default:
		want = []Part{
			{Text: "[c1]\n" + thing + "\nafter", Result: first},
			{Text: "two\nthe paper's words\n" + thing, Result: second},
			isPicture, png, isPicture, png,
			{Text: "go on"},
		}
	}
	if diff := cmp.Diff(want, results(t, server)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if wanted := s.omits("paper.pdf"); !cmp.Equal(wanted, response.Omitted) {
		t.Errorf("omitted %v, want %v", response.Omitted, wanted)
	}
}

// omits names a document where PDFs do not go as files.
func (s Subject) omits(name string) []string {
	if s.Documents {
		return nil
	}
	return []string{name}
}

func toolOddResults(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, one(twoCalls()), one(Answer{ToolCalls: []ToolCall{{Name: "list"}}}), one(Answer{Text: "done"}))
	p := s.provider(server)
	request := ask()
	request.Tools = toolbox()
	request, calls := called(t, p, request)
	request = answered(
		request,
		content.ToolResult{CallID: calls[0].ID, Error: "there is no chunk c9"},
		content.ToolResult{CallID: calls[1].ID, Success: true, Blocks: []content.Block{text(" \n")}},
	)
	request, again := called(t, p, request)
	if again[0].ID == calls[0].ID || again[0].ID == calls[1].ID {
		t.Errorf("the id %q was given twice", again[0].ID)
	}
	request = answered(request, content.ToolResult{CallID: again[0].ID, Success: true, Data: json.RawMessage(`{"n":1}`)})
	generate(t, p, request, nil)
	want := []Part{
		{Text: "error: there is no chunk c9", Result: s.key(calls[0])},
		{Text: llm.NoOutput, Result: s.key(calls[1])},
		{Text: `{"n":1}`, Result: s.key(again[0])},
	}
	if diff := cmp.Diff(want, results(t, server)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func toolForeign(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, one(Answer{Text: "done"}))
	call := content.ToolCall{ID: "elsewhere: call 1/2, which is longer than any service would take it", Name: "read_chunks", Input: json.RawMessage(`{"ids":["c2"]}`)}
	odd := content.ToolCall{ID: "b", Name: "list", Input: json.RawMessage(`"half of {"`)}
	request := ask()
	request.Tools = toolbox()
	request.Messages = append(request.Messages, llm.Message{
		Role: llm.Assistant, Blocks: []content.Block{content.Thinking{Value: "hm", Signature: "of another"}, text("I look"), call, odd},
		Raw: wire.PackRaw("another wire", "another model", json.RawMessage(`["unknown here"]`)),
	})
	request = answered(request, content.ToolResult{CallID: call.ID, Success: true, Output: "two"}, content.ToolResult{CallID: "b", Success: true, Output: "b"})
	generate(t, s.provider(server), request, nil)
	body := string(server.Requests()[0].Body)
	if !strings.Contains(body, "I look") || !strings.Contains(body, "c2") || strings.Contains(body, "unknown here") || strings.Contains(body, `"hm"`) {
		t.Errorf("want text and calls, without the raw turn and the reasoning: %s", body)
	}
	var said []string
	for _, p := range results(t, server) {
		said = append(said, p.Text)
	}
	if diff := cmp.Diff([]string{"two", "b"}, said); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func toolNone(t *testing.T, s Subject) {
	album := &Album{}
	server := NewServer(t, s.Wire, one(twoCalls()), one(Answer{Text: "done"}))
	p := s.provider(server)
	request := ask()
	request.Tools, request.Media = toolbox(), album
	request, calls := called(t, p, request)
	request = answered(
		request, content.ToolResult{CallID: calls[0].ID, Success: true, Blocks: []content.Block{text("chunk"), album.Add(t, "in.png", "png", 20, 7)}},
		content.ToolResult{CallID: calls[1].ID, Success: true, Output: "a.md"},
	)
	request.Tools = nil
	generate(t, p, request, nil)
	last := server.Requests()[1]
	if len(last.Tools()) > 0 || !strings.Contains(string(last.Body), `[tool call: list {}]`) {
		t.Errorf("want no tools, and the calls as text: %s", last.Body)
	}
	want := []Part{
		{Text: "hello"},
		{Text: "[tool result: read_chunks]\n"},
		{Text: "chunk"},
		{MediaType: "image/png", Data: album.files["in.png"]},
		{Text: "[tool result: list]\n"},
		{Text: "a.md"},
	}
	if diff := cmp.Diff(want, last.Parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

func toolUnpaired(t *testing.T, s Subject) {
	call := content.ToolCall{ID: "a", Name: "list"}
	said := llm.Message{Role: llm.Assistant, Blocks: []content.Block{call, content.ToolCall{ID: "b", Name: "list"}}}
	resultOf := func(id string) content.ToolResult { return content.ToolResult{CallID: id, Success: true, Output: id} }
	for name, blocks := range map[string][]content.Block{
		"one is missing":    {resultOf("a"), text("x")},
		"none":              {text("x")},
		"one of no call":    {resultOf("a"), resultOf("b"), resultOf("c")},
		"one twice":         {resultOf("a"), resultOf("a"), resultOf("b")},
		"no turn behind it": nil,
	} {
		server := NewServer(t, s.Wire)
		request := ask()
		request.Tools = toolbox()
		request.Messages = append(request.Messages, said)
		if blocks != nil {
			request = answered(request, blocks...)
		}
		failure(t, s.provider(server), request, nil, llm.ClassPairing)
		if n := len(server.Requests()); n != 0 {
			t.Errorf("%s: %d requests were sent, want none", name, n)
		}
	}
}

func toolBroken(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, one(Answer{ToolCalls: []ToolCall{{Name: "list", Input: `{"a": [1,`}, {Name: "list", Input: `[1]`}}}), one(Answer{Text: "done"}))
	if s.ParsesInput {
		t.Skip("the service parses arguments itself")
	}
	p := s.provider(server)
	request := ask()
	request.Tools = toolbox()
	request, calls := called(t, p, request)
	if want := `"{\"a\": [1,"`; string(calls[0].Input) != want || string(calls[1].Input) != "[1]" {
		t.Errorf("inputs %s and %s, want %s and [1]", calls[0].Input, calls[1].Input, want)
	}
	request = answered(request, content.ToolResult{CallID: calls[0].ID, Error: "arguments are no JSON"}, content.ToolResult{CallID: calls[1].ID, Error: "arguments are no object"})
	generate(t, p, request, nil) // the server refuses a turn whose arguments are no object
}

func toolCutOff(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, one(Answer{ToolCalls: []ToolCall{{Name: "list", Input: `{"a": 1}`}}, Stop: llm.StopLength, Output: 64}))
	request := ask()
	request.Tools = toolbox()
	e := failure(t, s.provider(server), request, nil, llm.ClassParameter)
	if !strings.Contains(e.Message, "64 tokens") {
		t.Errorf("message %q does not say what was spent", e.Message)
	}
}
