// Package ocr reads the text of pictures: it straightens a page, has an [Engine] recognise it in the language that it is written
// in, and drops what is noise.
package ocr

import (
	"fmt"
	"image"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/layout"
	"github.com/vaultflow/vaultflow/ingestion/worker/photo"
)

// Word is a recognised word and its place in the structure of the page.
type Word struct {
	Text                   string
	Rect                   image.Rectangle
	Confidence             float64
	Known                  bool // a dictionary of the languages has it
	Block, Paragraph, Line int
}

// Orientation is which way up a page lies, and in which script it is written.
type Orientation struct {
	Turn   int     // degrees clockwise by which to turn the picture
	Sure   float64 // that this is so, from 0 up
	Script string  // Latin, Cyrillic, Han …
}

// How sure an engine has to be of an orientation to try it, and to believe that there is text at all, in the script that it found.
// Tesseract is 4 and more on a line of Latin text, 1.8 and more on three of Chinese, and below 1.2 on clouds of noise.
const (
	sureWay  = 1.0
	sureText = 1.7
)

// Division is how an engine divides a picture into lines.
type Division int

// Close columns of text are kept apart, but words in the cells of a ruled or wide table can be missed; by cells, it is the other way
// round. By rows, each line runs across the whole picture.
const (
	ByColumns Division = iota
	ByCells
	ByRows
)

// Engine recognises the words of pictures. It is used by one goroutine.
type Engine interface {
	Name() string // with its version
	// Recognise returns the words of a picture.
	Recognise(img *image.Gray, languages []string, by Division) ([]Word, error)
	// Orient reports how a page lies, or false if it has too few letters.
	Orient(img *image.Gray) (Orientation, bool)
	Close()
}

// Reader turns pictures of pages into text. It keeps one engine for as long as the process runs.
type Reader struct {
	tessdata string
	start    func(tessdata string) Engine
	engine   Engine   // nil until it is needed
	usual    []string // language of the last page that was read in the language that it is written in
}

// NewReader returns a reader that starts its engine with the first picture. Without start it reads nothing.
func NewReader(tessdata string, start func(tessdata string) Engine) *Reader {
	return &Reader{tessdata: tessdata, start: start}
}

// Close ends the engine.
func (r *Reader) Close() {
	if r.engine != nil {
		r.engine.Close()
	}
}

// poor is the confidence below which a page may be upside down or in another script: such pages reach about 26, upright ones 90.
const poor = 60.0

// Read recognises a picture, whichever way it was scanned or photographed. The places of the words are those on the upright
// picture, turned by a multiple of 90 degrees but still skewed and with its perspective, so that the words fit a picture of the
// page.
func (r *Reader) Read(img *image.Gray, languages []string) (*extract.PageOCR, error) {
	if high := letterHeight(img); high > 0 && high < smallLetter {
		return r.readSmall(img, high, languages)
	}
	return r.read(img, languages)
}

