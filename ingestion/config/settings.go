// Package config holds the settings of an import: defaults, what folders override, and what the user requests for one import.
package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/choose"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
)

// The modes in which a document becomes pages.
const (
	ModeMarkdown   = "markdown"    // text only
	ModePageImages = "page_images" // pictures only
	ModeHybrid     = "hybrid"      // both
)

// What becomes of an original whose import succeeded.
const (
	KeepInBundle = "bundle"
	KeepInDone   = "done"   // moved to Settings.DoneDir
	KeepNot      = "delete" // removed, when Importer.Remove can
)

// The strategies for pictures and PDFs.
const (
	StrategyImageOCR  = "image_ocr"
	StrategyImageCopy = "image_copy"
	StrategyPDFText   = "pdf_text"
	StrategyPDFOCR    = "pdf_ocr"
)

// The engines of text recognition. Tesseract runs in the worker; the others are services, which get a picture of the page.
const (
	EngineTesseract = "tesseract"
	EngineMistral   = "mistral"
	EngineModel     = "model" // any model that sees

	EngineVision = "vision" // the same model, for pages that were read already; not in OCR.Engines
)

// RecordFormat changes when records of an older version cannot be resumed. It is part of every settings hash.
const RecordFormat = 1

// Settings are how files are imported. The zero value of a field that is not a flag means its default.
type Settings struct {
	ImportDir    string `json:"import_dir,omitempty"`
	ImportedDir  string `json:"imported_dir,omitempty"`
	DoneDir      string `json:"done_dir,omitempty"`   // outside the import folder, or its files come back
	FailedDir    string `json:"failed_dir,omitempty"` // whoever watches the import folder must ignore it
	KeepOriginal string `json:"keep_original,omitempty"`
	InlinePages  int    `json:"inline_pages,omitempty"` // above so many pages the text stays out of the note
	WarnPages    int    `json:"warn_pages,omitempty"`
	MaxBytes     int64  `json:"max_bytes,omitempty"` // of a file
	MaxPages     int    `json:"max_pages,omitempty"` // of a document
	Sessions     int    `json:"sessions,omitempty"`  // worker processes for one document
	Window       int    `json:"window,omitempty"`    // pages that a session takes at a time

	Hold bool `json:"hold,omitempty"` // leave a file whose format does not show its end where it arrived, until PutAway

	Tags           []string `json:"tags,omitempty"`            // of notes, in addition to the one for the kind
	Template       string   `json:"template,omitempty"`        // vault name of the note that lays notes out; empty for the built-in layout
	TemplateSHA256 string   `json:"template_sha256,omitempty"` // of its bytes when the import was requested; empty if it could not be read
	Asked          Asked    `json:"asked,omitzero"`

	PDF   PDF   `json:"pdf"`
	OCR   OCR   `json:"ocr"`
	Image Image `json:"image"`
	Text  Text  `json:"text"`
	Audio Audio `json:"audio,omitzero"`
}

// DefaultLanguage has the worker find out the language of each page.
const DefaultLanguage = extract.AutoLanguage

// Asked is what a user requested for one import. It overrides the settings of the vault and of folders.
type Asked struct {
	Languages []string `json:"languages,omitempty"`
	Pages     string   `json:"pages,omitempty"` // see [choose.ParsePages]; empty means all

	KeepPictures *bool `json:"keep_pictures,omitempty"` // those that an OCR service cuts out of pages

	URL      string `json:"url,omitempty"`      // where the file was fetched from
	Declared string `json:"declared,omitempty"` // media type that the host named
}

// PDF are for documents with pages.
type PDF struct {
	Mode       string   `json:"mode,omitempty"`
	Strategies []string `json:"strategies,omitempty"`
	DPI        float64  `json:"dpi,omitempty"`
	MaxSide    int      `json:"max_side,omitempty"`     // pixels of a page picture's longer side
	MaxPixels  int64    `json:"max_pixels,omitempty"`   // of a page picture
	Format     string   `json:"image_format,omitempty"` // auto, png or jpeg
	Renderer   string   `json:"renderer,omitempty"`     // mupdf or pdfium; empty: whichever suits a page
}

