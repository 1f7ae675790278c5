package llmtest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

func text(s string) content.Text { return content.Text{Value: s} }

// order is the acceptance of the house: text, image, text, image, text, image, text, marker.
func order(t *testing.T, s Subject) {
	album := &Album{}
	blocks := []content.Block{
		text("before\n"), album.Add(t, "Pasted image 1.png", "png", 32, 10), text("| a | table |\n"), album.Add(t, "my pic.png", "jpeg", 40, 90),
		text("```\n![[x.png]]\n```\n"), album.Add(t, "ref.png", "png", 24, 200), text("after\n"), text("[image 1 again: Pasted image 1.png]"),
	}
	server := NewServer(t, s.Wire, one(Answer{Deltas: []string{"ok"}}))
	request := ask(blocks...)
	request.Media = album
	response := generate(t, s.provider(server), request, nil)
	if len(response.Omitted) > 0 {
		t.Errorf("omitted %v, want none", response.Omitted)
	}
	var want []Part
	for _, b := range blocks {
		switch b := b.(type) {
		case content.Text:
			want = append(want, Part{Text: b.Value})
		case content.Image:
			kind := "image/png"
			if b.Name == "my pic.png" {
				kind = "image/jpeg"
			}
			want = append(want, Part{MediaType: kind, Data: album.files[b.Name]})
		}
	}
	if diff := cmp.Diff(want, server.Requests()[0].Parts); diff != "" {
		t.Errorf("parts on the wire (-want +got):\n%s", diff)
	}
	if want := []string{"Pasted image 1.png", "my pic.png", "ref.png"}; !slices.Equal(album.asked, want) {
		t.Errorf("asked for %v, want %v, each once and in order", album.asked, want)
	}
}

