// Package manifest is the record of an import in its bundle: manifest.json, where its file came from, how it was read, and
// what each page became.
package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/vault"
)

// Version is the version of manifest.json that this package writes.
const Version = 1

// MaxBytes is more than the manifest of any document within the limits takes.
const MaxBytes = 64 << 20

// File is the name of the manifest in its bundle.
const File = vault.ManifestFile

// Kept ends the name of an original that would be a note of the vault.
const Kept = ".original"

// AttachedDir is the folder of the files that were attached to a PDF.
const AttachedDir = "attachments"

// Unpacked ends the name of the folder, below the import folder, that receives the files of an archive or message if a file has the
// name that the folder would have.
const Unpacked = " (unpacked)"

// UnpackedFrom returns the names that the bundle may have, below the folder of bundles, of the archive or message whose files are in a
// folder of this name below the import folder.
func UnpackedFrom(folder string) []string {
	if plain, renamed := strings.CutSuffix(folder, Unpacked); renamed {
		return []string{folder, plain}
	}
	return []string{folder}
}

// LocalTime is the form of times without a zone.
const LocalTime = "2006-01-02T15:04:05"

// Manifest is the machine's view of a bundle. It holds metadata only; all paths are relative to the bundle's folder but
// for Source.Path and History, which name other places in the vault. schemas/manifest.schema.json describes it.
type Manifest struct {
	Version  int       `json:"version"`
	Note     string    `json:"note,omitempty"` // second, where vault.BundleNote reads it; absent in bundles whose note is index.md
	Source   Source    `json:"source"`
	Import   Import    `json:"import"`
	Document Document  `json:"document"`
	Render   *Render   `json:"render,omitempty"` // absent when no page was drawn
	Pages    []Page    `json:"pages"`
	Chapters []Chapter `json:"chapters,omitempty"` // of a long document: the notes with its pages, in order
	Assets   []Asset   `json:"assets"`
	Children []Child   `json:"children"`
	Members  []Member  `json:"members,omitempty"`

	// Generated has the digest of each page's part in the generated notes, by note and page, as vault.PageDigests returns them: it
	// shows which parts the user edited. Absent in bundles of older versions.
	Generated map[string]map[int]string `json:"generated,omitempty"`
}

// Source is the file that was imported.
type Source struct {
	Name      string            `json:"name"`          // of the original, within the bundle when it is kept there
	Path      string            `json:"path"`          // vault name at which it arrived
	URL       string            `json:"url,omitempty"` // where it was fetched from
	Size      int64             `json:"size"`          // bytes
	ModTime   time.Time         `json:"mtime,omitzero"`
	SHA256    string            `json:"sha256"`
	MediaType string            `json:"media_type"`
	Kind      filetype.Kind     `json:"kind"`
	Evidence  filetype.Evidence `json:"evidence"`
	Needed    bool              `json:"needed,omitempty"` // it is kept in the bundle, which has not all of it, although the settings say to delete originals
}

// Import is how it was imported.
type Import struct {
	ID         string            `json:"id"`
	Started    time.Time         `json:"started"`
	Finished   time.Time         `json:"finished"`
	Mode       string            `json:"mode"`           // of PDF files; empty otherwise
	Part       string            `json:"part,omitempty"` // the requested pages, such as 1-20,35
	Strategies []Strategy        `json:"strategies"`
	Tools      map[string]string `json:"tools"` // name to version
	Settings   string            `json:"settings_hash"`
	Tags       []string          `json:"tags,omitempty"` // that the note was given
	Warnings   []string          `json:"warnings"`
	Lacks      string            `json:"lacks,omitempty"`   // why the file was not read, if another attempt may read it
	Version    int               `json:"version"`           // 1, or one more than the bundle that this one replaced
	History    []History         `json:"history,omitempty"` // what happened to the source's other imports
}

// Strategy is a way of reading that was tried, and what came of it.
type Strategy struct {
	Name    string `json:"name"`
	Outcome string `json:"outcome"` // used, not_needed, nothing_found, failed or not_available
	Pages   int    `json:"pages"`   // to which it contributed
	Reason  string `json:"reason,omitempty"`
}

// History is an import of the same source, or of the same bytes.
type History struct {
	Event  string    `json:"event"` // version: this bundle replaced Bundle; duplicate: the same bytes arrived again; grown: the original was written on, the import made a version of what it became; mended: what was missing was made
	Import string    `json:"import"`
	Source string    `json:"source,omitempty"`
	Bundle string    `json:"bundle,omitempty"` // folder of the version before, beside this one; empty if it was removed, because this one has all of it
	SHA256 string    `json:"sha256,omitempty"`
	At     time.Time `json:"at"`
}

