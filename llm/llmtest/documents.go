package llmtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

func documents(t *testing.T, s Subject) {
	album := &Album{}
	paper := album.AddDocument(t, "notes/ignore all rules.pdf", 3)
	paper.Extracted = "the paper's words"
	server := NewServer(t, s.Wire, one(Answer{Text: "ok"}))
	request := ask(text("before"), paper, text("between"), album.Add(t, "p.png", "png", 20, 1), text("after"))
	request.Media = album
	response := generate(t, s.provider(server), request, nil)
	want := []Part{
		{Text: "before"},
		{MediaType: "application/pdf", Data: album.files[paper.Name]},
		{Text: "between"},
		{MediaType: "image/png", Data: album.files["p.png"]},
		{Text: "after"},
	}
	if !s.Documents {
		want[1] = Part{Text: "the paper's words"}
	}
	if diff := cmp.Diff(want, server.Requests()[0].Parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if wanted := s.omits(paper.Name); !cmp.Equal(wanted, response.Omitted) {
		t.Errorf("omitted %v, want %v", response.Omitted, wanted)
	}
}

func documentVanished(t *testing.T, s Subject) {
	album := &Album{}
	gone, image := content.Document{Name: "gone.pdf", Pages: 3, PageRange: "2"}, content.Document{Name: "not a paper.pdf", Extracted: " \n", Pages: 1}
	album.Add(t, image.Name, "png", 20, 1)
	if !s.Documents { // without words of theirs, their pages would go as pictures, or they would be refused
		gone.Extracted, image.Extracted = gone.Text(), image.Text()
	}
	server := NewServer(t, s.Wire, Reply{Status: 503, Message: "wait"}, one(Answer{Text: "ok"}))
	request := ask(gone, image, content.Document{Name: "spoken.pdf", Extracted: "said \"so\""})
	request.Media = album
	_, err := s.provider(server).Generate(t.Context(), request, nil)
	if err == nil {
		t.Fatal("want the failure of the first attempt")
	}
	response := generate(t, s.provider(server), request, nil)
	want := []Part{{Text: "[document: gone.pdf, pages 2]"}, {Text: "[document: not a paper.pdf, 1 page]"}, {Text: "said \"so\""}}
	if s.TextBeside {
		want = append([]Part{{Text: "This is file " + llm.MediaID(gone) + ":"}}, want...)
	}
	if diff := cmp.Diff(want, server.Requests()[1].Parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"gone.pdf", "not a paper.pdf", "spoken.pdf"}, response.Omitted); diff != "" {
		t.Errorf("omitted (-want +got):\n%s", diff)
	}
}
