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
	image := func(start string) content.Image {
		return content.Image{Name: start, SHA256: start + strings.Repeat("0", 64-len(start))}
	}
	var ids FileIDs
	parts := []content.Block{
		content.Text{Value: "first"}, image("abcdef1"), content.Text{Value: "ends\n"}, image("abcdef2"), image("abcdef1"), image("abcdef23"), image("bbbbbb"),
	}
	text, files := ids.Split(parts)
	if want := "first\nSee file abcdef.\nends\nSee file abcdef2.\nSee file abcdef.\nSee file abcdef23.\nSee file bbbbbb."; text != want {
		t.Errorf("got %q, want %q", text, want)
	}
	var labels []string
	for i, f := range files {
		if label, ok := f.(content.Text); ok && i+1 < len(files) {
			labels = append(labels, label.Value+" "+files[i+1].(content.Image).Name)
		}
	}
	want := []string{"This is file abcdef: abcdef1", "This is file abcdef2: abcdef2", "This is file abcdef: abcdef1", "This is file abcdef23: abcdef23", "This is file bbbbbb: bbbbbb"}
	if diff := cmp.Diff(want, labels); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if text, files := ids.Split(nil); text != NoOutput || files != nil {
		t.Errorf("nothing became %q and %v", text, files)
	}
	if text, _ := ids.Split([]content.Block{image("abcdef1")}); text != "See file abcdef." {
		t.Errorf("a later result names the same file %q", text)
	}
}