// Document is the document's own description, unchecked.
type Document struct {
	Title     string                `json:"title"`
	Author    string                `json:"author"`
	Subject   string                `json:"subject,omitempty"`
	Created   string                `json:"created,omitempty"` // RFC 3339 without zone
	Pages     int                   `json:"pages"`             // of the whole, also when a part was imported
	Outline   []extract.OutlineItem `json:"outline"`
	Encrypted bool                  `json:"encrypted"`
	Tagged    bool                  `json:"tagged"`
	Forms     bool                  `json:"forms"`
	Language  string                `json:"language"` // empty if unknown
}

// Render is how pages were drawn.
type Render struct {
	DPI      float64 `json:"dpi"`
	MaxSide  int     `json:"max_side"`
	Format   string  `json:"format"`
	Renderer string  `json:"renderer,omitempty"`
	Code     string  `json:"code,omitempty"`   // of the reason; manifests of older versions have none
	Reason   string  `json:"reason,omitempty"` // why it is not the usual one: the code, a colon, words
}

// The statuses of a page.
const (
	PageDone    = "done"
	PagePartial = "partial" // the picture is there; its text could not be recognised, or one of them is below the quality that was asked for
	PageFailed  = "failed"
)

// The sources of a page's text.
const (
	TextLayer  = "layer"
	TextOCR    = "ocr"
	TextForm   = "form"
	TextSpeech = "speech" // what is said in a recording
	TextVision = "vision" // a model read it in the picture, and its words were compared with the page's
	TextNone   = "none"
)

// Page is one page.
type Page struct {
	N      int         `json:"n"`                // from 1
	Label  string      `json:"label"`            // empty when it has none
	Render *PageRender `json:"render,omitempty"` // when another renderer than the document's was taken
	Image  *PageImage  `json:"image,omitempty"`
	Others []PageImage `json:"other_images,omitempty"` // of an office file's part that is printed on several pages, after the first
	Text   *PageText   `json:"text,omitempty"`
	OCR    *PageOCR    `json:"ocr,omitempty"`
	Assets []Asset     `json:"assets,omitempty"` // pictures of parts of the page: of formulas, or cut out by an OCR service

	Edges  []string      `json:"edges,omitempty"`  // what is printed at the edge of the page and is not in the text
	Doubts []doubt.Doubt `json:"doubts,omitempty"` // what may be wrong with the text
	Vision *PageVision   `json:"vision,omitempty"` // if a model was to read the page again

	Status string `json:"status"`
	Error  string `json:"error"`            // empty when Status is done
	Lost   bool   `json:"lost,omitempty"`   // the file lacks the page's content or a part of it
	Hidden int    `json:"hidden,omitempty"` // characters of the text layer that nobody can see, which were left out
	Lacks  string `json:"lacks,omitempty"`  // why the page is below the quality that was asked for, if another attempt may be better
}

// Files returns the names of the page's files within the bundle.
func (p Page) Files() []string {
	var names []string
	if p.Image != nil {
		names = append(names, p.Image.Path)
	}
	for _, i := range p.Others {
		names = append(names, i.Path)
	}
	if p.Text != nil && p.Text.Path != "" {
		names = append(names, p.Text.Path)
	}
	if p.OCR != nil && p.OCR.Path != "" {
		names = append(names, p.OCR.Path)
	}
	for _, a := range p.Assets {
		names = append(names, a.Path)
	}
	return names
}

// Chapter is a note with some pages of a long document, from the first to the last.
type Chapter struct {
	Note  string `json:"note"`
	Title string `json:"title"`
	First int    `json:"first"`
	Last  int    `json:"last"`
}

// PageRender is the renderer of a page that differs from [Render], and why.
type PageRender struct {
	Renderer string `json:"renderer"`
	Code     string `json:"code,omitempty"` // of the reason; manifests of older versions have none
	Reason   string `json:"reason"`         // the code, a colon, words
}

// PageImage is the picture of a page.
type PageImage struct {
	Path   string  `json:"path"`
	Width  int     `json:"width"`
	Height int     `json:"height"`
	Bytes  int64   `json:"bytes"`
	SHA256 string  `json:"sha256"`
	DPI    float64 `json:"dpi,omitempty"`

	Identity string `json:"identity,omitempty"` // of the page: digest of its raster at a fixed low resolution; absent in older bundles
}

// PageText is the text of a page.
type PageText struct {
	Path   string `json:"path,omitempty"` // empty when there is no text
	Chars  int    `json:"chars"`
	Source string `json:"source"` // layer, ocr, form, speech, vision or none
}

