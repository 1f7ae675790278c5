package ingestion

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// seer is a scripted vision model. It knows a page by its picture.
type seer struct {
	answer func(page int) (Reading, error)
	asked  []int // pages, in order
}

func (*seer) Model() string { return "seer-1" }

func (s *seer) Recognise(_ context.Context, picture []byte, _ string) (Reading, error) {
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return Reading{}, err
	}
	red, _, _, _ := img.At(0, 0).RGBA()
	page := int(red >> 8)
	s.asked = append(s.asked, page)
	return s.answer(page)
}

func (s *seer) offers(engine string, set config.OCR) (Recogniser, error) {
	if engine != config.EngineVision || set.Model != "eyes" {
		return nil, fmt.Errorf("asked for %s with model %s", engine, set.Model)
	}
	return s, nil
}

// pageWords is the text layer of the pages of doubtfulPages.
const pageWords = "Tonnage of the harbour by quarter and region. North 1,204 South 998 East 87"

// inCells is the same text with its cells in place.
const inCells = "## Tonnage of the harbour by quarter and region.\n\n| North | South | East |\n|---|---|---|\n| 1,204 | 998 | 87 |"

// doubtfulPages is a document whose pages with an even number have a doubtful table, and whose page 3 is a scan that was read badly.
func doubtfulPages(b *bench, dollars float64, vision string) Job {
	b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
		p := goodPage(r)
		switch {
		case r.Text && r.N != 3:
			p.Text = layer(pageWords)
			if r.Letters {
				p.Text.Letters = []string{"Running head 7\n" + pageWords}
			}
			if r.N%2 == 0 {
				p.Text.Doubts = []doubt.Doubt{{Code: doubt.Table, Words: "its rows could not be told apart"}}
			}
			if r.N == 2 {
				p.Text.Besides = "**Form fields**\n\n- Name: Ada"
			}
		case r.OCR:
			p.OCR.Text, p.OCR.Confidence = "Tbe harb0ur of 1987 was frozen for weeks", 41
			p.OCR.Words = []extract.Word{{Text: "1987", Confidence: 97}}
		}
		return p, nil
	}
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	j.Settings.OCR.Vision, j.Settings.OCR.VisionUSD, j.Settings.OCR.Model = vision, dollars, "eyes"
	return j
}

func (b *bench) manifestOf(made Published) manifest.Manifest {
	b.Helper()
	m, err := manifest.Parse([]byte(b.read(made.Bundle + "/manifest.json")))
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// Only doubtful pages are sent, in order, and an answer replaces the text only with the words and numbers of the page.
func TestVision_readsDoubtfulPages(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 8})
	s := &seer{answer: func(page int) (Reading, error) {
		text := map[int]string{
			2: inCells + "\n\n![x](y.png)", 3: "The harbour of 1987 was frozen for weeks.",
			4: strings.Replace(inCells, "998", "989", 1), 6: "I am sorry, I cannot read this.",
		}[page]
		if page == 8 {
			return Reading{}, errors.New("the model declined to read the page")
		}
		return Reading{Markdown: text, CostUSD: 0.25}, nil
	}}
	b.im.Recogniser = s.offers
	made, _ := b.mustRun(doubtfulPages(b, 10, config.VisionDoubtful))
	if want := []int{2, 3, 4, 6, 8}; !slices.Equal(s.asked, want) {
		t.Errorf("asked for pages %v, want %v", s.asked, want)
	}
	schema, _ := manifestSchema(t)
	conforms(t, schema, "manifest", b.read(made.Bundle+"/manifest.json"))
	m := b.manifestOf(made)
	for n, want := range map[int]struct{ source, outcome, doubts string }{
		1: {manifest.TextLayer, "", ""},
		2: {manifest.TextVision, manifest.VisionUsed, ""},
		3: {manifest.TextVision, manifest.VisionUsed, ""},
		4: {manifest.TextLayer, manifest.VisionRefused, "its rows could not be told apart; the answer of a model was not used: it has a number that no reader found"},
		6: {manifest.TextLayer, manifest.VisionRefused, "its rows could not be told apart; the answer of a model was not used: 7 of its 7 words were found by no reader"},
		8: {manifest.TextLayer, manifest.VisionRefused, "its rows could not be told apart; the answer of a model was not used: the model declined to read the page"},
	} {
		p := m.Pages[n-1]
		outcome := ""
		if p.Vision != nil {
			outcome = p.Vision.Outcome
		}
		if p.Text.Source != want.source || outcome != want.outcome || doubt.Words(p.Doubts) != want.doubts {
			t.Errorf("page %d: %+v, %+v, doubts %q", n, p.Text, p.Vision, doubt.Words(p.Doubts))
		}
	}
	if p := m.Pages[1]; p.Vision.Model != "seer-1" || p.Vision.CostUSD != 0.25 {
		t.Errorf("page 2: %+v", p.Vision)
	}
	if got, want := b.read(made.Bundle+"/text/page_0002.txt"), inCells+"\n\n"; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "- Name: Ada\n") {
		t.Errorf("the text of page 2:\n%s", got)
	}
	if got := b.read(made.Bundle + "/text/page_0004.txt"); got != pageWords+"\n" {
		t.Errorf("the text of page 4:\n%s", got)
	}
	note := b.read(made.Note)
	hasAll(t, note, "\ndoubtful_pages: [4, 6, 8]\n", "> - page 4: the answer of the model was not used: it has a number that no reader found\n",
		"> [!info] The text of this page was read by the model seer-1; its words and numbers are those of the page.\n",
		"> [!info] The text of this page was read by the model seer-1; its words are like those that text recognition found.\n")
	hasNone(t, note, "y.png", "sorry")
}