// OCR are for text recognition.
type OCR struct {
	Languages     []string `json:"languages,omitempty"`
	DPI           float64  `json:"dpi,omitempty"`
	MinConfidence float64  `json:"min_confidence,omitempty"` // percent; pages below are listed in the note
	DropWords     bool     `json:"drop_words,omitempty"`     // keep no ocr/page_0001.json
	Redo          bool     `json:"redo,omitempty"`           // recognise again where an old OCR layer exists
	Engines       []string `json:"engines,omitempty"`        // in the order in which they are tried; empty: tesseract
	Mistral       string   `json:"mistral,omitempty"`        // model of Mistral's recognition
	Model         string   `json:"model,omitempty"`          // alias of the model for the engine of that name
	KeepPictures  bool     `json:"keep_pictures,omitempty"`  // keep pictures that a service cuts out of pages
	Vision        string   `json:"vision,omitempty"`         // which pages of PDFs and pictures Model reads again; empty: none
	VisionUSD     float64  `json:"vision_usd,omitempty"`     // most that this may cost for one import
}

// The values of OCR.Vision.
const (
	VisionOff      = "off" // in settings; empty in OCR
	VisionDoubtful = "doubtful"
	VisionAll      = "all"
)

// Order returns the engines in the order in which they are tried.
func (s OCR) Order() []string {
	if len(s.Engines) == 0 {
		return []string{EngineTesseract}
	}
	return s.Engines
}

// Image are for pictures.
type Image struct {
	Strategies      []string `json:"strategies,omitempty"`
	MaxSide         int      `json:"max_side,omitempty"`          // pixels
	MaxDecodePixels int64    `json:"max_decode_pixels,omitempty"` // refused from the header above this
	KeepLocation    bool     `json:"keep_location,omitempty"`     // leave GPS and other metadata in the page picture
}

// Text are for text files.
type Text struct {
	MaxBytes int64 `json:"max_bytes,omitempty"` // larger ones are kept without being copied into a note
}

// Audio are for recordings of speech. Without a provider they are kept without their text.
type Audio struct {
	Provider string `json:"provider,omitempty"` // name of the service in the settings
	Model    string `json:"model,omitempty"`
	Language string `json:"language,omitempty"`
	MaxBytes int64  `json:"max_bytes,omitempty"` // of one request
}

// Default returns the settings of a vault that has none.
func Default() Settings { return Settings{}.filled() }

func (s Settings) filled() Settings {
	fill(&s.ImportDir, "Import")
	fill(&s.ImportedDir, "Imported")
	fill(&s.DoneDir, path.Join(s.ImportedDir, "Originals"))
	fill(&s.FailedDir, path.Join(s.ImportDir, "Failed"))
	fill(&s.KeepOriginal, KeepInBundle)
	fill(&s.InlinePages, 40)
	fill(&s.WarnPages, 100)
	fill(&s.MaxBytes, 512<<20)
	fill(&s.MaxPages, 5000)
	fill(&s.Sessions, 2)
	fill(&s.Window, 8)
	fill(&s.PDF.Mode, ModeHybrid)
	fillList(&s.PDF.Strategies, StrategyPDFText, StrategyPDFOCR)
	fill(&s.PDF.DPI, 150)
	fill(&s.PDF.MaxSide, 2000)
	fill(&s.PDF.MaxPixels, 40_000_000)
	fill(&s.PDF.Format, "auto")
	fillList(&s.OCR.Languages, DefaultLanguage)
	fill(&s.OCR.DPI, 300)
	fill(&s.OCR.MinConfidence, 60)
	fillList(&s.Image.Strategies, StrategyImageOCR, StrategyImageCopy)
	fill(&s.Image.MaxSide, 4096)
	fill(&s.Image.MaxDecodePixels, 100_000_000)
	fill(&s.Text.MaxBytes, 2<<20)
	return s
}

