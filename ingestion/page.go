package ingestion

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/choose"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
	"github.com/vaultflow/vaultflow/ingestion/reading"
	"github.com/vaultflow/vaultflow/vault"
)

// pageFiles writes the files of pages into the bundle.
type pageFiles struct {
	w    *work
	held map[string][]byte // takes the files instead, by name, to be written with those of other pages; nil: they are written at once
}

// put writes a file, or holds it.
func (f pageFiles) put(ctx context.Context, name string, data []byte) error {
	if f.held == nil {
		return put(ctx, f.w.store.bundle, name, data)
	}
	f.held[name] = data
	return nil
}

// maxPicture limits the bytes of a page picture from a worker.
const maxPicture = 128 << 20

// pageMaker makes one page: text layer, decision, text recognition, picture, in this order. What fails is recorded as a fault;
// what succeeds is kept anyway.
type pageMaker struct {
	w    *work
	s    *reading.Reader
	page manifest.Page
	held map[string][]byte // the files that will be written

	formulas           []content.Rect // that only a picture shows
	lost               string         // why something of the page is missing in the file
	lacks              string         // why something of the page is below the quality that was asked for
	layer              string         // sanitised
	decision           choose.Decision
	besides            string           // form values and annotations, sanitised
	blank              bool             // nothing is drawn on the page
	pictured           *extract.PageOCR // what recognition found besides the layer
	coded              bool             // most letters are in fonts that draw them
	mapped             int              // characters of the layer that are known
	textFault, picture *reading.PageError
}

// make makes a page's files and its record, which are not written yet. An error ends the import.
func (l pageLoop) make(ctx context.Context, s *reading.Reader, n int) (madePage, error) {
	m := &pageMaker{w: l.w, s: s, page: manifest.Page{N: n, Status: manifest.PageDone}, held: map[string][]byte{}}
	steps := []func(context.Context) error{m.text, m.recognise, m.append, m.draw}
	if l.w.set.PDF.Mode == config.ModePageImages {
		steps = []func(context.Context) error{m.draw}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return madePage{}, err
		}
	}
	m.judge()
	return madePage{m.page, m.held}, nil
}

func (m *pageMaker) files() pageFiles { return pageFiles{m.w, m.held} }

// text reads the text layer and decides about text recognition.
func (m *pageMaker) text(ctx context.Context) error {
	got, err := m.s.Page(ctx, extract.PageRequest{N: m.page.N, Text: true, Formulas: true})
	if m.textFault = reading.PageErrorOf(err); err != nil && m.textFault == nil {
		return err
	}
	m.page.Label = markdown.OneLine(got.Label, 40)
	m.lost = got.Lost
	m.rendered(got)
	decision := choose.NoLayer
	if got.Text != nil {
		m.page.Doubts, m.page.Edges = doubt.Clean(got.Text.Doubts), edgesOf(got.Text.Edges)
		decision = choose.OCR(got.Text.Evidence, m.w.set.OCR.Redo).Checked(got.Text.Markdown, got.Text.Evidence)
		m.page.Hidden = max(got.Text.Evidence.Hidden, 0)
		m.blank, m.coded = got.Text.Evidence.Blank(), 2*got.Text.Evidence.Drawn > got.Text.Evidence.Chars
		m.mapped = got.Text.Evidence.Chars - got.Text.Evidence.Unmapped
		m.layer, m.besides = m.files().pageLinks(markdown.Sanitise(got.Text.Markdown)), markdown.Sanitise(got.Text.Besides)
		m.formulas = got.Text.Formulas
	}
	if m.w.set.OCRFirst() {
		decision = choose.OCRFirst
	}
	if got.Text != nil && choose.Merged(decision.Code) && m.w.set.HasPDF(config.StrategyPDFOCR) {
		if err := m.merge(ctx); err != nil {
			return err
		}
	}
	if choose.WrittenByOCR(decision.Code) {
		bad, err := m.misread(ctx)
		if err != nil {
			return err
		}
		if bad {
			decision = decision.Misread()
		}
	}
	m.decision = decision
	m.page.OCR = &manifest.PageOCR{Decided: decision.OCR && !choose.Garbled(decision.Code), Code: decision.Code, Reason: decision.String()}
	if !m.w.set.HasPDF(config.StrategyPDFOCR) && decision.OCR {
		m.page.OCR.Decided = false
		m.page.OCR.Reason += "; pdf_ocr is not among the strategies"
	}
	if !m.w.set.HasPDF(config.StrategyPDFText) {
		m.layer = ""
	}
	if err := m.drawFormulas(ctx); err != nil {
		return err
	}
	return m.keep(ctx, m.layer, manifest.TextLayer)
}