// The model is asked until the money is spent; the pages after that keep their text, their doubt, and the reason.
func TestVision_staysWithinItsBudget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dollars float64
		ledger  int // pages that the month's budget pays for
		want    string
	}{
		"of the import": {0.5, 100, "the 0.5 USD of ingestion.max_cost_usd_per_import are spent"},
		"of the month":  {10, 2, "the budget allows no further page: the month's budget is spent"},
	} {
		b := newBench(t, extract.Document{Pages: 8})
		s := &seer{}
		s.answer = func(page int) (Reading, error) {
			if len(s.asked) > c.ledger {
				return Reading{}, &failure.Error{Code: failure.Budget, Message: "the month's budget is spent"}
			}
			return Reading{Markdown: map[int]string{2: inCells, 3: "The harbour of 1987 was frozen for weeks."}[page], CostUSD: 0.25}, nil
		}
		b.im.Recogniser = s.offers
		made, _ := b.mustRun(doubtfulPages(b, c.dollars, config.VisionDoubtful))
		m := b.manifestOf(made)
		cost := 0.0
		for _, p := range m.Pages {
			if p.Vision != nil {
				cost += p.Vision.CostUSD
			}
		}
		if len(s.asked) > 3 || cost != 0.5 {
			t.Errorf("%s: asked for %v, %g USD", name, s.asked, cost)
		}
		for _, n := range []int{4, 6, 8} {
			if p := m.Pages[n-1]; p.Vision == nil || p.Vision.Outcome != manifest.VisionNotRead || p.Vision.Reason != c.want || !doubt.Has(p.Doubts, doubt.Table) {
				t.Errorf("%s: page %d: %+v, %+v", name, n, p.Vision, p.Doubts)
			}
		}
		hasAll(t, b.read(made.Note), "> - pages 4, 6, 8 not read by a model: "+c.want)
	}
}

// Nothing is sent with vision off, and everything that has text with all: a disagreement about a page that seemed certain is a doubt.
func TestVision_offAndAll(t *testing.T) {
	t.Parallel()
	for vision, want := range map[string][]int{"": nil, config.VisionAll: {1, 2, 3, 4}} {
		b := newBench(t, extract.Document{Pages: 4})
		s := &seer{answer: func(int) (Reading, error) { return Reading{Markdown: "Words of another page."}, nil }}
		b.im.Recogniser = s.offers
		made, _ := b.mustRun(doubtfulPages(b, 10, vision))
		if !slices.Equal(s.asked, want) {
			t.Errorf("%q: asked for %v, want %v", vision, s.asked, want)
		}
		if got := b.manifestOf(made).Pages[0].Doubts; (len(got) == 1) != (vision == config.VisionAll) {
			t.Errorf("%q: doubts about page 1: %+v", vision, got)
		}
	}
}