// Applied returns the settings with defaults for what is unset, and with what the user requested for this import.
func (s Settings) Applied() Settings {
	s = s.filled()
	if len(s.Asked.Languages) > 0 {
		s.OCR.Languages = s.Asked.Languages
	}
	if s.Asked.KeepPictures != nil {
		s.OCR.KeepPictures = *s.Asked.KeepPictures
	}
	return s
}

func fill[T comparable](field *T, otherwise T) {
	var zero T
	if *field == zero {
		*field = otherwise
	}
}

func fillList(field *[]string, otherwise ...string) {
	if len(*field) == 0 {
		*field = otherwise
	}
}

// Hash is the digest of the settings that shape a result. Together with the digest of the bytes it is the key of a job:
// folders, limits and the number of processes are not part of it.
func (s Settings) Hash() string {
	s = s.Applied()
	s.OCR.VisionUSD = 0
	shape := struct {
		Format   int // of what this package writes
		Inline   int
		PDF      PDF
		OCR      OCR
		Image    Image
		Text     Text
		Tags     []string
		Template string // a template that is written over counts as another one
		Pages    string
		Audio    Audio `json:",omitzero"` // later than the others: without it the hash is that of older versions
	}{RecordFormat, s.InlinePages, s.PDF, s.OCR, s.Image, s.Text, s.Tags, s.Template + "\n" + s.TemplateSHA256, s.Asked.Pages, s.Audio}
	data, err := json.Marshal(shape)
	if err != nil {
		panic(err) // strings, numbers and flags only
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:16]
}

// HasPDF reports whether a strategy for PDFs is chosen.
func (s Settings) HasPDF(name string) bool { return slices.Contains(s.PDF.Strategies, name) }

// OCRFirst reports whether text recognition comes before the text layer, or replaces it.
func (s Settings) OCRFirst() bool {
	ocr, layer := slices.Index(s.PDF.Strategies, StrategyPDFOCR), slices.Index(s.PDF.Strategies, StrategyPDFText)
	return ocr >= 0 && (layer < 0 || ocr < layer)
}

// Check returns an error if no import can use these values.
func (s Settings) Check() error {
	faults := []error{
		known("ingestion.pdf.mode", s.PDF.Mode, ModeMarkdown, ModePageImages, ModeHybrid),
		known("ingestion.pdf.image_format", s.PDF.Format, "auto", "png", "jpeg"),
		known("ingestion.pdf.renderer", s.PDF.Renderer, "", extract.RenderAuto, extract.RenderMuPDF, extract.RenderPDFium),
		known("ingestion.keep_original", s.KeepOriginal, KeepInBundle, KeepInDone, KeepNot),
		known("ingestion.vision", s.OCR.Vision, "", VisionDoubtful, VisionAll),
	}
	for _, name := range s.OCR.Engines {
		faults = append(faults, known("ingestion.ocr.engines", name, EngineTesseract, EngineMistral, EngineModel))
	}
	for _, name := range s.OCR.Languages {
		if !extract.ValidLanguage(name) {
			faults = append(faults, fmt.Errorf("ingestion.ocr.languages: %q is not the name of language data", name))
		}
	}
	faults = append(faults, s.strategyFaults())
	if _, err := choose.ParsePages(s.Asked.Pages); err != nil {
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return &fault.Error{Code: failure.InvalidSettings, Message: "the ingestion settings are invalid", Remedy: "correct settings.yaml", Err: err}
	}
	return nil
}

// known finds a value that is none of those that there are.
func known(what, value string, values ...string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return fmt.Errorf("%s: %q is not one of %q", what, value, values)
}

func (s Settings) strategyFaults() error {
	var faults []error
	for _, name := range s.PDF.Strategies {
		faults = append(faults, known("ingestion.pdf.strategies", name, StrategyPDFText, StrategyPDFOCR))
	}
	for _, name := range s.Image.Strategies {
		faults = append(faults, known("ingestion.image.strategies", name, StrategyImageOCR, StrategyImageCopy))
	}
	return errors.Join(faults...)
}
