package rewrite_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/anthropic"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/openai"
	"github.com/vaultflow/vaultflow/llm/rewrite"
	"github.com/vaultflow/vaultflow/llm/wire"
	"github.com/vaultflow/vaultflow/policy"
)

// heard records the calls of an OverflowPolicy's functions.
type heard struct {
	detected []llm.Class
	rewrites []rewrite.Change
	ended    []error
}

func (h *heard) policy(p rewrite.OverflowPolicy) rewrite.OverflowPolicy {
	p.Detected = func(e *llm.Error) { h.detected = append(h.detected, e.Class) }
	p.Rewriting = func(_ llm.Request, r rewrite.Change, _ cost.Usage) error {
		h.rewrites = append(h.rewrites, r)
		return nil
	}
	p.Ended = func(_ rewrite.Change, err error) { h.ended = append(h.ended, err) }
	return p
}

// wrapped is an adapter as the engine wraps it: Limit inside Retry inside Overflow.
func wrapped(server *llmtest.Server, chat bool, p rewrite.OverflowPolicy) llm.Provider {
	var adapter llm.Provider = anthropic.New(wire.Config{BaseURL: server.URL, APIKey: llmtest.Key})
	if chat {
		adapter = openai.New(wire.Config{BaseURL: server.URL + "/v1", APIKey: llmtest.Key})
	}
	return rewrite.Overflow(llm.Retry(llm.NewGate(llm.Limits{Calls: 2}).Wrap(adapter), llm.RetryPolicy{Attempts: 1}), p)
}

func pictures(c llmtest.Captured) int {
	n := 0
	for _, p := range c.Parts {
		if p.Kind() == "image" {
			n++
		}
	}
	return n
}

func said(c llmtest.Captured) string {
	var all strings.Builder
	for _, p := range c.Parts {
		all.WriteString(p.Text + "\n")
	}
	return all.String()
}

