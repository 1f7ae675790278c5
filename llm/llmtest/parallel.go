package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// signature is what a server signs the reasoning of an answer with: base64 of bytes that need all its letters.
func (a Answer) signature() string { return Signature(a.turn) }

// Signature is that of a server's answer, counted from 1.
func Signature(turn int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "\xfb\xef\xbe\xff signed %d <&>", turn))
}

// toolPictures has three calls answered at once, each with a picture: results stand in the order of the calls, none is
// torn from the others, and each picture is told from the others.
func toolPictures(t *testing.T, s Subject) {
	album := &Album{}
	server := NewServer(t, s.Wire, one(Answer{Thinking: "three", ToolCalls: []ToolCall{{Name: "list"}, {Name: "read_chunks"}, {Name: "list", Input: `{"n":3}`}}}), one(Answer{Text: "done"}))
	p := s.provider(server)
	request := ask()
	request.Tools, request.Media = toolbox(), album
	request, calls := called(t, p, request)
	if len(calls) != 3 {
		t.Fatalf("%d calls, want three", len(calls))
	}
	var given []content.Block
	var inside, named, behind []Part
	for i, c := range calls {
		said := fmt.Sprintf("picture %d", i)
		picture := album.Add(t, fmt.Sprintf("p%d.png", i), "png", 20+i, uint8(50*i))
		given = append(given, content.ToolResult{CallID: c.ID, Success: true, Output: said, Blocks: []content.Block{picture}})
		data, id := album.files[picture.Name], llm.MediaID(picture)
		see := Part{Text: said + "\nSee file " + id + ".", Result: s.key(c)}
		shown := Part{MediaType: "image/png", Data: data, Result: s.key(c)}
		inside = append(inside, Part{Text: said, Result: s.key(c)}, shown)
		named = append(named, see)
		if s.MediaBeside {
			named = append(named, shown)
		}
		behind = append(behind, Part{Text: "This is file " + id + ":"}, Part{MediaType: "image/png", Data: data})
	}
	request = answered(request, given[2], given[0], given[1])
	generate(t, p, request, nil)
	want := append(named, behind...)
	switch {
	case s.MediaInResults, s.DocumentBeside:
		want = inside
	case s.MediaBeside:
		want = named
	}
	if diff := cmp.Diff(want, results(t, server)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// toolThoughts goes three turns of reasoning and calls with a model, and then to another. To the one that reasoned every
// turn goes back byte for byte, signatures and closed blocks with it; the other gets words and calls alone.
func toolThoughts(t *testing.T, s Subject) {
	replies := []Reply{}
	for i := range 3 {
		replies = append(replies, one(Answer{Thinking: fmt.Sprintf("why <&é> %d", i), Redacted: s.Redacts && i == 1, Text: fmt.Sprintf("step %d", i), ToolCalls: []ToolCall{{Name: "list", Input: fmt.Sprintf(`{"n":%d}`, i)}, {Name: "read_chunks"}}}))
	}
	server := NewServer(t, s.Wire, append(replies, one(Answer{Text: "done"}))...)
	p := s.provider(server)
	request := ask()
	request.Tools = toolbox()
	var turns []string
	for i := range 3 {
		var calls []content.ToolCall
		request, calls = called(t, p, request)
		turns = append(turns, s.turn(t, request.Messages[len(request.Messages)-1].Raw))
		request = answered(request, content.ToolResult{CallID: calls[0].ID, Success: true, Output: "a"}, content.ToolResult{CallID: calls[1].ID, Success: true, Output: fmt.Sprint(i)})
	}
	generate(t, p, request, nil)
	body := string(server.Requests()[3].Body)
	for i, turn := range turns {
		if !strings.Contains(body, turn) {
			t.Errorf("turn %d did not go back unchanged:\nturn %s\nbody %s", i+1, turn, body)
		}
		if s.Signed && !strings.Contains(turn, Signature(i+1)) {
			t.Errorf("turn %d lost its signature: %s", i+1, turn)
		}
	}
	if s.Redacts && !strings.Contains(turns[1], Signature(-2)) {
		t.Errorf("the closed block is lost: %s", turns[1])
	}
	request.Model = "other-model"
	generate(t, p, request, nil)
	body = string(server.Requests()[4].Body)
	for i := range 3 {
		if strings.Contains(body, Signature(i+1)) || strings.Contains(body, Signature(-i-1)) || strings.Contains(body, "why ") {
			t.Errorf("another model gets the reasoning of turn %d: %s", i+1, body)
		}
		if !strings.Contains(body, fmt.Sprintf("step %d", i)) {
			t.Errorf("another model misses the words of turn %d: %s", i+1, body)
		}
	}
}

// turn is a turn as it stands in a request.
func (s Subject) turn(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var packed struct {
		Turn json.RawMessage `json:"turn"`
	}
	if err := json.Unmarshal(raw, &packed); err != nil || len(packed.Turn) < 2 {
		t.Fatalf("raw %s: %v", raw, err)
	}
	if s.TurnsAreItems { // they stand in the list of all items
		return string(packed.Turn[1 : len(packed.Turn)-1])
	}
	return string(packed.Turn)
}