func (r *Reader) read(img *image.Gray, languages []string) (*extract.PageOCR, error) {
	v, err := r.choose(languages)
	if err != nil {
		return nil, err
	}
	out := &extract.PageOCR{Engine: r.engine.Name(), Width: img.Rect.Dx(), Height: img.Rect.Dy(), Languages: v.languages}
	if blank(img) {
		out.Reason = "the picture is blank"
		return out, nil
	}
	best, err := r.best(img, v)
	if err != nil {
		return nil, err
	}
	if best, err = r.inLanguage(best, &v); err != nil {
		return nil, err
	}
	if best, err = r.translateParts(best, &v); err != nil {
		return nil, err
	}
	torn, err := r.joinRows(&best, v)
	if err != nil {
		return nil, err
	}
	unread := unreadRows(best.page.Picture, best.words)
	found, err := r.readMissed(&best, unread, v)
	if err != nil {
		return nil, err
	}
	joined, askew := false, false
	if facing(best.words) == 0 {
		best.words, joined = joinLines(best.words)
		askew = runAskew(best.words)
		best.words = titlesFirst(best.words)
	}
	size := img.Rect.Size()
	if out.Rotation = best.rotation; out.Rotation%180 != 0 {
		out.Width, out.Height = size.Y, size.X
	}
	words, dropped, beside := legible(best.words)
	text, inTables := written(words, best.rules, func() []image.Rectangle { return unreadMarks(best.page.Picture, words) }) // before the boxes are moved to the skewed page
	out.Text = text
	if found || len(words) != len(best.words) {
		unread = unreadRows(best.page.Picture, words)
	}
	cut := false
	for i := range words {
		if losesPoint(best.page.Picture, words[i]) {
			words[i].Confidence = min(words[i].Confidence, hardlyRead)
		}
		box := best.page.Back.Box(words[i].Rect)
		cut = cut || best.page.Cut && !box.In(img.Rect.Inset(1))
		words[i].Rect = turnRect(box, out.Rotation, size)
	}
	sum, letters := score(words)
	out.Skew, out.Languages = best.skew, v.languages
	out.Words, out.Confidence = placesOf(words, out.Width, out.Height), sum/float64(max(letters, 1))
	out.Reason = best.reasons(dropped, v)
	out.Doubts = best.doubts(words, out.Confidence, v)
	switch {
	case len(unread) > 0 && len(words) > 0:
		out.Doubts = doubt.Add(out.Doubts, doubt.Recognition, unreadWords(len(unread)))
	case len(unread) > 1: // a single row can be a fence
		out.Doubts = doubt.Add(out.Doubts, doubt.Empty, unreadWords(len(unread)))
	case len(best.words) > 0 && out.Confidence < illegible && !doubt.Has(out.Doubts, doubt.Empty) && allInWords(best.page.Picture, best.words):
		out.Doubts = doubt.Add(out.Doubts, doubt.Empty, "what is written could not be read; it may be in a language that is not installed")
	}
	if cut {
		out.Doubts = doubt.Add(out.Doubts, doubt.Recognition, "lines continue beyond the picture; photograph the whole page")
	}
	if askew {
		out.Doubts = doubt.Add(out.Doubts, doubt.Order, "its lines are not parallel; photograph the page from above, with all corners")
	}
	if beside {
		out.Doubts = doubt.Add(out.Doubts, doubt.Recognition, "short words at the beginning or end of lines were hardly read")
	}
	if joined {
		out.Doubts = doubt.Add(out.Doubts, doubt.Order, "lines were read in pieces and joined")
	}
	if torn {
		out.Doubts = doubt.Add(out.Doubts, doubt.Order, "rows of a table were read in pieces, or without some cells")
	}
	for _, d := range inTables {
		out.Doubts = doubt.Add(out.Doubts, d.Code, d.Words)
	}
	return out, nil
}

// attempt is a picture that was made ready in one way, and what was read in it.
type attempt struct {
	page     photo.Page // as it was recognised
	rotation int        // degrees clockwise by which the picture has to be turned to be upright
	skew     float64
	lies     Orientation       // if it was asked for
	print    bool              // it is a page, whatever was read
	rules    []image.Rectangle // of tables and forms, as thin as lines
	reading
}

// best reads a picture after it was corrected. If that went badly or may have cut off text, it also reads it as it is, and without
// its grain.
func (r *Reader) best(img *image.Gray, v version) (attempt, error) {
	best, err := r.attempt(photo.Correct(img), maxSkew, v)
	if err != nil || best.mean >= poor && !best.page.Panel {
		return best, err
	}
	first := best
	if len(first.page.Said) > 0 || math.Abs(first.skew) > usualSkew {
		if best, err = r.better(best, photo.Plain(img), usualSkew, v); err != nil {
			return best, err
		}
	}
	if first.page.Noisy && best.mean < poor {
		best, err = r.better(best, photo.Smooth(img), maxSkew, v)
	}
	return best, err
}

// better reads a picture that was made ready in another way, and returns the better reading. Of two that show nothing in this
// language, it is the one that shows the script.
func (r *Reader) better(best attempt, page photo.Page, limit float64, v version) (attempt, error) {
	next, err := r.attempt(page, limit, v)
	if err != nil || next.score < best.score || next.score == best.score && next.lies.Sure <= best.lies.Sure {
		return best, err
	}
	next.print = best.print
	return next, nil
}

// mirrored reads a page as in a mirror if it has rows of letters and cannot be read: a film that was scanned from its back, or a picture
// that a telephone took of its user.
func (r *Reader) mirrored(a attempt, v version) (_ attempt, better bool, err error) {
	if a.mean >= poor || len(Rows(a.page.Picture, nil)) < fewRows {
		return a, false, nil
	}
	next, err := r.attempt(a.page.Mirrored(), usualSkew, v)
	if err != nil || next.mean < doubtful || next.score < a.score*1.5 {
		return a, false, err
	}
	// The picture is turned first and mirrored then, which turns the other way round.
	next.rotation = (a.rotation + 360 - next.rotation) % 360
	next.skew = a.skew - next.skew
	return next, true, nil
}