func blanks(t *testing.T, s Subject) {
	album := &Album{}
	server := NewServer(t, s.Wire, one(Answer{Deltas: []string{"ok"}}))
	request := ask(album.Add(t, "a.png", "png", 20, 1), text("\n\n"), album.Add(t, "b.png", "png", 20, 2), text(""), content.Thinking{Value: "hm"}, text("end"))
	request.Media = album
	generate(t, s.provider(server), request, nil)
	if got, want := kinds(server), []string{"image", "image", "text"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func kinds(server *Server) []string {
	var all []string
	for _, p := range server.Requests()[0].Parts {
		all = append(all, p.Kind())
	}
	return all
}

func sniffed(t *testing.T, s Subject) {
	album := &Album{}
	for i, format := range []string{"png", "jpeg"} {
		server := NewServer(t, s.Wire, one(Answer{Deltas: []string{"ok"}}))
		request := ask(album.Add(t, "says.webp", format, 30, uint8(i)))
		request.Media = album
		generate(t, s.provider(server), request, nil)
		if got, want := server.Requests()[0].Parts[0].MediaType, "image/"+format; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func vanished(t *testing.T, s Subject) {
	album := &Album{}
	there := album.Add(t, "there.png", "png", 20, 3)
	gone := content.Image{Name: "gone.png", Width: 640, Height: 480, Size: 25_600, MediaType: "image/png"}
	spoken := content.Image{Name: "spoken.png", Fallback: "Total: <12> & \"more\""}
	server := NewServer(t, s.Wire, Reply{Status: 503, Message: "wait"}, one(Answer{Deltas: []string{"ok"}}))
	request := ask(text("a"), gone, text("b"), there, spoken)
	request.Media = album
	response := generate(t, llm.Retry(s.provider(server), patient(nil)), request, nil)
	want := []Part{
		{Text: "a"},
		{Text: "[image: gone.png, 640x480, 25 KB, png]"},
		{Text: "b"},
		{MediaType: "image/png", Data: album.files["there.png"]},
		{Text: spoken.Fallback},
	}
	for i, captured := range server.Requests() {
		if diff := cmp.Diff(want, captured.Parts); diff != "" {
			t.Errorf("attempt %d (-want +got):\n%s", i+1, diff)
		}
	}
	if want := []string{"gone.png", "spoken.png"}; !slices.Equal(response.Omitted, want) {
		t.Errorf("omitted %v, want %v", response.Omitted, want)
	}
}

func unaccepted(t *testing.T, s Subject) {
	album := &Album{}
	server := NewServer(t, s.Wire, one(Answer{Deltas: []string{"ok"}}))
	request := ask(text("look"), album.Add(t, "page.png", "<html>not a picture</html>", 9, 0))
	request.Media = album
	response := generate(t, s.provider(server), request, nil)
	if want := []string{"page.png"}; !slices.Equal(response.Omitted, want) {
		t.Errorf("omitted %v, want %v", response.Omitted, want)
	}
	if got, want := kinds(server), []string{"text", "text"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func noLoader(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, one(Answer{Deltas: []string{"ok"}}))
	response := generate(t, s.provider(server), ask(content.Image{Name: "a.png"}), nil)
	if want := []string{"a.png"}; !slices.Equal(response.Omitted, want) {
		t.Errorf("omitted %v, want %v", response.Omitted, want)
	}
}

func nothing(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire)
	failure(t, s.provider(server), ask(text(" \n")), nil, llm.ClassParameter)
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests were sent, want none", n)
	}
}

// options sends every option; the server refuses those that do not fit the dialect.
func options(t *testing.T, s Subject) {
	warm := 0.5
	for _, r := range []llm.Request{
		{MaxOutputTokens: 321, Temperature: &warm, ContextWindow: 8192},
		{Thinking: "low"},
		{Thinking: "high", Temperature: &warm, MaxOutputTokens: 100},
		{Thinking: "2048"},
		{Thinking: "off"},
	} {
		server := NewServer(t, s.Wire, one(Answer{Deltas: []string{"ok"}}))
		r.Model, r.Messages = "test-model", ask().Messages
		generate(t, s.provider(server), r, nil)
		body := string(server.Requests()[0].Body)
		if r.MaxOutputTokens == 321 && !strings.Contains(body, ":321") {
			t.Errorf("the bound of the answer is missing: %s", body)
		}
		if !json.Valid([]byte(body)) {
			t.Errorf("not JSON: %s", body)
		}
	}
}

func echo(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, one(Answer{Thinking: "hm", Deltas: []string{"first ", "answer"}, Output: 3}))
	p := s.provider(server)
	request := ask()
	first := generate(t, p, request, nil)
	request.Messages = append(request.Messages, llm.Message{Role: llm.Assistant, Blocks: first.Blocks, Raw: first.Raw}, ask(text("and now?")).Messages[0])
	generate(t, p, request, nil)
	var packed struct {
		Turn json.RawMessage `json:"turn"`
	}
	if err := json.Unmarshal(first.Raw, &packed); err != nil {
		t.Fatalf("raw %s: %v", first.Raw, err)
	}
	if !bytes.Contains(packed.Turn, []byte("first answer")) || !s.NoThoughts && !bytes.Contains(packed.Turn, []byte(`"hm"`)) {
		t.Errorf("the raw turn lost a piece: %s", packed.Turn)
	}
	turn := packed.Turn
	if s.TurnsAreItems { // they stand in the list of all items
		turn = turn[1 : len(turn)-1]
	}
	if body := server.Requests()[1].Body; !bytes.Contains(body, turn) {
		t.Errorf("the turn did not go back unchanged:\nturn %s\nbody %s", packed.Turn, body)
	}
}

func foreignEcho(t *testing.T, s Subject) {
	server := NewServer(t, s.Wire, one(Answer{Thinking: "hm", Deltas: []string{"said"}}))
	p := s.provider(server)
	request := ask()
	first := generate(t, p, request, nil)
	request.Model = "other-model"
	request.Messages = append(request.Messages, llm.Message{Role: llm.Assistant, Blocks: first.Blocks, Raw: first.Raw}, ask().Messages[0])
	generate(t, p, request, nil)
	body := string(server.Requests()[1].Body)
	if !strings.Contains(body, "said") || strings.Contains(body, `"hm"`) {
		t.Errorf("want the text without the reasoning: %s", body)
	}
}