// PageOCR is the decision about text recognition, and its result.
type PageOCR struct {
	Decided    bool     `json:"decided"`
	Code       string   `json:"code,omitempty"` // of the reason; manifests of older versions have none
	Reason     string   `json:"reason"`         // the code, a colon, and the evidence in words
	Path       string   `json:"path,omitempty"`
	Engine     string   `json:"engine,omitempty"`
	Letters    int      `json:"letters,omitempty"`    // that were recognised, whatever the page's text is
	Confidence float64  `json:"confidence,omitempty"` // percent, mean over the words
	Rotation   int      `json:"rotation,omitempty"`   // degrees clockwise by which the page was turned to be read
	Languages  []string `json:"languages,omitempty"`  // that the worker read it in, as Tesseract names them
	Error      string   `json:"error,omitempty"`
	Skipped    []string `json:"skipped,omitempty"`  // engines that did not answer, each with why
	Service    bool     `json:"service,omitempty"`  // a service read it, which reports no confidence
	CostUSD    float64  `json:"cost_usd,omitempty"` // what the service took; absent when no price is known
}

// PageVision is what came of having a model read the page again.
type PageVision struct {
	Model   string  `json:"model,omitempty"`
	Outcome string  `json:"outcome"`            // used, refused or not_read
	Reason  string  `json:"reason,omitempty"`   // unless it was used and has the words of the page
	CostUSD float64 `json:"cost_usd,omitempty"` // absent when no price is known
}

// The outcomes of a model's reading.
const (
	VisionUsed    = "used"
	VisionRefused = "refused"  // the answer is not the page's text, which stays
	VisionNotRead = "not_read" // no answer; another attempt may get one
)

// Asset is a picture that was taken out of the source.
type Asset struct {
	Path      string `json:"path"`
	MediaType string `json:"media_type"`
	Bytes     int64  `json:"bytes"`
	SHA256    string `json:"sha256"`
}

// Child is a bundle made of a part of the source.
type Child struct {
	Bundle string `json:"bundle"` // its folder, most likely
	Name   string `json:"name"`   // within the source
}

// Member is a file of an export: an archive or folder of notes, whose tree is in the bundle as it was.
type Member struct {
	Path   string `json:"path"`
	Name   string `json:"name,omitempty"` // within the source, if it differs
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`                  // of the file in the bundle
	Source string `json:"source_sha256,omitempty"` // within the source, if it differs
}

// SourceName returns the member's name within the source.
func (m Member) SourceName() string { return cmp.Or(m.Name, m.Path) }

// Parse reads a manifest of this version.
func Parse(data []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("read manifest: %w", err)
	}
	if m.Version != Version {
		return m, fmt.Errorf("read manifest: version %d, this program knows %d", m.Version, Version)
	}
	return m, nil
}

// NameBytes is the longest name of a bundle and of its note. Obsidian Sync and Windows both fail on paths above 255.
const NameBytes = 120

// NoteFor returns the name for the note of a new bundle.
func NoteFor(bundle string) string { return vault.SafeName(path.Base(bundle)+".md", NameBytes) }

// NoteName returns the name of the bundle's note.
func (m Manifest) NoteName() string { return cmp.Or(m.Note, vault.FormerNote) }

// KeepsMember reports whether the original is a file of the source, and not the source: the note that was packed with its pictures.
func (m Manifest) KeepsMember() bool {
	return slices.ContainsFunc(m.Members, func(f Member) bool { return f.Path == m.Source.Name })
}

// Shown returns the original's name for people.
func (s Source) Shown() string { return strings.TrimSuffix(s.Name, Kept) }

// Encode returns the manifest indented, so that it can be compared and read.
func (m Manifest) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write manifest: %w", err)
	}
	return append(data, '\n'), nil
}

// ChapterOf returns the chapter with a page.
func (m Manifest) ChapterOf(page int) (Chapter, bool) {
	i := slices.IndexFunc(m.Chapters, func(c Chapter) bool { return c.First <= page && page <= c.Last })
	if i < 0 {
		return Chapter{}, false
	}
	return m.Chapters[i], true
}

// LacksFont reports whether the page's picture lacks text, because neither the file nor this system has a font for it.
func (p Page) LacksFont() bool {
	r := p.Render
	return r != nil && (r.Code == extract.NoFont || r.Code == "" && strings.HasPrefix(r.Reason, extract.NoFont+": ")) // an older version recorded it in the reason alone
}

// Again reports whether another attempt may make the page better.
func (p Page) Again() bool {
	return p.Status != PageDone || p.OCR != nil && p.OCR.Error != "" || p.LacksFont() // earlier versions called a page done whose recognition failed
}

// Again reports whether another attempt may read more of the file.
func (m Manifest) Again() bool {
	return m.Import.Lacks != "" || slices.ContainsFunc(m.Pages, Page.Again)
}

// LowConfidence reports whether the text of a page was recognised with less confidence than wanted. Services report none.
func (p Page) LowConfidence(wanted float64) bool {
	return p.Text != nil && p.Text.Source == TextOCR && p.OCR != nil && !p.OCR.Service && p.OCR.Confidence < wanted
}

// Doubtful lists the pages whose text is doubtful.
func (m Manifest) Doubtful() (pages []int) {
	for _, p := range m.Pages {
		if len(p.Doubts) > 0 {
			pages = append(pages, p.N)
		}
	}
	return pages
}
