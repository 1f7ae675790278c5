package ingestion

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// `keep_original: delete` deletes what was read, and nothing else: each note says that its original is there, and it is.
func TestImport_deletesOnlyWhatItRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, data string
		damage     func(p *extract.Page)
	}{
		"unknown":      {file: "rare.xyz", data: "\x00\x01\x02\xfe\xff\x00rest"},
		"archive":      {file: "old.7z", data: "7z\xbc\xaf\x27\x1c\x00\x04rest"},
		"recording":    {file: "talk.mp3", data: "ID3\x03\x00\x00\x00\x00\x00\x00" + strings.Repeat("\xff\xfb\x90\x00"+strings.Repeat("\x00", 413), 20)},
		"lost page":    {file: "q3.pdf", data: string(pdfBytes), damage: func(p *extract.Page) { p.Lost = "its end is missing" }},
		"doubtful":     {file: "q3.pdf", data: string(pdfBytes), damage: func(p *extract.Page) { p.Text.Doubts = []doubt.Doubt{{Code: doubt.Order, Words: "columns"}} }},
		"several left": {file: "some.zip", data: string(zipFiles(t, packedFile{name: "a.txt", data: "words"}, packedFile{name: "../b.txt", data: "more"}))},
	} {
		for _, hold := range []bool{false, true} {
			t.Run(fmt.Sprint(name, hold), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, report)
				b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
					p := goodPage(r)
					if r.N == 2 && c.damage != nil && p.Text != nil {
						c.damage(&p)
					}
					return p, nil
				}
				j := b.drop("imp-1", "Import/"+c.file, []byte(c.data))
				j.Settings.KeepOriginal, j.Settings.Hold = config.KeepNot, hold
				made, filed := b.mustRun(j)
				if hold {
					if _, _, err := b.im.PutAway(t.Context(), j, Ending{State: StateDone, Bundle: made.Bundle}); err != nil {
						t.Fatal(err)
					}
				}
				if want := made.Bundle + "/" + c.file; filed.Name != want || b.read(want) != c.data {
					t.Errorf("filed %+v, want %s", filed, want)
				}
				again := b.drop("imp-2", "Import/"+c.file, []byte(c.data))
				again.Settings.KeepOriginal = config.KeepNot
				if b.mustRun(again); b.read(made.Bundle+"/"+c.file) != c.data {
					t.Error("the same file, dropped again, deleted it")
				}
			})
		}
	}
}
