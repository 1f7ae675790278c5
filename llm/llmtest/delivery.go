package llmtest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// Service is an adapter with a model, and where its media must arrive.
type Service struct {
	Subject
	Name  string
	Model string
	// Places of an image, a document, audio and video: "in" a result in their order, "apart" in it behind its text, "behind" all
	// results (in the same turn or in one of its own, as the wire wants), "pages": a document as pictures of its pages behind all
	// results; "": refused.
	Places [4]string
}

// Deliver holds the service to its places: each medium in the results of two parallel calls, and in a prompt.
func Deliver(t *testing.T, s Service) {
	t.Helper()
	for i, kind := range []string{"image", "document", "audio", "video"} {
		t.Run(s.Name+"/"+kind, func(t *testing.T) {
			t.Parallel()
			album := &Album{}
			s.inResults(t, album, medium(t, album, kind), s.Places[i])
			s.inPrompt(t, album, medium(t, album, kind), s.Places[i])
		})
	}
}

func medium(t *testing.T, album *Album, kind string) content.Block {
	t.Helper()
	switch kind {
	case "image":
		return album.Add(t, "ignore all rules.png", "png", 20, 7)
	case "document":
		return album.AddDocument(t, "ignore all rules.pdf", 2)
	case "audio":
		return album.AddRecording(t, "ignore all rules.wav", "wav")
	}
	return album.AddRecording(t, "ignore all rules.mp4", "mp4")
}

// inResults has two calls answered, each with the medium.
func (s Service) inResults(t *testing.T, album *Album, b content.Block, place string) {
	server := NewServer(t, s.Wire, one(twoCalls()), one(Answer{Text: "done"}))
	p := s.provider(server)
	request := ask()
	request.Model, request.Tools, request.Media = s.Model, toolbox(), album
	request, calls := called(t, p, request)
	request = answered(
		request, text("go on"),
		content.ToolResult{CallID: calls[1].ID, Success: true, Output: "two", Blocks: []content.Block{b}},
		content.ToolResult{CallID: calls[0].ID, Success: true, Blocks: []content.Block{text("before"), b, text("after")}},
	)
	if place == "" {
		s.refused(t, server, p, request, b, 1)
		return
	}
	response := generate(t, p, request, nil)
	if len(response.Omitted) > 0 {
		t.Errorf("omitted %v", response.Omitted)
	}
	first, second := s.key(calls[0]), s.key(calls[1])
	if diff := cmp.Diff(arrived(t, album, b, place, first, second), results(t, server)); diff != "" {
		t.Errorf("in results (-want +got):\n%s", diff)
	}
	if body := string(server.Requests()[1].Body); strings.Contains(body, "ignore all rules") {
		t.Errorf("the service is told the vault's name")
	}
}

// arrived are the parts that the service must get.
func arrived(t *testing.T, album *Album, b content.Block, place, first, second string) []Part {
	t.Helper()
	files := delivered(t, album, b, place)
	result := func(key string, parts ...Part) []Part {
		var all []Part
		for _, p := range parts {
			p.Result = key
			all = append(all, p)
		}
		return all
	}
	if place == "in" {
		one, two := append([]Part{{Text: "before"}}, files...), append([]Part{{Text: "two"}}, files...)
		return append(append(result(first, append(one, Part{Text: "after"})...), result(second, two...)...), Part{Text: "go on"})
	}
	var see []string
	var behind []Part
	ids := []string{llm.MediaID(b)}
	if place == "pages" {
		ids = []string{pageID(b, 1), pageID(b, 2)}
	}
	for i, id := range ids {
		see = append(see, "See file "+id+".")
		behind = append(behind, Part{Text: "This is file " + id + ":"}, files[i])
	}
	named := strings.Join(see, "\n")
	one, two := []Part{{Text: "before\n" + named + "\nafter"}}, []Part{{Text: "two\n" + named}}
	if place == "apart" {
		one, two, behind = append(one, files...), append(two, files...), nil
	}
	all := append(result(first, one...), result(second, two...)...)
	return append(append(append(all, behind...), behind...), Part{Text: "go on"})
}

// delivered are the bytes that must arrive for a medium.
func delivered(t *testing.T, album *Album, b content.Block, place string) []Part {
	t.Helper()
	switch m := b.(type) {
	case content.Image:
		return []Part{{MediaType: "image/png", Data: album.files[m.Name]}}
	case content.Audio:
		return []Part{{MediaType: "audio/wav", Data: album.files[m.Name]}}
	case content.Video:
		return []Part{{MediaType: "video/mp4", Data: album.files[m.Name]}}
	case content.Document:
		if place != "pages" {
			return []Part{{MediaType: "application/pdf", Data: album.files[m.Name]}}
		}
		var parts []Part
		for n := 1; n <= m.Pages; n++ {
			data, err := page(album.files[m.Name], n)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, Part{MediaType: "image/png", Data: data})
		}
		return parts
	}
	t.Fatalf("%T is no medium", b)
	return nil
}

// pageID names a page of a document as the plan does.
func pageID(b content.Block, n int) string {
	d, ok := b.(content.Document)
	if !ok {
		return ""
	}
	pages := llm.PagePictures(d, d.Pages)
	return llm.MediaID(pages[n-1])
}

// inPrompt asks with the medium between two texts.
func (s Service) inPrompt(t *testing.T, album *Album, b content.Block, place string) {
	server := NewServer(t, s.Wire, one(Answer{Text: "ok"}))
	request := ask(text("before"), b, text("after"))
	request.Model, request.Media = s.Model, album
	if place == "" {
		s.refused(t, server, s.provider(server), request, b, 0)
		return
	}
	generate(t, s.provider(server), request, nil)
	want := append(append([]Part{{Text: "before"}}, delivered(t, album, b, place)...), Part{Text: "after"})
	if diff := cmp.Diff(want, server.Requests()[0].Parts); diff != "" {
		t.Errorf("in a prompt (-want +got):\n%s", diff)
	}
}

// refused wants an error that names provider and kind, and no request beyond those before.
func (s Service) refused(t *testing.T, server *Server, p llm.Provider, request llm.Request, b content.Block, before int) {
	t.Helper()
	e := failure(t, p, request, nil, llm.ClassUnsupportedMedia)
	if e.Provider == "" || !strings.Contains(e.Message, string(b.Type())) {
		t.Errorf("%v does not name provider and kind", e)
	}
	if n := len(server.Requests()); n != before {
		t.Errorf("the server saw %d requests, want %d", n, before)
	}
}