// TestOverflow_remedies shows each remedy against a service that enforces its limit: the second request differs, is taken,
// and is the last.
func TestOverflow_remedies(t *testing.T) {
	t.Parallel()
	published := policy.ProviderLimits{Provider: "lab", ManyImages: 20, ManySide: 40, MaxImages: 3}
	document := content.Document{Name: "a.pdf", MediaType: "application/pdf", Pages: 12, SHA256: strings.Repeat("a", 64), Extracted: "the words of it"}
	noisy := func(n int) content.ToolResult {
		return content.ToolResult{Output: strings.Repeat("words ", 400), Blocks: []content.Block{picture(n, 600, 600)}}
	}
	text := func(int) content.ToolResult { return content.ToolResult{Output: strings.Repeat("words ", 400)} }
	remote := picture(7, 30, 30)
	remote.Source, remote.Name = content.SourceRemote, "https://example.org/p.png"
	for _, tt := range []struct {
		name    string
		limits  llmtest.Limits
		request llm.Request
		blind   bool
		class   llm.Class
		images  int // in the second request
		lost    int
		says    string // in the second request
	}{
		{name: "sides", limits: llmtest.Limits{Side: 60}, request: prompt(album(3, 90, 40)...), class: llm.ClassImageDims, images: 3},
		{name: "sides of many pictures", limits: llmtest.Limits{Side: 100, ManyImages: 20, ManySide: 40}, request: prompt(album(22, 120, 40)...), class: llm.ClassImageDims, images: 22},
		{name: "sides, in results of tools", limits: llmtest.Limits{Side: 60}, request: talk(1, noisy), class: llm.ClassImageDims, images: 1},
		{name: "pixels", limits: llmtest.Limits{Pixels: 1_000_100}, request: prompt(album(1, 1200, 1000)...), class: llm.ClassImagePixels, images: 1},
		{name: "patches", limits: llmtest.Limits{Patches: 5}, request: prompt(album(2, 90, 90)...), class: llm.ClassImagePixels, images: 2},
		{name: "bytes of a picture", limits: llmtest.Limits{ImageBytes: 5000}, request: prompt(album(2, 90, 90)...), class: llm.ClassImageBytes, images: 2},
		{name: "number of pictures", limits: llmtest.Limits{Images: 5}, request: prompt(album(9, 20, 20)...), class: llm.ClassImageCount, images: 5, lost: 4, says: "[image: p04.png"},
		{name: "request, pictures share", limits: llmtest.Limits{Body: 200_000}, request: prompt(append(album(2, 400, 400), album(1, 60, 60)...)...), class: llm.ClassRequestBytes, images: 3},
		{name: "tokens, media of results", limits: llmtest.Limits{Tokens: 2500}, request: talk(3, noisy), class: llm.ClassContextTokens, images: 1, lost: 2, says: "artifact_ref"},
		{name: "tokens, texts of results", limits: llmtest.Limits{Tokens: 1000}, request: talk(4, text), class: llm.ClassContextTokens, says: "left out to fit"},
		{name: "tokens, media of the prompt", limits: llmtest.Limits{Tokens: 1400}, request: prompt(album(4, 600, 600)...), class: llm.ClassContextTokens, images: 2, lost: 2, says: "[image: p01.png"},
		{name: "no pictures", limits: llmtest.Limits{Without: []string{"image"}}, request: prompt(album(2, 20, 20)...), class: llm.ClassUnsupportedMedia, lost: 2, says: "[image: p02.png"},
		{name: "no documents, pages instead", limits: llmtest.Limits{Without: []string{"document"}}, request: prompt(words("read"), document), class: llm.ClassUnsupportedMedia, images: 12},
		{name: "no documents, text instead", limits: llmtest.Limits{Without: []string{"document"}}, request: prompt(words("read"), document), blind: true, class: llm.ClassUnsupportedMedia, lost: 1, says: "the words of it"},
		{name: "a kind of picture", limits: llmtest.Limits{Without: []string{"image/webp"}}, request: prompt(words("see"), content.Image{Name: "w.webp", MediaType: "image/webp", Width: 20, Height: 20}), class: llm.ClassUnsupportedMedia, images: 1},
		{name: "pages", limits: llmtest.Limits{Pages: 5}, request: prompt(words("read"), document), class: llm.ClassPDFPages, lost: 1, says: "Not shown: pages 6-12"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.NewLimited(t, llmtest.Anthropic{}, tt.limits, llmtest.Reply{Answer: llmtest.Answer{Text: "ok", Input: 100}})
			var h heard
			p := wrapped(server, false, h.policy(rewrite.OverflowPolicy{Limits: published, Vision: !tt.blind}))
			response, err := p.Generate(t.Context(), tt.request, func(string) {})
			requests := server.Requests()
			if err != nil || len(requests) != 2 {
				t.Fatalf("%d requests, %v; rewrites %+v", len(requests), err, h.rewrites)
			}
			if bytes.Equal(requests[0].Body, requests[1].Body) {
				t.Error("the second request is the first")
			}
			if n := pictures(requests[1]); n != tt.images || len(response.Omitted) != tt.lost || !strings.Contains(said(requests[1]), tt.says) {
				t.Errorf("%d pictures, lost %q, want %d and %d, and %q in\n%.2000s", n, response.Omitted, tt.images, tt.lost, tt.says, said(requests[1]))
			}
			if len(h.detected) != 1 || h.detected[0] != tt.class || len(h.rewrites) != 1 || h.rewrites[0].Class != tt.class || h.rewrites[0].How == "" || len(h.ended) != 1 || h.ended[0] != nil {
				t.Errorf("told %+v, want one rewrite of %s that succeeded", h, tt.class)
			}
		})
	}
}

// TestOverflow_staysRefused: a service that goes on refusing gets each class of remedy once, two at most, and the failure says
// what was done and what to do.
func TestOverflow_staysRefused(t *testing.T) {
	t.Parallel()
	dims := llmtest.Reply{Status: 400, Message: "exceed max allowed size: 60 pixels"}
	tokens := llmtest.Reply{Status: 400, Message: "prompt is too long: 5000 tokens > 2000 maximum"}
	count := llmtest.Reply{Status: 400, Message: "Too many images in request: 9 > 3"}
	for _, tt := range []struct {
		name     string
		replies  []llmtest.Reply
		requests int
		class    llm.Class
	}{
		{"the same again", []llmtest.Reply{dims}, 2, llm.ClassImageDims},
		{"two classes", []llmtest.Reply{dims, tokens, dims}, 3, llm.ClassImageDims},
		{"three classes", []llmtest.Reply{dims, tokens, count}, 3, llm.ClassImageCount},
		{"nothing to change", []llmtest.Reply{{Status: 400, Message: "exceed max allowed size: 8000 pixels"}}, 1, llm.ClassImageDims},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.NewServer(t, llmtest.Anthropic{}, tt.replies...)
			var h heard
			_, err := wrapped(server, false, h.policy(rewrite.OverflowPolicy{})).Generate(t.Context(), prompt(album(9, 300, 300)...), nil)
			failure, ok := llm.AsError(err)
			if !ok || failure.Class != tt.class || failure.Hint() == "" || len(server.Requests()) != tt.requests {
				t.Fatalf("%d requests, %v, want %d and %s", len(server.Requests()), err, tt.requests, tt.class)
			}
			if told := failure.Tried != ""; told != (tt.requests > 1) || told && !strings.Contains(err.Error(), failure.Tried) {
				t.Errorf("the error %q does not say what was tried: %q", err, failure.Tried)
			}
			seen := map[string]bool{}
			for _, r := range server.Requests() {
				if seen[string(r.Body)] {
					t.Error("one request was sent twice")
				}
				seen[string(r.Body)] = true
			}
			if n := len(h.ended); n != tt.requests-1 || n > 0 && h.ended[n-1] == nil {
				t.Errorf("outcomes %v", h.ended)
			}
		})
	}
}

