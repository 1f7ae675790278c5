package doubt_test

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
)

// A worker that lies can neither flood a page with doubts nor write into the note or a prompt.
func TestClean_limitsWhatAWorkerSends(t *testing.T) {
	t.Parallel()
	sent := []doubt.Doubt{
		{Code: "table", Words: "a row\n## Page 9\n[[x]] <b> `rm` | 40 %"},
		{Code: "Table!", Words: "no code"},
		{Code: "order", Words: " \x00\u202e"},
		{Code: "order", Words: strings.Repeat("ä", 500)},
		{Code: "table", Words: "a row\n## Page 9\n[[x]] <b> `rm` | 40 %"},
	}
	for range 50 {
		sent = append(sent, doubt.Doubt{Code: "order", Words: strings.Repeat("x", len(sent))})
	}
	got := doubt.Clean(sent)
	if len(got) != 4 || got[0].Words != "a row Page 9 x b rm 40 %" || got[1].Code != "order" {
		t.Errorf("got %+v", got)
	}
	for _, d := range got {
		if len(d.Words) > 200 || strings.ToValidUTF8(d.Words, "!") != d.Words {
			t.Errorf("%d bytes: %q", len(d.Words), d.Words)
		}
	}
}