// attempt straightens a page by at most some degrees and recognises it whichever way up it is.
func (r *Reader) attempt(page photo.Page, limit float64, v version) (a attempt, err error) {
	a.page, a.print = page, page.Print
	if a.skew = skew(page.Picture, limit); a.skew != 0 {
		a.page = a.page.Turned(-a.skew)
		if !mayRunDown(v.languages) && linesRunDown(a.page.Picture) {
			// Tesseract read such a page with two columns across them.
			a.turn(90)
		}
	}
	a.takeRules()
	if a.reading, err = r.recognise(a.page.Picture, v.languages); err != nil {
		return a, err
	}
	if a.mean < poor {
		if err := r.reorient(&a, v); err != nil {
			return a, err
		}
	}
	a.stand(facing(a.words))
	return a, nil
}

// takeRules finds the rules of a page, and paints those out that are around cells.
func (a *attempt) takeRules() {
	rules, high := rulesIn(a.page.Picture)
	a.rules = nil
	for _, r := range rules {
		a.rules = append(a.rules, r.thin())
	}
	a.page.Picture = without(a.page.Picture, inGrids(rules, high), high)
}

// stand turns the page with its words.
func (a *attempt) stand(degrees int) {
	size := a.page.Picture.Rect.Size()
	for i, w := range a.words {
		a.words[i].Rect = turnRect(w.Rect, degrees, size)
	}
	a.turn(degrees)
}

// turn turns the page clockwise by a multiple of 90 degrees.
func (a *attempt) turn(degrees int) {
	size := a.page.Picture.Rect.Size()
	a.rules = slices.Clone(a.rules)
	for i, r := range a.rules {
		a.rules[i] = turnRect(r, degrees, size)
	}
	a.page, a.rotation = a.page.Quartered(degrees/90), (a.rotation+degrees)%360
}

// reorient looks for another way up in which a page reads better. It is asked for pages that read badly alone, because it takes
// a third of the time of recognition.
func (r *Reader) reorient(a *attempt, v version) error {
	degrees := 0
	if o, ok := r.engine.Orient(a.page.Picture); ok {
		if a.lies = o; o.Sure >= sureWay {
			degrees = o.Turn
		}
	} else if a.letters > 0 {
		degrees = 180 // lines that run down are read as well as those that run right: a half turn is what is left to try
	}
	if degrees == 0 {
		return nil
	}
	next := *a
	next.turn(degrees)
	var err error
	if next.reading, err = r.recognise(next.page.Picture, v.languages); err != nil {
		return err
	}
	if next.score > a.score*1.5 && next.mean > a.mean {
		*a = next
	}
	return nil
}

// mayRunDown reports whether lines from top to bottom are usual in one of the languages.
func mayRunDown(languages []string) bool {
	return slices.ContainsFunc(languages, func(l string) bool {
		return strings.HasPrefix(l, "chi") || strings.HasPrefix(l, "jpn") || strings.HasPrefix(l, "kor")
	})
}

// reasons describes how a page was made ready and turned, in which language it was read, and what was left out.
func (a attempt) reasons(dropped int, v version) string {
	said := slices.Clone(a.page.Said)
	if a.rotation != 0 {
		said = append(said, fmt.Sprintf("the page has to be turned by %d degrees to be read", a.rotation))
	}
	if a.skew != 0 {
		said = append(said, fmt.Sprintf("its lines are skewed by %.1f degrees", a.skew))
	}
	if v.auto {
		said = append(said, "read as "+strings.Join(v.languages, ", "))
	}
	if dropped > 0 {
		said = append(said, fmt.Sprintf("%d words taken for noise", dropped))
	}
	return strings.Join(said, "; ")
}

// reading is the result of recognition in one direction.
type reading struct {
	words       []Word
	letters     int
	mean, score float64 // confidence of a character, and of all of them
}

func (r *Reader) recognise(img *image.Gray, languages []string) (reading, error) {
	read, err := r.recogniseAs(img, languages, ByColumns)
	if err != nil || !missesLetters(img, read.words) {
		return read, err
	}
	cells, err := r.recogniseAs(img, languages, ByCells)
	if err != nil || cells.score <= read.score {
		return read, err
	}
	return cells, nil
}

