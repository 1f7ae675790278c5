package ingestion

import (
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/config"
)

func TestPageLinks(t *testing.T) {
	t.Parallel()
	w := pageFiles{w: &work{set: config.Settings{Asked: config.Asked{Pages: "1-3"}}}}
	got := w.pageLinks(`See [page \[two\]](#^p2), [page nine](#^p9), [a site](https://e.org) and [x](../assets/a.png).`)
	if want := `See [page \[two\]](#^p2), page nine, [a site](https://e.org) and [x](../assets/a.png).`; got != want {
		t.Errorf("in the page's file:\n%s\nwant\n%s", got, want)
	}
}
