package engine_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure/omission"
)

func TestOmissionLines(t *testing.T) {
	t.Parallel()
	var list []engine.Omission
	for page := 21; page <= 40; page++ {
		list = append(list, engine.Omission{File: "B/index.md", Page: page, Step: "text", Reason: "max_images 20 reached"})
	}
	for page := 41; page <= 600; page++ { // its text and its picture
		list = append(list, engine.Omission{File: "B/index.md", Page: page, Step: "range", Reason: "max_pages 20 reached"},
			engine.Omission{File: "B/index.md", Page: page, Step: "range", Reason: "max_pages 20 reached"})
	}
	list = append(list, engine.Omission{File: "C/index.md", Page: 7, Step: "line"})
	for _, name := range []string{"a.jpg", "b.jpg", "c.jpg", "d.jpg"} {
		list = append(list, engine.Omission{File: name, Step: "smaller picture", Reason: "r"})
	}
	list = append(list, engine.Omission{File: "x.png", Step: "missing", Reason: "not found"}, engine.Omission{File: "y.png", Step: "refused", Reason: "corrupt"})
	gone := engine.Omit("gone.png", omission.Of(omission.Missing), "missing", "not found")
	gone.Note, gone.Line = "Plan.md", 3
	binary := engine.Omit("Board.canvas", omission.Of(omission.Kind), "refused", "a kind")
	binary.Note = "Board.canvas"
	list = append(list, gone, binary)
	for line, name := range []string{"e.jpg", "f.jpg", "g.jpg", "h.jpg"} {
		over := engine.Omit(name, omission.Over("max_images", ""), "line", "max_images 9 reached")
		over.Note, over.Line = "Plan.md", 10+line
		other := over
		other.Note = "Other.md"
		list = append(list, over)
		if line < 2 {
			list = append(list, other)
		}
	}
	want := []string{
		"B/index.md, pages 21-40: its text alone (max_images 20 reached)",
		"B/index.md, pages 41-600: not shown (max_pages 20 reached)",
		"C/index.md, page 7: its name alone",
		"4 files, a.jpg to d.jpg: a smaller picture (r)",
		"x.png: not found",
		"y.png: not shown (corrupt)",
		"Plan.md:3: gone.png: not found; " + omission.Of(omission.Missing).Remedy(),
		"Board.canvas: not shown (a kind); " + omission.Of(omission.Kind).Remedy(),
		"Plan.md:10-13: 4 files, e.jpg to h.jpg: its name alone (max_images 9 reached); raise max_images, or select less",
		"Other.md:10: e.jpg: its name alone (max_images 9 reached); raise max_images, or select less",
		"Other.md:11: f.jpg: its name alone (max_images 9 reached); raise max_images, or select less",
	}
	if diff := cmp.Diff(want, engine.OmissionLines(list)); diff != "" {
		t.Error(diff)
	}
}

// A record says the same as its lines, after it was stored as well, and has one row for all pages of a document.
func TestLeftOutOf_survivesARecord(t *testing.T) {
	t.Parallel()
	var list []engine.Omission
	for page := range 600 {
		o := engine.Omit("B/index.md", omission.Over("max_pages", "lab"), "range", "max_pages 20 reached")
		o.Note, o.Line, o.Page = "Plan.md", 3, page+1
		list = append(list, o)
	}
	list = append(list, engine.Omit("x.png", omission.Of(omission.Missing), "missing", "not found"))
	data, err := json.Marshal(engine.LeftOutOf(list))
	var got []engine.LeftOut
	if err != nil || json.Unmarshal(data, &got) != nil {
		t.Fatal(err, string(data))
	}
	want := []engine.LeftOut{
		{Note: "Plan.md", Line: 3, File: "B/index.md", Pages: "1-600", What: "not shown (max_pages 20 reached)", Why: omission.Over("max_pages", "lab")},
		{File: "x.png", What: "not found", Why: omission.Of(omission.Missing)},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b omission.Why) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	for i, line := range engine.OmissionLines(list) {
		if got[i].String() != line {
			t.Errorf("%q, want %q", got[i], line)
		}
		nested := engine.OmissionLines([]engine.Omission{got[i].In("Child")})[0]
		if want := got[i]; nested != (engine.LeftOut{Note: want.Note, Line: want.Line, File: want.Named(), What: want.What + ", in Child", Why: want.Why}).String() {
			t.Errorf("the run that started it says %q", nested)
		}
	}
}
