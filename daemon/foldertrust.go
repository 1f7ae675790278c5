package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path"
	"slices"

	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/trust"
)

// mostFolders bounds how many entries of the import folder are looked at for files with settings.
const mostFolders = 20_000

// engineAsk asks whether files with settings in import folders may have pages read by a service. One yes holds for every
// folder.
func engineAsk(engine string) trust.Ask {
	const key = "import_folders.ocr_engines."
	sum := sha256.Sum256([]byte(key + "\x00" + engine))
	return trust.Ask{
		Key: key + engine, Digest: hex.EncodeToString(sum[:]), Value: engine,
		Says: "Send pages of documents to the recognition engine " + engine + " where the " + ingestion.FolderFile + " of an import folder says so",
	}
}

// deleteAsk asks whether files with settings in import folders may have originals deleted.
func deleteAsk() trust.Ask {
	const key = "import_folders.keep_original"
	sum := sha256.Sum256([]byte(key + "\x00" + ingestion.KeepNot))
	return trust.Ask{
		Key: key, Digest: hex.EncodeToString(sum[:]), Value: ingestion.KeepNot,
		Says: "Delete files after they were read where the " + ingestion.FolderFile + " of an import folder says so",
	}
}

// deletesBeyond reports whether a folder's settings delete originals and the settings in force do not.
func (a *Workspace) deletesBeyond(s ingestion.Settings) bool {
	return s.KeepOriginal == ingestion.KeepNot && a.Settings.Ingestion.KeepOriginal != ingestion.KeepNot
}

// sendsBeyond are the engines among those of a folder that send pages and that the settings in force do not name.
func (a *Workspace) sendsBeyond(engines []string) []string {
	return slices.DeleteFunc(slices.Clone(engines), func(e string) bool {
		return e == ingestion.EngineTesseract || slices.Contains(a.Settings.Ingestion.OCR.Engines, e)
	})
}

// folderAsks is what the files with settings in import folders ask for.
func (a *Workspace) folderAsks() []trust.Ask {
	var asks []trust.Ask
	seen := 0
	_ = fs.WalkDir(a.Vault.FS(), a.Settings.Vault.ImportDir, func(name string, d fs.DirEntry, err error) error { // a folder that cannot be read asks for nothing
		if seen++; seen > mostFolders {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() || path.Base(name) != ingestion.FolderFile {
			return nil //nolint:nilerr // see above
		}
		s, err := a.ingestionSettings().For(a.Vault.FS(), path.Join(path.Dir(name), "file"))
		if err != nil {
			return nil //nolint:nilerr // nothing is imported from this folder
		}
		for _, engine := range a.sendsBeyond(s.OCR.Engines) {
			ask := engineAsk(engine)
			if !slices.Contains(asks, ask) {
				asks = append(asks, ask)
			}
		}
		if ask := deleteAsk(); a.deletesBeyond(s) && !slices.Contains(asks, ask) {
			asks = append(asks, ask)
		}
		return nil
	})
	return asks
}

// keepOriginals keeps what a folder's settings would delete and nobody has allowed.
func (a *Workspace) keepOriginals(s *ingestion.Settings, name string) {
	if ask := deleteAsk(); a.deletesBeyond(*s) && !a.Trust.Now().Grants(ask.Key, ask.Digest) {
		a.Log.Warn("the original is kept although its folder says to delete it", "name", name, "fix", "vaultflow trust")
		s.KeepOriginal = a.Settings.Ingestion.KeepOriginal
	}
}

// keepLocal takes the engines from a folder's settings that send pages and that nobody has allowed.
func (a *Workspace) keepLocal(s *ingestion.OCRSettings, name string) {
	now := a.Trust.Now()
	for _, engine := range a.sendsBeyond(s.Engines) {
		if ask := engineAsk(engine); now.Grants(ask.Key, ask.Digest) {
			continue
		}
		a.Log.Warn("pages are not sent to a recognition engine that a folder names", "name", name, "engine", engine, "fix", "vaultflow trust")
		s.Engines = slices.DeleteFunc(slices.Clone(s.Engines), func(e string) bool { return e == engine })
	}
	if len(s.Engines) == 0 {
		s.Engines = []string{ingestion.EngineTesseract}
	}
}