// An import that is killed at any of its changes continues, buys no stored answer twice, and ends the same.
func TestVision_killedWhileAModelReads(t *testing.T) {
	t.Parallel()
	whole := func(dieAt int) (calls int, pages []manifest.Page, finished bool) {
		b := newBench(t, extract.Document{Pages: 4})
		s := &seer{answer: func(page int) (Reading, error) {
			if page == 4 {
				return Reading{}, errors.New("the model declined to read the page")
			}
			return Reading{Markdown: map[int]string{2: inCells, 3: "The harbour of 1987 was frozen for weeks."}[page], CostUSD: 0.25}, nil
		}}
		j := doubtfulPages(b, 10, config.VisionDoubtful)
		j.Settings.Sessions = 1
		b.revive(dieAt)
		b.im.Recogniser = s.offers
		found, err := b.im.Classify(t.Context(), j)
		if err != nil {
			t.Fatal(err)
		}
		j.Route = found.Route
		_, err = b.im.Extract(t.Context(), j)
		finished = err == nil
		b.revive(0)
		b.im.Recogniser = s.offers
		x, err := b.im.Extract(t.Context(), j)
		if err != nil {
			t.Fatalf("killed at change %d: %v", dieAt, err)
		}
		made, err := b.im.Publish(t.Context(), j, x)
		if err != nil {
			t.Fatalf("killed at change %d: %v", dieAt, err)
		}
		m := b.manifestOf(made)
		return len(s.asked), m.Pages, finished
	}
	_, want, _ := whole(0)
	for at := 1; ; at++ {
		calls, got, finished := whole(at)
		if diff := cmp.Diff(want, got); diff != "" || calls > 4 || finished && calls > 3 { // the answer that was being written may be bought again
			t.Fatalf("killed at change %d: %d calls, pages (-want +got):\n%s", at, calls, diff)
		}
		if finished {
			return
		}
	}
}

// An answer that the readers do not confirm in all leaves the page doubtful. A service that refuses access refuses all pages, and none
// of them has an answer.
func TestVision_saysWhatIsNotConfirmed(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 4})
	s := &seer{answer: func(page int) (Reading, error) {
		if page == 4 {
			return Reading{}, &failure.Error{Code: failure.Provider, Class: "auth", HTTP: 401, Message: "wrong key"}
		}
		return Reading{Markdown: map[int]string{
			2: strings.Replace(inCells, "| 1,204 | 998 | 87 |", "| 1,204 | | |\n| | 998 | 87 |", 1), 3: "The harbour of 1987 was frozen for weeks indeed.",
		}[page]}, nil
	}}
	b.im.Recogniser = s.offers
	made, _ := b.mustRun(doubtfulPages(b, 10, config.VisionDoubtful))
	pages := b.manifestOf(made).Pages
	for n, want := range map[int]struct{ source, outcome, doubts string }{
		2: {manifest.TextVision, manifest.VisionUsed, "a model read it, and which numbers of its table belong together cannot be confirmed"},
		3: {manifest.TextVision, manifest.VisionUsed, "a model read it, and differs from text recognition in a word of 8"},
		4: {manifest.TextLayer, manifest.VisionNotRead, "its rows could not be told apart; not read by a model: the service refuses access: wrong key"},
	} {
		if p := pages[n-1]; p.Text.Source != want.source || p.Vision.Outcome != want.outcome || doubt.Words(p.Doubts) != want.doubts {
			t.Errorf("page %d: %+v, %+v, doubts %q", n, p.Text, p.Vision, doubt.Words(p.Doubts))
		}
	}
	hasAll(t, b.read(made.Note), "\ndoubtful_pages: [2, 3, 4]\n")
}

// A page that is not sent says why and what to do, and is doubtful, also if its text seemed certain.
func TestVision_saysWhatToDo(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 4})
	b.im.Recogniser = func(string, config.OCR) (Recogniser, error) {
		return nil, failure.New(failure.InvalidSettings, "set EYES_API_KEY in the environment", "provider eyes has no key")
	}
	made, _ := b.mustRun(doubtfulPages(b, 10, config.VisionAll))
	const why = "not read by a model: provider eyes has no key; set EYES_API_KEY in the environment"
	if got := b.manifestOf(made).Pages[0].Doubts; len(got) != 1 || got[0] != (doubt.Doubt{Code: doubt.Vision, Words: why}) {
		t.Errorf("doubts about page 1: %+v", got)
	}
	hasAll(t, b.read(made.Note), "> - pages 1–4 "+why)
}
