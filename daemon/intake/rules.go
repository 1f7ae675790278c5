package intake

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"slices"

	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/workers"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/policy/trust"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// Rules combine the settings for one import: the vault's, those of the file's folders, and what was asked for. A folder's
// settings may neither send pages nor delete originals until the user allows it.
type Rules struct {
	settings *settings.Settings
	vault    *disk.Vault
	trust    *consent.Trust
	log      *slog.Logger
}

// NewRules returns the rules of a vault.
func NewRules(s *settings.Settings, v *disk.Vault, t *consent.Trust, log *slog.Logger) *Rules {
	return &Rules{settings: s, vault: v, trust: t, log: log}
}

// mostFolders bounds how many entries of the import folder are looked at for files with settings.
const mostFolders = 20_000

// engineAsk asks whether files with settings in import folders may have pages read by a service. One yes holds for every folder.
func engineAsk(engine string) trust.Ask {
	const key = "import_folders.ocr_engines."
	sum := sha256.Sum256([]byte(key + "\x00" + engine))
	return trust.Ask{
		Key: key + engine, Digest: hex.EncodeToString(sum[:]), Value: engine,
		Says: "Send pages of documents to the recognition engine " + engine + " where the " + config.FolderFile + " of an import folder says so",
	}
}

// deleteAsk asks whether files with settings in import folders may have originals deleted.
func deleteAsk() trust.Ask {
	const key = "import_folders.keep_original"
	sum := sha256.Sum256([]byte(key + "\x00" + config.KeepNot))
	return trust.Ask{
		Key: key, Digest: hex.EncodeToString(sum[:]), Value: config.KeepNot,
		Says: "Delete files after they were read where the " + config.FolderFile + " of an import folder says so",
	}
}

// visionAsk asks whether files with settings in import folders may have pages read again by the model for pictures. One yes holds for every folder.
func visionAsk() trust.Ask {
	const key = "import_folders.vision"
	sum := sha256.Sum256([]byte(key))
	return trust.Ask{
		Key: key, Digest: hex.EncodeToString(sum[:]), Value: config.VisionAll,
		Says: "Send pages of documents to the model for pictures where the " + config.FolderFile + " of an import folder says so",
	}
}

// looksBeyond reports whether a folder's settings send pages to a model that the settings in force do not send.
func (r *Rules) looksBeyond(s config.OCR) bool {
	own := visionOf(r.settings.Ingestion.Vision)
	return s.Vision != "" && s.Vision != own && own != config.VisionAll
}

// visionOf returns the setting for imports.
func visionOf(setting string) string {
	if setting == config.VisionOff {
		return ""
	}
	return setting
}

// keepUnseen takes back a folder's vision that nobody has allowed, and any without a limit of cost.
func (r *Rules) keepUnseen(s *config.OCR, name string) {
	own := visionOf(r.settings.Ingestion.Vision)
	ask := visionAsk()
	switch {
	case r.trust.Untrusted():
		s.Vision = ""
	case !r.looksBeyond(*s):
	case !r.trust.Now().Grants(ask.Key, ask.Digest):
		r.log.Warn("pages are not sent to a model although their folder says so", "name", name, "fix", "vaultflow trust")
		s.Vision = own
	case r.settings.Ingestion.MaxCostUSDPerImport <= 0:
		r.log.Warn("pages are not sent to a model although their folder says so", "name", name, "fix", "set ingestion.max_cost_usd_per_import")
		s.Vision = own
	}
	if s.VisionUSD = r.settings.Ingestion.MaxCostUSDPerImport; s.Vision == "" {
		s.VisionUSD = 0
	}
}

// deletesBeyond reports whether a folder's settings delete originals and the settings in force do not.
func (r *Rules) deletesBeyond(s config.Settings) bool {
	return s.KeepOriginal == config.KeepNot && r.settings.Ingestion.KeepOriginal != config.KeepNot
}