// scripted fails as it is told, then answers.
type scripted struct {
	failures []*llm.Error
	answer   llm.Response
	asked    []llm.Request
}

func (s *scripted) Generate(_ context.Context, r llm.Request, progress func(string)) (*llm.Response, error) {
	s.asked = append(s.asked, r)
	if n := len(s.asked); n <= len(s.failures) {
		if s.failures[n-1].Partial && progress != nil {
			progress("half")
		}
		failure := *s.failures[n-1]
		return nil, &failure
	}
	answer := s.answer
	return &answer, nil
}

// TestOverflow_otherClasses: no row of real failures is rewritten but those of a class with a remedy; rate limits never are.
func TestOverflow_otherClasses(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../wire/testdata/provider_errors.tsv")
	if err != nil {
		t.Fatal(err)
	}
	helped := map[llm.Class]bool{
		llm.ClassImageDims: true, llm.ClassImagePixels: true, llm.ClassImageBytes: true, llm.ClassImageCount: true, llm.ClassMediaMismatch: true,
		llm.ClassUnsupportedMedia: true, llm.ClassContextTokens: true, llm.ClassRequestBytes: true, llm.ClassURLFetch: true, llm.ClassPDFPages: true,
		llm.ClassBoundThinking: true,
	}
	never := 0
	for _, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")[1:] {
		row := strings.Split(line, "\t")
		status, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatal(err)
		}
		class, actual, limit := wire.Classify(wire.Failure{Status: status, Code: row[2], Message: row[6]})
		if helped[class] {
			continue
		}
		p := &scripted{failures: []*llm.Error{{Class: class, Message: row[6], Actual: actual, Limit: limit}}}
		request := talk(3, func(n int) content.ToolResult {
			return content.ToolResult{Output: strings.Repeat("words ", 400), Blocks: []content.Block{picture(n, 300, 300)}}
		})
		var h heard
		_, err = rewrite.Overflow(p, h.policy(rewrite.OverflowPolicy{})).Generate(t.Context(), request, nil)
		never++
		if len(p.asked) != 1 || err == nil || len(h.detected)+len(h.rewrites) > 0 {
			t.Errorf("%s %q (%s): %d requests, %v", row[0], row[6], class, len(p.asked), err)
		}
	}
	if never < 30 {
		t.Errorf("%d rows were looked at", never)
	}
}

