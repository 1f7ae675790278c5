package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// shelf loads documents, and no picture.
type shelf func(content.Document) ([]byte, error)

func (s shelf) Load(_ context.Context, medium content.Block) ([]byte, string, error) {
	d, ok := medium.(content.Document)
	if !ok {
		return nil, "", errors.ErrUnsupported
	}
	data, err := s(d)
	return data, "text/plain", err
}

func (shelf) Fit(llm.PictureLimits) (llm.Loader, error) { return nil, errors.ErrUnsupported }

func documentForm() Form {
	form := plainForm
	form.Documents = []string{"application/pdf"}
	form.FrameDocument = func(kind, id string) (string, string) {
		return `{"kind":"` + kind + `","id":"` + id + `","data":"`, `"}`
	}
	return form
}

func TestBody_documentsAreLoadedOneAtATime(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	read := 0
	var loadedAt []int
	drawing := NewDrawing(shelf(func(content.Document) ([]byte, error) {
		loadedAt = append(loadedAt, read)
		return append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte{7}, size)...), nil
	}), documentForm())
	first, _ := drawing.Media(content.Document{Name: "1"})
	second, _ := drawing.Media(content.Document{Name: "2"})
	body, err := drawing.Body([]any{first, "between", second})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a repeated request loads them anew
		read, loadedAt = 0, nil
		reader := body.open(t.Context())
		var all bytes.Buffer
		buf := make([]byte, 8<<10)
		for err = nil; err == nil; {
			var n int
			n, err = reader.Read(buf)
			read += n
			all.Write(buf[:n])
		}
		if !errors.Is(err, io.EOF) || len(loadedAt) != 2 || loadedAt[1] < size*4/3 {
			t.Fatalf("error %v, loaded at %v: want the second after all of the first", err, loadedAt)
		}
		var got []any
		if err := json.Unmarshal(all.Bytes(), &got); err != nil || got[1] != "between" || got[0].(map[string]any)["kind"] != "application/pdf" {
			t.Fatalf("%v in %.200s", err, all.String())
		}
	}
}

func TestBody_documentThatIsNone(t *testing.T) {
	t.Parallel()
	document := content.Document{Name: "a.pdf", Extracted: "words"}
	for name, loader := range map[string]llm.Loader{
		"other bytes":         shelf(func(content.Document) ([]byte, error) { return []byte("<html>"), nil }),
		"gone":                shelf(func(content.Document) ([]byte, error) { return nil, errors.New("gone") }),
		"a loader of images":  loaderFunc(func(string) ([]byte, error) { return gifOf(1), nil }),
		"no loader of either": nil,
	} {
		drawing := NewDrawing(loader, documentForm())
		value, _ := drawing.Media(document)
		body, err := drawing.Body([]any{value})
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(body.open(t.Context()))
		if err != nil || string(data) != `[{"text":"words"}]` || len(body.Omitted()) != 1 {
			t.Errorf("%s: %v, %s, omitted %v", name, err, data, body.Omitted())
		}
	}
}

func TestBody_documentsHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	drawing := NewDrawing(shelf(func(content.Document) ([]byte, error) { return []byte("%PDF-1.7\n"), nil }), documentForm())
	same, other := content.Document{Name: "1"}, content.Document{Name: "2"}
	var parts []any
	for _, d := range []content.Document{same, other, same, same} {
		part, _ := drawing.Media(d)
		parts = append(parts, part)
	}
	body, err := drawing.Body(parts)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the names are those of the request, however often it is written
		var sent []struct{ ID string }
		if err := json.NewDecoder(body.open(t.Context())).Decode(&sent); err != nil {
			t.Fatal(err)
		}
		a, b := llm.MediaID(same), llm.MediaID(other)
		for i, want := range []string{a, b, a + "-2", a + "-3"} {
			if sent[i].ID != want {
				t.Errorf("document %d is called %q, want %q", i+1, sent[i].ID, want)
			}
		}
	}
}