// sendsBeyond are the engines among those of a folder that send pages and that the settings in force do not name.
func (r *Rules) sendsBeyond(engines []string) []string {
	return slices.DeleteFunc(slices.Clone(engines), func(e string) bool {
		return e == config.EngineTesseract || slices.Contains(r.settings.Ingestion.OCR.Engines, e)
	})
}

// Asks returns what settings files in import folders ask for.
func (r *Rules) Asks() []trust.Ask {
	var asks []trust.Ask
	seen := 0
	_ = fs.WalkDir(r.vault.FS(), r.settings.Vault.ImportDir, func(name string, d fs.DirEntry, err error) error { // a folder that cannot be read asks for nothing
		if seen++; seen > mostFolders {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() || path.Base(name) != config.FolderFile {
			return nil //nolint:nilerr // see above
		}
		s, err := r.defaults().For(r.vault.FS(), path.Join(path.Dir(name), "file"))
		if err != nil {
			return nil //nolint:nilerr // nothing is imported from this folder
		}
		for _, engine := range r.sendsBeyond(s.OCR.Engines) {
			ask := engineAsk(engine)
			if !slices.Contains(asks, ask) {
				asks = append(asks, ask)
			}
		}
		if ask := visionAsk(); r.looksBeyond(s.OCR) && !slices.Contains(asks, ask) {
			asks = append(asks, ask)
		}
		if ask := deleteAsk(); r.deletesBeyond(s) && !slices.Contains(asks, ask) {
			asks = append(asks, ask)
		}
		return nil
	})
	return asks
}

// keepOriginals keeps what a folder's settings would delete and nobody has allowed.
func (r *Rules) keepOriginals(s *config.Settings, name string) {
	if ask := deleteAsk(); r.deletesBeyond(*s) && !r.trust.Now().Grants(ask.Key, ask.Digest) {
		r.log.Warn("the original is kept although its folder says to delete it", "name", name, "fix", "vaultflow trust")
		s.KeepOriginal = r.settings.Ingestion.KeepOriginal
	}
}

// keepLocal takes the engines from a folder's settings that send pages and that nobody has allowed.
func (r *Rules) keepLocal(s *config.OCR, name string) {
	now := r.trust.Now()
	for _, engine := range r.sendsBeyond(s.Engines) {
		if ask := engineAsk(engine); now.Grants(ask.Key, ask.Digest) {
			continue
		}
		r.log.Warn("pages are not sent to a recognition engine that a folder names", "name", name, "engine", engine, "fix", "vaultflow trust")
		s.Engines = slices.DeleteFunc(slices.Clone(s.Engines), func(e string) bool { return e == engine })
	}
	if len(s.Engines) == 0 {
		s.Engines = []string{config.EngineTesseract}
	}
}

// For returns the settings for the import of a file of which nothing else is known.
func (r *Rules) For(name string) (config.Settings, error) { return r.of(name, request{}) }

// of returns the settings for the import of a file. A *config.FolderError names the folder whose settings cannot be used.
func (r *Rules) of(name string, asked request) (config.Settings, error) {
	s, err := r.defaults().For(r.vault.FS(), name)
	if err != nil {
		return s, err
	}
	r.keepLocal(&s.OCR, name)
	r.keepUnseen(&s.OCR, name)
	r.keepOriginals(&s, name)
	r.nameEngines(&s.OCR)
	how := asked.how
	s.Hold = asked.hold
	s.Asked = config.Asked{Languages: how.Languages, Pages: how.Pages, KeepPictures: how.RetainImages, URL: asked.source, Declared: asked.declared}
	s.OCR.Redo = s.OCR.Redo || how.RedoOCR
	if s.Template != "" {
		if _, sum, err := r.vault.Read(s.Template, maxTemplate); err == nil { // otherwise the note will say what is wrong with it
			s.TemplateSHA256 = sum
		}
	}
	return s, nil
}

// nameEngines adds the models of the text recognition engines. Tesseract alone is the default and is not named.
func (r *Rules) nameEngines(s *config.OCR) {
	in := r.settings.Ingestion.OCR
	if s.Vision != "" {
		s.Model = cmp.Or(in.Model, r.settings.Models.Default)
	}
	if r.trust.Untrusted() || slices.Equal(s.Engines, []string{config.EngineTesseract}) {
		s.Engines = nil
		return
	}
	s.KeepPictures = in.RetainImages
	if slices.Contains(s.Engines, config.EngineMistral) {
		s.Mistral = in.Mistral.Model
	}
	if slices.Contains(s.Engines, config.EngineModel) {
		s.Model = cmp.Or(in.Model, r.settings.Models.Default)
	}
}

// speech names the service that writes down what is said in recordings.
func (r *Rules) speech() config.Audio {
	a := r.settings.Ingestion.Audio
	if a.Provider == "" || r.trust.Untrusted() {
		return config.Audio{}
	}
	return config.Audio{Provider: a.Provider, Model: a.Model, Language: a.Language, MaxBytes: int64(a.MaxRequest)}
}

// maxTemplate is more than a template may have, in bytes.
const maxTemplate = 1 << 20

// Lacks reports whether another attempt may add to a bundle.
func (r *Rules) Lacks(bundle string) bool { return ingestion.Lacks(r.vault.FS(), bundle) }

// Renew returns the current settings for an import that is retried, with what was asked for it. When they cannot be had it
// keeps those that it was begun with.
func (r *Rules) Renew(p engine.ImportPlan) json.RawMessage {
	asked, err := askedOf(p)
	if err != nil {
		return p.Options
	}
	s, err := r.of(p.Source, asked)
	if err != nil {
		r.log.Warn("import is tried again with its old settings", "run", p.Run, "err", err)
		return p.Options
	}
	data, err := json.Marshal(s)
	if err != nil {
		return p.Options
	}
	return data
}

// askedOf returns what was asked for an import.
func askedOf(p engine.ImportPlan) (request, error) {
	var s config.Settings
	if err := json.Unmarshal(p.Options, &s); err != nil {
		return request{}, fmt.Errorf("read the import's settings: %w", err)
	}
	how := control.ImportHow{Mode: p.Mode, Languages: s.Asked.Languages, Pages: s.Asked.Pages, RedoOCR: s.OCR.Redo, RetainImages: s.Asked.KeepPictures}
	return request{how: how, source: s.Asked.URL, declared: s.Asked.Declared, hold: s.Hold}, nil
}

// defaults are the settings of imports in ingestion's own words.
func (r *Rules) defaults() config.Settings {
	in, v := r.settings.Ingestion, r.settings.Vault
	s := config.Settings{
		ImportDir: v.ImportDir, ImportedDir: v.ImportedDir, KeepOriginal: in.KeepOriginal, InlinePages: in.PDF.InlinePages,
		WarnPages: in.PDF.WarnPages, MaxBytes: int64(in.MaxFileSize), MaxPages: in.PDF.MaxPages, Sessions: in.Parallel,
		PDF: config.PDF{
			Mode: in.PDF.Mode, Strategies: in.PDF.Strategies, DPI: float64(in.PDF.DPI), MaxSide: in.PDF.MaxSide,
			MaxPixels: in.PDF.MaxPixels, Format: in.PDF.ImageFormat, Renderer: workers.RendererOf(in.PDF.Renderer),
		},
		OCR: config.OCR{
			Languages: in.OCR.Languages, DPI: float64(in.OCR.DPI), MinConfidence: in.OCR.MinConfidence, DropWords: !in.OCR.Words,
			Engines: in.OCR.Engines, Vision: visionOf(in.Vision),
		},
		Audio:    r.speech(),
		Image:    config.Image{Strategies: in.Image.Strategies},
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