func TestOverflow_leavesAlone(t *testing.T) {
	t.Parallel()
	dims := llm.Error{Class: llm.ClassImageDims, Limit: 60}
	partial, unsent := dims, dims
	partial.Partial, unsent.Unsent = true, true
	for name, c := range map[string]struct {
		failure llm.Error
		policy  rewrite.OverflowPolicy
	}{
		"switched off":             {dims, rewrite.OverflowPolicy{Off: true}},
		"an answer partly given":   {partial, rewrite.OverflowPolicy{}},
		"a refusal of our own":     {unsent, rewrite.OverflowPolicy{}},
		"a caller that forbids it": {dims, rewrite.OverflowPolicy{Rewriting: func(llm.Request, rewrite.Change, cost.Usage) error { return errForbidden }}},
	} {
		p := &scripted{failures: []*llm.Error{&c.failure}}
		_, err := rewrite.Overflow(p, c.policy).Generate(t.Context(), prompt(album(2, 300, 300)...), func(string) {})
		if err == nil || len(p.asked) != 1 {
			t.Errorf("%s: %d requests, %v", name, len(p.asked), err)
		}
		if c.policy.Rewriting != nil && !errors.Is(err, errForbidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var errForbidden = errors.New("too dear")

func TestOverflow_silent(t *testing.T) {
	t.Parallel()
	request := prompt(album(4, 300, 300)...)
	request.ContextWindow = 600
	for name, progress := range map[string]func(string){"unseen": nil, "seen": func(string) {}} {
		p := &scripted{answer: llm.Response{Text: "invented", Usage: cost.Usage{InputTokens: 800, OutputTokens: 5, CostUSD: 1}}}
		_, err := rewrite.Overflow(p, rewrite.OverflowPolicy{}).Generate(t.Context(), request, progress)
		failure, ok := llm.AsError(err)
		if !ok || failure.Class != llm.ClassContextTokens || failure.Limit != 600 || len(p.asked) != 2 || failure.Usage.InputTokens != 1600 || failure.Usage.CostUSD != 2 {
			t.Errorf("%s: %d requests, %v, %+v", name, len(p.asked), err, failure)
		}
	}
	server := llmtest.NewServer(t, llmtest.OpenAI{}, llmtest.Reply{Answer: llmtest.Answer{Text: "half read", Input: 800, Output: 1}})
	_, err := wrapped(server, true, rewrite.OverflowPolicy{}).Generate(t.Context(), request, func(string) {})
	if failure, ok := llm.AsError(err); !ok || !failure.Partial || len(server.Requests()) != 1 {
		t.Errorf("an answer that was shown: %v after %d requests", err, len(server.Requests()))
	}
}

func TestOverflow_sumsUsage(t *testing.T) {
	t.Parallel()
	p := &scripted{
		failures: []*llm.Error{{Class: llm.ClassImageDims, Limit: 60, Usage: cost.Usage{InputTokens: 10, CostUSD: 1}}},
		answer:   llm.Response{Text: "ok", Usage: cost.Usage{InputTokens: 20, OutputTokens: 3, CostUSD: 2}},
	}
	got, err := rewrite.Overflow(p, rewrite.OverflowPolicy{}).Generate(t.Context(), prompt(album(2, 300, 300)...), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(cost.Usage{InputTokens: 30, OutputTokens: 3, CostUSD: 3}, got.Usage); diff != "" {
		t.Error(diff)
	}
}

func TestOverflow_fetchesWhatTheServiceCannot(t *testing.T) {
	t.Parallel()
	remote := content.Image{Name: "https://example.org/p.png", Source: content.SourceRemote, Width: 20, Height: 20}
	denied := content.Image{Name: "https://other.example/p.png", Source: content.SourceRemote}
	p := &scripted{failures: []*llm.Error{{Class: llm.ClassURLFetch}}, answer: llm.Response{Text: "ok"}}
	got, err := rewrite.Overflow(p, rewrite.OverflowPolicy{Inline: func(_ context.Context, i content.Image) (content.Image, error) {
		if i.Name != remote.Name {
			return i, errForbidden
		}
		return content.Image{Name: i.Name, Source: content.SourceBlob, SHA256: strings.Repeat("b", 64)}, nil
	}}).Generate(t.Context(), prompt(remote, denied), nil)
	if err != nil || len(p.asked) != 2 {
		t.Fatalf("%d requests, %v", len(p.asked), err)
	}
	blocks := p.asked[1].Messages[0].Blocks
	if first, ok := blocks[0].(content.Image); !ok || first.Source != content.SourceBlob || blocks[1].Type() != content.TypeText {
		t.Errorf("blocks %+v", blocks)
	}
	if diff := cmp.Diff([]string{denied.Name}, got.Omitted); diff != "" {
		t.Error(diff)
	}
}

// TestOverflow_withoutScales: where pictures cannot be made to fit, those that do not go as text.
func TestOverflow_withoutScales(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]llmtest.Limits{"sides": {Side: 60}, "request": {Body: 250_000}} {
		server := llmtest.NewLimited(t, llmtest.Anthropic{}, limits, llmtest.Reply{Answer: llmtest.Answer{Text: "ok"}})
		request := prompt(append(album(1, 400, 400), album(1, 50, 50)...)...)
		request.Media = llmtest.Studio{NoScales: true}
		got, err := wrapped(server, false, rewrite.OverflowPolicy{}).Generate(t.Context(), request, nil)
		if name == "request" {
			request.Messages[0].Blocks[1] = picture(1, 500, 500)
			got, err = wrapped(server, false, rewrite.OverflowPolicy{}).Generate(t.Context(), request, nil)
		}
		if err != nil || len(got.Omitted) != 1 {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
	}
}