// edgesOf returns what a worker found at the edge of a page, each as one line.
func edgesOf(texts []string) (lines []string) {
	for _, text := range texts {
		if line := markdown.OneLine(text, 200); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// recognise reads the text in the page's picture, if that was decided.
func (m *pageMaker) recognise(ctx context.Context) error {
	if choose.Garbled(m.page.OCR.Code) {
		return m.compare(ctx)
	}
	if choose.Merged(m.page.OCR.Code) {
		return m.merged(ctx)
	}
	if !m.page.OCR.Decided {
		return nil
	}
	layer := m.page
	if err := recognition(m.files()).byEngines(ctx, &m.page, m.locally, m.photograph); err != nil {
		return err
	}
	return m.keepMapped(ctx, layer)
}

// keepMapped puts a text layer back of which some characters are unmapped, if recognition read less than half as much as the others.
func (m *pageMaker) keepMapped(ctx context.Context, layer manifest.Page) error {
	p := &m.page
	if m.layer == "" || !choose.Unmapped(p.OCR.Code) || 2*p.OCR.Letters >= m.mapped {
		return nil
	}
	p.Doubts = doubt.Add(layer.Doubts, doubt.Readers, "some characters of its text layer are unknown, and little could be recognised in its picture")
	p.Edges = layer.Edges
	return m.keep(ctx, m.layer, manifest.TextLayer)
}

// photograph draws the page for a recognition service, at the resolution of text recognition.
func (m *pageMaker) photograph(ctx context.Context) ([]byte, string, error) {
	set := m.w.set
	got, err := m.s.Page(ctx, extract.PageRequest{
		N: m.page.N, Image: true, DPI: set.OCR.DPI, MaxSide: servicePixels, MaxPixels: set.PDF.MaxPixels, Format: "auto",
	})
	if err != nil {
		return nil, "", err
	}
	if got.Image == nil || pictureExtension(got.Image.MediaType, got.Image.Bytes) == "" {
		return nil, "", reading.Failed(failure.Corrupt, "the worker sent no picture")
	}
	return got.Image.Bytes, got.Image.MediaType, nil
}

// servicePixels limits the longer side of a picture for a service: A4 at 300 dpi.
const servicePixels = 3508

// locally asks the worker's own text recognition, and reports whether it answered.
func (m *pageMaker) locally(ctx context.Context) (bool, error) {
	got, err := m.ocr(ctx)
	m.lacks = cmp.Or(m.lacks, got.Lacks)
	return m.files().answered(ctx, &m.page, got.OCR, err)
}

func (m *pageMaker) ocr(ctx context.Context) (extract.Page, error) {
	set := m.w.set
	return m.s.Page(ctx, extract.PageRequest{
		N: m.page.N, OCR: true, OCRDPI: set.OCR.DPI, Languages: set.OCR.Languages, MaxPixels: set.PDF.MaxPixels,
	})
}

// merge adds to the layer what only the pictures of the page show. No service is paid for this.
func (m *pageMaker) merge(ctx context.Context) error {
	set := m.w.set
	got, err := m.s.Page(ctx, extract.PageRequest{
		N: m.page.N, Text: true, OCR: true, Merge: true, OCRDPI: set.OCR.DPI, Languages: set.OCR.Languages, MaxPixels: set.PDF.MaxPixels,
	})
	if err := m.short("text in its pictures was not read", err); err != nil {
		return err
	}
	if got.Text == nil || got.OCR == nil {
		return nil
	}
	m.pictured, m.lacks = got.OCR, cmp.Or(m.lacks, got.Lacks)
	if merged := m.files().pageLinks(markdown.Sanitise(got.Text.Markdown)); merged != m.layer {
		m.layer, m.formulas = merged, nil
		m.page.Doubts, m.page.Edges = doubt.Clean(got.Text.Doubts), edgesOf(got.Text.Edges)
	} else if got.OCR.Rotation != 0 && lettersIn(got.OCR.Text) >= fewLetters {
		m.layer = strings.TrimSpace(m.layer + "\n\n" + markdown.Sanitise(markdown.FromOCR(got.OCR.Text)))
		m.page.Doubts = doubt.Add(m.page.Doubts, doubt.Order, "the text of its picture lies another way up and is below the rest")
	}
	return nil
}

// short records what a page lacks because a part of it failed, so that it is made again. It returns an error that ends the import.
func (m *pageMaker) short(what string, err error) error {
	bad := reading.PageErrorOf(err)
	if bad == nil {
		return err
	}
	m.lacks = cmp.Or(m.lacks, what+": "+bad.Message)
	return nil
}

// merged records that pictures were read besides the layer, or that they were not.
func (m *pageMaker) merged(ctx context.Context) error {
	p, o := &m.page, m.pictured
	if o == nil {
		p.OCR.Decided = false
		p.Doubts = doubt.Add(p.Doubts, doubt.Recognition, "text in its pictures was not read")
		return nil
	}
	if p.Text != nil && p.Text.Path != "" {
		p.Text.Source = manifest.TextOCR
	}
	words := *o
	words.Text = "" // the layer has it
	if _, err := m.files().answered(ctx, p, &words, nil); err != nil {
		return err
	}
	p.OCR.Letters = lettersIn(o.Text)
	for _, d := range doubt.Clean(o.Doubts) {
		p.Doubts = doubt.Add(p.Doubts, d.Code, d.Words)
	}
	return nil
}

// readWell is the confidence with which text is recognised that replaces codes.
const readWell = 80

// compare recognises the text of a page whose layer seems to have other letters than the page shows, and keeps that if it reads
// better. No service is paid for this.
func (m *pageMaker) compare(ctx context.Context) error {
	p := &m.page
	var got extract.Page
	if m.w.set.HasPDF(config.StrategyPDFOCR) {
		var err error
		got, err = m.ocr(ctx)
		if err := m.short("its text layer could not be compared with its picture", err); err != nil {
			return err
		}
	}
	switch {
	case got.OCR == nil || got.OCR.Text == "":
		p.Doubts = doubt.Add(p.Doubts, doubt.Readers, "its text layer has hardly any words of a known language, and nothing to compare it with")
	case doubt.SameLetters(m.layer, got.OCR.Text):
		m.decision = m.decision.Confirmed()
		p.OCR.Code, p.OCR.Reason = m.decision.Code, m.decision.String()
	case doubt.Prose(got.OCR.Text), m.coded && got.OCR.Confidence >= readWell:
		p.OCR.Decided = true
		_, err := m.files().answered(ctx, p, got.OCR, nil)
		p.Doubts = doubt.Add(p.Doubts, doubt.Recognition, "its text layer has other letters than the page, so the text was recognised in the picture")
		return err
	default:
		p.Doubts = doubt.Add(p.Doubts, doubt.Readers, "its text layer has hardly any words of a known language, and text recognition reads others")
	}
	return nil
}

// answered keeps what the worker's text recognition answered, and reports whether it read the page.
func (f pageFiles) answered(ctx context.Context, p *manifest.Page, got *extract.PageOCR, err error) (bool, error) {
	switch bad := reading.PageErrorOf(err); {
	case bad != nil:
		p.OCR.Error = bad.Message
	case err != nil:
		return false, err
	case got == nil:
		p.OCR.Error = "the worker has no text recognition"
	default:
		return true, f.recognised(ctx, p, got)
	}
	return false, nil
}

// recognised keeps the result of text recognition: words with boxes, and the text if there is any.
func (f pageFiles) recognised(ctx context.Context, p *manifest.Page, got *extract.PageOCR) error {
	p.OCR.Engine, p.OCR.Rotation = markdown.OneLine(got.Engine, 60), got.Rotation
	if p.OCR.Engine == "" {
		p.OCR.Engine = "unnamed"
	}
	p.OCR.Confidence, p.OCR.Languages = percent(got.Confidence), got.Languages
	if chosen := f.w.set.OCR.Languages; len(p.OCR.Languages) == 0 && !slices.Contains(chosen, extract.AutoLanguage) {
		p.OCR.Languages = chosen
	}
	if got.Reason != "" {
		p.OCR.Reason += "; " + markdown.OneLine(got.Reason, 200)
	}
	if !f.w.set.OCR.DropWords {
		p.OCR.Path = "ocr/" + pageName(p.N) + ".json"
		data, err := json.Marshal(ocrFile{
			Page: p.N, Engine: p.OCR.Engine, Languages: p.OCR.Languages, Confidence: p.OCR.Confidence, Rotation: got.Rotation, Skew: got.Skew,
			Width: got.Width, Height: got.Height, Words: got.Words,
		})
		if err != nil {
			return fmt.Errorf("write words: %w", err)
		}
		if err := f.put(ctx, p.OCR.Path, data); err != nil {
			return err
		}
	}
	text := markdown.Sanitise(markdown.FromOCR(got.Text))
	p.OCR.Letters = lettersIn(text)
	if p.Text != nil && utf8.RuneCountInString(text) <= p.Text.Chars && !choose.BeatsLayer(p.OCR.Code) || text == "" {
		if p.Text == nil || p.Text.Source == manifest.TextNone {
			p.Doubts = doubt.Clean(got.Doubts)
		}
		return nil // the text layer stays
	}
	p.Doubts, p.Edges = doubt.Clean(got.Doubts), nil
	return f.keepText(ctx, p, text, manifest.TextOCR)
}

// ocrFile is ocr/page_0001.json: the words that were recognised. Width, height and boxes are in pixels of the picture that was
// read, which was turned clockwise by the rotation. If lines are skewed, each box surrounds its skewed word, so that the scaled
// boxes fit the page's picture once that is turned too.
type ocrFile struct {
	Page       int            `json:"page"`
	Engine     string         `json:"engine"`
	Languages  []string       `json:"languages"`
	Confidence float64        `json:"confidence"`
	Rotation   int            `json:"rotation"`       // degrees clockwise
	Skew       float64        `json:"skew,omitempty"` // degrees clockwise
	Width      int            `json:"width"`
	Height     int            `json:"height"`
	Words      []extract.Word `json:"words"`
}

func (m *pageMaker) keep(ctx context.Context, text, source string) error {
	if text == "" {
		m.page.Text = &manifest.PageText{Source: manifest.TextNone}
		return nil
	}
	return m.files().keepText(ctx, &m.page, text, source)
}

func (f pageFiles) keepText(ctx context.Context, p *manifest.Page, text, source string) error {
	p.Text = &manifest.PageText{Path: vault.TextDir + "/" + pageName(p.N) + ".txt", Chars: utf8.RuneCountInString(text), Source: source}
	return f.put(ctx, p.Text.Path, []byte(text+"\n"))
}

// draw makes the page's picture, unless the mode has none.
func (m *pageMaker) draw(ctx context.Context) error {
	set := m.w.set.PDF
	if set.Mode == config.ModeMarkdown {
		return nil
	}
	got, err := m.s.Page(ctx, extract.PageRequest{
		N: m.page.N, Image: true, DPI: set.DPI, MaxSide: set.MaxSide, MaxPixels: set.MaxPixels, Format: set.Format,
	})
	if m.picture = reading.PageErrorOf(err); err != nil {
		if m.picture == nil {
			return err
		}
		return nil
	}
	if m.page.Label == "" {
		m.page.Label = markdown.OneLine(got.Label, 40)
	}
	m.rendered(got)
	m.lacks, m.lost = cmp.Or(m.lacks, got.Lacks), cmp.Or(m.lost, got.Lost)
	m.picture, err = m.files().keepPicture(ctx, &m.page, got.Image)
	return err
}

// keepPicture checks a page's picture and writes it.
func (f pageFiles) keepPicture(ctx context.Context, p *manifest.Page, got *extract.PageImage) (*reading.PageError, error) {
	if got == nil {
		return reading.Failed(failure.Corrupt, "the worker sent no picture"), nil
	}
	ext := pictureExtension(got.MediaType, got.Bytes)
	switch {
	case ext == "":
		return reading.Failed(failure.Corrupt, "the worker sent %d bytes that are not a picture of type %s", len(got.Bytes), markdown.OneLine(got.MediaType, 40)), nil
	case len(got.Bytes) > maxPicture:
		return reading.Failed(failure.TooLarge, "the picture has %d MB", len(got.Bytes)>>20), nil
	case got.Width <= 0 || got.Height <= 0:
		return reading.Failed(failure.Corrupt, "the picture has %dx%d pixels", got.Width, got.Height), nil
	}
	p.Image = &manifest.PageImage{
		Path: "pages/" + pageName(p.N) + ext, Width: got.Width, Height: got.Height, Bytes: int64(len(got.Bytes)), SHA256: digest(got.Bytes), DPI: got.DPI,
	}
	if sha256Form.MatchString(got.Identity) {
		p.Image.Identity = got.Identity
	}
	return nil, f.put(ctx, p.Image.Path, got.Bytes)
}

// sha256Form is the form of an identity. Workers are not trusted.
var sha256Form = regexp.MustCompile(`^[0-9a-f]{64}$`)

// pictureExtension returns the extension for a picture whose first bytes match its type, or "".
func pictureExtension(mediaType string, data []byte) string {
	switch {
	case mediaType == "image/png" && bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return ".png"
	case mediaType == "image/jpeg" && bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return ".jpg"
	case mediaType == "image/webp" && len(data) > 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return ".webp"
	case mediaType == "image/gif" && bytes.HasPrefix(data, []byte("GIF8")):
		return ".gif"
	}
	return ""
}

// judge sets the page's status. A page fails without the picture that its mode needs, and so does one of mode markdown that lacks
// all the text it should have. A page whose text should have been read and was not is partial, even if it has other text, such as a
// stamp: otherwise nobody would ask for the rest.
func (m *pageMaker) judge() {
	p := &m.page
	empty := p.Text == nil || p.Text.Source == manifest.TextNone
	switch {
	case m.picture != nil:
		p.Status, p.Error = manifest.PageFailed, m.picture.Message
	case m.lost != "":
		m.incomplete()
	case p.OCR != nil && p.OCR.Error != "":
		unrecognised(p)
	case m.textFault != nil && (empty || m.textFault.Aside):
		p.Status, p.Error = manifest.PagePartial, m.textFault.Message
	}
	lacking(p, m.lacks)
	if p.Status == manifest.PagePartial && p.Image == nil && empty {
		p.Status = manifest.PageFailed
	}
	if o := p.OCR; o != nil && o.Engine != "" && o.Letters < fewLetters && !m.blank && p.Status == manifest.PageDone && !doubt.Has(p.Doubts, doubt.Empty) {
		p.Doubts = doubt.Add(p.Doubts, doubt.Empty, "text recognition found nothing, although something is drawn on the page")
	}
	unsure(p, m.w.set.OCR.MinConfidence)
}

// incomplete marks a page of which something is missing in the file: nobody can read that, and the rest may be misread.
func (m *pageMaker) incomplete() {
	p, what := &m.page, "part of the content is missing: "
	p.Status, p.Lost = manifest.PagePartial, true
	if p.Text != nil && p.Text.Source == manifest.TextNone {
		p.Status, what = manifest.PageFailed, "the content is missing: "
	}
	p.Error = markdown.OneLine(what+m.lost, 300)
	if p.Status == manifest.PagePartial {
		p.Doubts = doubt.Add(p.Doubts, doubt.Lost, p.Error)
	}
}

// unsure adds the doubt about text that was recognised with less confidence than wanted, unless the recogniser reported it itself.
func unsure(p *manifest.Page, wanted float64) {
	if p.LowConfidence(wanted) && !doubt.Has(p.Doubts, doubt.Recognition) {
		p.Doubts = doubt.Add(p.Doubts, doubt.Recognition, fmt.Sprintf("recognised with %.0f %% confidence", p.OCR.Confidence))
	}
}

// lacking marks a page that is complete, but below the quality that was asked for. It is made again.
func lacking(p *manifest.Page, why string) {
	if why == "" || p.Status == manifest.PageFailed {
		return
	}
	if p.Lacks = markdown.OneLine(why, 300); p.Status == manifest.PageDone {
		p.Status, p.Error = manifest.PagePartial, p.Lacks
	}
}

// unrecognised marks a page whose text recognition failed.
func unrecognised(p *manifest.Page) {
	if p.OCR != nil && p.OCR.Error != "" && p.Status == manifest.PageDone {
		p.Status, p.Error = manifest.PagePartial, p.OCR.Error
	}
}

// percent limits a confidence to 0 to 100, with one decimal.
func percent(c float64) float64 {
	if !(c > 0) { // NaN too
		return 0
	}
	return float64(int(min(c, 100)*10+0.5)) / 10
}

// append adds the form values and annotations to the page's text, whatever its source.
func (m *pageMaker) append(ctx context.Context) error {
	switch p := &m.page; {
	case m.besides == "":
		return nil
	case p.Text == nil || p.Text.Path == "":
		return m.files().keepText(ctx, p, m.besides, manifest.TextForm)
	default:
		return m.files().keepText(ctx, p, string(m.held[p.Text.Path])+"\n"+m.besides, p.Text.Source)
	}
}

// rendered records the renderer of a page if it differs from the document's. The picture's renderer wins.
func (m *pageMaker) rendered(got extract.Page) {
	if got.Renderer != "" {
		m.page.Render = &manifest.PageRender{Renderer: markdown.OneLine(got.Renderer, 60), Code: markdown.OneLine(got.Code, 40), Reason: markdown.OneLine(got.Reason, 300)}
	}
}

// pageLink is a link to another page of the document, as the layout writes it: to the page's block in the note.
var pageLink = regexp.MustCompile(`\[((?:\\.|[^\[\]\\])*)\]\(#\^p(\d{1,7})\)`)

// pageLinks keeps links to pages, which the note completes. Of links to pages that are not imported, only the text stays.
func (f pageFiles) pageLinks(text string) string {
	asked, err := choose.ParsePages(f.w.set.Asked.Pages)
	if err != nil {
		panic(err) // config.Settings.Check has read it
	}
	return pageLink.ReplaceAllStringFunc(text, func(s string) string {
		m := pageLink.FindStringSubmatch(s)
		if n, err := strconv.Atoi(m[2]); err != nil || !asked.Has(n) {
			return m[1]
		}
		return s
	})
}