func (r *Reader) recogniseAs(img *image.Gray, languages []string, by Division) (reading, error) {
	words, err := r.engine.Recognise(img, languages, by)
	if err != nil {
		return reading{}, fmt.Errorf("recognise: %w", err)
	}
	return readingOf(slices.DeleteFunc(words, func(b Word) bool { return strings.TrimSpace(b.Text) == "" })), nil
}

func readingOf(words []Word) reading {
	out := reading{words: words}
	out.score, out.letters = score(words)
	out.mean = out.score / float64(max(out.letters, 1))
	return out
}

// score sums the confidence of the characters of words.
func score(words []Word) (sum float64, letters int) {
	for _, b := range words {
		n := utf8.RuneCountInString(b.Text)
		letters += n
		sum += b.Confidence * float64(n)
	}
	return sum, letters
}

// ready starts the engine. It looks for the language data first, because Tesseract ends the process when they are missing.
func (r *Reader) ready(languages []string) error {
	for _, language := range languages {
		if !extract.ValidLanguage(language) || !slices.Contains(Languages(r.tessdata), language) {
			return &extract.Error{Code: failure.Unsupported, Message: fmt.Sprintf("language data for %q is not installed in %q", language, r.tessdata)}
		}
	}
	if r.start == nil {
		return &extract.Error{Code: failure.Unsupported, Message: "this worker has no text recognition"}
	}
	if r.engine == nil {
		r.engine = r.start(r.tessdata)
	}
	return nil
}

// linesOf returns the lines of words as a layout has them. A wide gap divides a line.
func linesOf(words []Word) []layout.Line {
	var out []layout.Line
	var heights []float64
	for i, w := range words {
		box := boxOf(w.Rect)
		if last := len(out) - 1; i > 0 && w.follows(words[i-1]) && box.X0-out[last].Box.X1 < 2*(box.Y1-box.Y0) {
			l := &out[last]
			l.Text += " " + layout.Normal(w.Text)
			l.Box.X1, l.Box.Y0, l.Box.Y1 = max(l.Box.X1, box.X1), min(l.Box.Y0, box.Y0), max(l.Box.Y1, box.Y1)
			continue
		}
		out = append(out, layout.Line{Text: layout.Normal(w.Text), Box: box})
	}
	for _, l := range out {
		heights = append(heights, l.Box.Y1-l.Box.Y0)
	}
	slices.Sort(heights)
	for i := range out {
		out[i].Size = 1.2 * heights[len(heights)/2] // boxes surround ink: most lines do not fill their type
	}
	return out
}

// follows reports whether a word is in the line of the one before.
func (w Word) follows(before Word) bool {
	return before.Block == w.Block && before.Paragraph == w.Paragraph && before.Line == w.Line
}

// textOf rebuilds the text from the words: a line for a line, an empty one between paragraphs and blocks.
func textOf(words []Word) string {
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			before := words[i-1]
			switch {
			case before.Block != word.Block || before.Paragraph != word.Paragraph:
				b.WriteString("\n\n")
			case !word.follows(before):
				b.WriteString("\n")
			case !unspaced(before.Text, word.Text):
				b.WriteString(" ")
			}
		}
		b.WriteString(layout.Normal(word.Text))
	}
	return b.String()
}

// unspaced reports whether a script has no space between two words: Tesseract returns Chinese and Japanese nearly character by
// character.
func unspaced(a, b string) bool {
	last, _ := utf8.DecodeLastRuneInString(a)
	first, _ := utf8.DecodeRuneInString(b)
	return solid(last) && solid(first)
}

// solid reports whether a character is Chinese or Japanese: a letter, a mark such as 。 or a form as wide as these, such as ，.
func solid(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo) || r >= 0x3001 && r <= 0x303f || r >= 0xff01 && r <= 0xff65
}

func placesOf(found []Word, width, height int) []extract.Word {
	words := make([]extract.Word, 0, len(found))
	page := image.Rect(0, 0, width, height)
	for _, b := range found {
		at := b.Rect.Intersect(page)
		words = append(words, extract.Word{
			Text: layout.Normal(b.Text), X0: at.Min.X, Y0: at.Min.Y, X1: at.Max.X, Y1: at.Max.Y, Confidence: min(max(b.Confidence, 0), 100),
		})
	}
	return words
}

// blank reports whether a picture has hardly any contrast.
func blank(img *image.Gray) bool {
	low, high := slices.Min(img.Pix), slices.Max(img.Pix)
	return high-low < 40
}
