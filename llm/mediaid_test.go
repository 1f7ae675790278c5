package llm

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
)

func TestMediaID_tellsContentsApart(t *testing.T) {
	t.Parallel()
	digest := strings.Repeat("0123456789ABCDEF", 4)
	seen := map[string]content.Block{}
	for _, b := range []content.Block{
		content.Image{Name: "a.png", SHA256: digest},
		content.Image{Name: "a.pdf", SHA256: digest, Source: content.SourcePage, Page: 1},
		content.Image{Name: "a.pdf", SHA256: digest, Source: content.SourcePage, Page: 2},
		content.Image{Name: "a.pdf", SHA256: digest, Source: content.SourcePage, Page: 2, Rect: &content.Rect{X2: 3, Y2: 4}},
		content.Document{Name: "a.pdf", SHA256: digest, PageRange: "1-2"},
		content.Image{Name: "unknown digest.png"},
	} {
		id := MediaID(b)
		if other, taken := seen[id]; taken || len(id) != 6 || strings.Trim(id, "0123456789abcdef") != "" {
			t.Errorf("%+v has the id %q, as %+v has", b, id, other)
		}
		seen[id] = b
	}
	if got := MediaID(content.Document{Name: "other name.pdf", SHA256: digest}); got != "012345" {
		t.Errorf("got %q, want the beginning of the digest, whatever the name", got)
	}
}

func TestFileIDs_collisionsAreWidened(t *testing.T) {
	t.Parallel()
	var ids fileIDs
	var got []string
	for _, start := range []string{"abcdef1", "abcdef2", "abcdef1", "abcdef23", "bbbbbb"} {
		got = append(got, ids.id(content.Image{Name: start, SHA256: start + strings.Repeat("0", 64-len(start))}))
	}
	if diff := cmp.Diff([]string{"abcdef", "abcdef2", "abcdef", "abcdef23", "bbbbbb"}, got); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}
