package llmtest

import (
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// Subject is an adapter under test.
type Subject struct {
	New        func(wire.Config) llm.Provider
	Path       string // what BaseURL needs after the server's address: "/v1", or nothing
	Wire       Wire
	NoThoughts bool   // it keeps its reasoning to itself: tokens are counted, words are not shown
	Signed     bool   // reasoning is signed, and the signature wants to come back
	Redacts    bool   // some of it comes closed
	NoRefusal  bool   // the format has no way to say that the model declines
	CacheMark  string // what stands in a request whose beginning is to be kept; "" where that needs no asking
	NoCache    bool   // nor how much of the input was cached

	MediaInResults bool // pictures and documents stand inside a tool's result, not behind all results
	MediaBeside    bool // they stand inside a tool's result, behind its text
	DocumentBeside bool // documents do not: they stand in the same turn, behind all results
	PictureBehind  bool // pictures do not: they stand behind all results, documents inside behind the text
	Documents      bool // PDFs go as files
	TextBeside     bool // never without a text beside them
	NativeSchema   bool // the service holds an answer to a schema
	TurnsAreItems  bool // a turn is a list of items among those of other turns
	ByToolName     bool // results name their tool, not their call
	ParsesInput    bool // the service parses the arguments of calls: what is no JSON never arrives
}

// Exercise runs the whole suite.
func Exercise(t *testing.T, s Subject) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, Subject)
	}{
		{"the contract of every provider", contract},
		{"order of text and pictures", order},
		{"blank texts are left out", blanks},
		{"media type is that of the bytes", sniffed},
		{"a vanished picture becomes its text", vanished},
		{"a picture of another type becomes its text", unaccepted},
		{"no loader", noLoader},
		{"nothing to send", nothing},
		{"answer, deltas and usage", answers},
		{"options", options},
		{"a turn goes back unchanged", echo},
		{"a turn of another model goes back as text", foreignEcho},
		{"cut off", cutOff},
		{"cut off before the first word", cutOffAtOnce},
		{"all tokens spent on reasoning", thoughtOnly},
		{"refusal", refusal},
		{"empty answer", empty},
		{"tools: calls and results", toolCalls},
		{"tools: a picture and a document in results", toolMedia},
		{"tools: three calls at once, each with a picture", toolPictures},
		{"tools: three turns of reasoning, then another model", toolThoughts},
		{"tools: results that say nothing, fail or hold data", toolOddResults},
		{"tools: calls of another model", toolForeign},
		{"tools: a model that has none", toolNone},
		{"tools: results that do not pair", toolUnpaired},
		{"tools: arguments that are no JSON", toolBroken},
		{"tools: cut off inside a call", toolCutOff},
		{"a beginning that is worth keeping", caching},
		{"schema", schemas},
		{"documents keep their place", documents},
		{"a document that cannot be had becomes its text", documentVanished},
		{"rate limit in seconds", rateLimit},
		{"rate limit until a date", rateLimitDate},
		{"server error is repeated", serverError},
		{"authentication, without the key", authentication},
		{"overflow with numbers", overflow},
		{"a refused request is made to fit", rewritten},
		{"a rate limit is not", notRewritten},
		{"broken off", broken},
		{"broken off unseen is repeated", brokenUnseen},
		{"cancelled", cancelled},
		{"silence", silence},
		{"a call that takes too long", tooLong},
		{"headers of one's own", headers},
		{"through a proxy", proxied},
		{"unreachable", unreachable},
		{"redirects are not followed", redirected},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, s)
		})
	}
}

// provider makes the adapter for a server.
func (s Subject) provider(server *Server) llm.Provider {
	return s.New(wire.Config{BaseURL: server.URL + s.Path, APIKey: Key})
}

// ask is the plainest request.
func ask(blocks ...content.Block) llm.Request {
	if len(blocks) == 0 {
		blocks = []content.Block{content.Text{Value: "hello"}}
	}
	return llm.Request{Model: "test-model", System: "be brief", Messages: []llm.Message{{Role: llm.User, Blocks: blocks}}}
}

// one is a server's single reply.
func one(a Answer) Reply { return Reply{Answer: a} }

// generate asks and fails the test on an error.
func generate(t *testing.T, p llm.Provider, r llm.Request, progress func(string)) *llm.Response {
	t.Helper()
	response, err := p.Generate(t.Context(), r, progress)
	if err != nil {
		t.Fatalf("generate: %v", err)
	}
	return response
}

// failure asks and returns the failure, which must be of a class.
func failure(t *testing.T, p llm.Provider, r llm.Request, progress func(string), want llm.Class) *llm.Error {
	t.Helper()
	response, err := p.Generate(t.Context(), r, progress)
	e, ok := llm.AsError(err)
	if !ok {
		t.Fatalf("got %+v and %v, want an *llm.Error of class %s", response, err, want)
	}
	if e.Class != want {
		t.Fatalf("got class %s, want %s: %v", e.Class, want, e)
	}
	if response != nil {
		t.Errorf("got an answer beside the error: %+v", response)
	}
	return e
}
