package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// ImportHow is what was asked for one import alone, in place of the settings.
type ImportHow struct {
	Mode      string   `json:"mode,omitempty"`
	Languages []string `json:"languages,omitempty"`
	Pages     string   `json:"pages,omitempty"`

	RedoOCR      bool  `json:"redo_ocr,omitempty"`
	RetainImages *bool `json:"retain_ocr_images,omitempty"`

	source   string // address that it was fetched from
	declared string // media type that the host named
	hold     bool   // leave it there for a while when its end cannot be told
	where    string // vault name at which the file lies, when that is another than the one at which it arrived
}

// dropFile copies a file of this machine into the import folder and asks for its import.
func (w *Process) dropFile(ctx context.Context, o ImportOrder) (string, error) {
	f, err := os.Open(string(o.Path))
	if err != nil {
		return "", usagef("import: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", usagef("import %s: it is no regular file", o.Path)
	}
	if o.Walked && !w.Vault.Takes(path.Join(w.Settings.Vault.ImportDir, vault.SafeName(path.Base(o.Name), 0))) {
		return "", nil // clutter of a folder that was named as a whole
	}
	return w.drop(ctx, f, o.Name, o.ImportHow)
}

// drop copies what r holds into the import folder and asks for its import. The watcher sees the file too, and is told to
// leave it, so that it is asked for once. Settings of its folder that cannot be used are found before anything is copied.
func (w *Process) drop(ctx context.Context, r io.Reader, name string, how ImportHow) (string, error) {
	if _, err := w.optionsFor(path.Join(w.Settings.Vault.ImportDir, path.Clean("/"+name)), how); err != nil {
		return "", err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	dropped, digest, err := w.Writing(policy.ByDrop).Drop(ctx, r, name)
	if err != nil {
		return "", err
	}
	run, err := w.startImport(ctx, dropped, digest, how)
	if err == nil {
		w.claimed[dropped] = run
	}
	return run, err
}

// claim gives the run that a command has asked for to import a file, empty when there is none, and forgets it.
func (w *Process) claim(name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	run := w.claimed[name]
	delete(w.claimed, name)
	return run
}

// startImport asks for the import of a file that lies in the vault.
func (w *Process) startImport(ctx context.Context, name, digest string, how ImportHow) (string, error) {
	info, err := w.Vault.FS().Open(cmp.Or(how.where, name))
	if err != nil {
		return "", err
	}
	defer info.Close()
	stat, err := info.Stat()
	if err != nil {
		return "", err
	}
	options, err := w.optionsFor(name, how)
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(options)
	if err != nil {
		return "", fmt.Errorf("encode the import's settings: %w", err)
	}
	job := ingestion.Job{Mode: how.Mode, Settings: options}
	started, err := w.Exec.Start(ctx, engine.Request{
		Key: engine.ImportKey(digest, job.Hash(), name), Again: true, Kind: engine.KindImport, Subject: name,
		Trigger: engine.Trigger{Kind: engine.TriggerDrop}, At: time.Now().In(w.Zone),
		Import: &engine.ImportRequest{SHA256: digest, Size: stat.Size(), Mode: how.Mode, Options: data, Where: how.where},
	})
	return started.Run, err
}

// optionsFor are the settings for the import of a file of the vault: those of the vault, of the file's folders, and what
// was asked for. A *ingestion.FolderError says which folder's cannot be used.
func (a *Workspace) optionsFor(name string, how ImportHow) (ingestion.Settings, error) {
	s, err := a.ingestionSettings().For(a.Vault.FS(), name)
	if err != nil {
		return s, err
	}
	a.keepLocal(&s.OCR, name)
	a.keepOriginals(&s, name)
	a.nameEngines(&s.OCR)
	s.Hold = how.hold
	s.Asked = ingestion.Asked{Languages: how.Languages, Pages: how.Pages, KeepPictures: how.RetainImages, URL: how.source, Declared: how.declared}
	s.OCR.Redo = s.OCR.Redo || how.RedoOCR
	if s.Template != "" {
		if _, sum, err := a.Vault.Read(s.Template, maxTemplate); err == nil { // otherwise the note will say what is wrong with it
			s.TemplateSHA256 = sum
		}
	}
	return s, nil
}

// nameEngines says which models the engines of text recognition are, those of a folder's settings too. Tesseract alone is what
// goes without saying: results that were made with it are told by no engine.
func (a *Workspace) nameEngines(s *ingestion.OCRSettings) {
	in := a.Settings.Ingestion.OCR
	if a.Trust.Untrusted() || slices.Equal(s.Engines, []string{ingestion.EngineTesseract}) {
		s.Engines = nil
		return
	}
	s.KeepPictures = in.RetainImages
	if slices.Contains(s.Engines, ingestion.EngineMistral) {
		s.Mistral = in.Mistral.Model
	}
	if slices.Contains(s.Engines, ingestion.EngineModel) {
		s.Model = cmp.Or(in.Model, a.Settings.Models.Default)
	}
}

// maxTemplate is more than a template may have, in bytes.
const maxTemplate = 1 << 20

// renew gives the settings of now to an import that is tried again, with what was asked for it. When they cannot be had it
// keeps those that it was begun with.
func (a *Workspace) renew(p engine.ImportPlan) json.RawMessage {
	var before ingestion.Settings
	if err := json.Unmarshal(p.Options, &before); err != nil {
		return p.Options
	}
	s, err := a.optionsFor(p.Source, ImportHow{Languages: before.Asked.Languages, Pages: before.Asked.Pages, RedoOCR: before.OCR.Redo, RetainImages: before.Asked.KeepPictures, source: before.Asked.URL, declared: before.Asked.Declared, hold: before.Hold})
	if err != nil {
		a.Log.Warn("import is tried again with its old settings", "run", p.Run, "err", err)
		return p.Options
	}
	data, err := json.Marshal(s)
	if err != nil {
		return p.Options
	}
	return data
}

// ingestionSettings are the settings of imports in ingestion's own words.
func (a *Workspace) ingestionSettings() ingestion.Settings {
	in, v := a.Settings.Ingestion, a.Settings.Vault
	s := ingestion.Settings{
		ImportDir: v.ImportDir, ImportedDir: v.ImportedDir, KeepOriginal: in.KeepOriginal, InlinePages: in.PDF.InlinePages,
		WarnPages: in.PDF.WarnPages, MaxBytes: int64(in.MaxFileSize), MaxPages: in.PDF.MaxPages, Sessions: in.Parallel,
		PDF: ingestion.PDFSettings{
			Mode: in.PDF.Mode, Strategies: in.PDF.Strategies, DPI: float64(in.PDF.DPI), MaxSide: in.PDF.MaxSide,
			MaxPixels: in.PDF.MaxPixels, Format: in.PDF.ImageFormat, Renderer: rendererOf(in.PDF.Renderer),
		},
		OCR: ingestion.OCRSettings{
			Languages: in.OCR.Languages, DPI: float64(in.OCR.DPI), MinConfidence: in.OCR.MinConfidence, DropWords: !in.OCR.Words,
			Engines: in.OCR.Engines,
		},
		Image:    ingestion.ImageSettings{Strategies: in.Image.Strategies},
		Template: in.Template,
	}
	if in.PDF.InlinePages == 0 { // there, zero means the default
		s.InlinePages = -1
	}
	if in.OCR.MinConfidence == 0 {
		s.OCR.MinConfidence = -1
	}
	return s
}
