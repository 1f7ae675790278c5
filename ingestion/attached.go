package ingestion

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/archive"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
	"github.com/vaultflow/vaultflow/ingestion/reading"
)

// attaching keeps the files that are attached to a PDF. Documents among them are imported by themselves, like attachments of mail;
// data, such as the XML of an invoice, is a file of the bundle.
type attaching struct{ w *work }

// maxAttachedBytes limits what is read of all attached files together.
const maxAttachedBytes = 2 << 30

// documents are the kinds of attached files that are imported by themselves.
var documents = []filetype.Kind{filetype.KindPDF, filetype.KindOffice, filetype.KindPackage, filetype.KindEmail, filetype.KindImage, filetype.KindArchive, filetype.KindHTML, filetype.KindAudio}

// keep reads the attached files, and names those that it leaves in the document.
func (a attaching) keep(ctx context.Context, from *reading.Reader, names []string, rec *documentRecord) error {
	taken, apart, total := map[string]bool{}, []string{}, 0
	leave := func(name, why string) {
		rec.Warnings = append(rec.Warnings, "the attached file "+markdown.OneLine(name, 100)+" was left in the document: "+why)
	}
	for i, given := range names {
		if given == "" {
			given = fmt.Sprintf("attached file %d", i+1)
		}
		name, why := a.w.places.memberName(archive.Member{Name: path.Base(strings.ReplaceAll(given, `\`, "/"))}, taken)
		if why == "" && total > maxAttachedBytes {
			why = "together, the attached files are too large"
		}
		if why != "" {
			leave(given, strings.ReplaceAll(why, "archive", "document"))
			continue
		}
		data, err := from.Attached(ctx, i+1)
		if bad := reading.PageErrorOf(err); bad != nil {
			leave(given, bad.Message)
			continue
		}
		if err != nil {
			return err
		}
		taken[strings.ToLower(name)] = true
		total += len(data)
		kind := filetype.Classify("", name, data[:min(len(data), filetype.HeadBytes)], bytes.NewReader(data), int64(len(data))).Kind
		if slices.Contains(documents, kind) && strings.Count(a.w.job.Source, "/") <= archive.MaxFolders {
			apart = append(apart, name)
			err = put(ctx, a.w.store.records, path.Join(attachedDir, name), data)
		} else {
			asset := manifest.Asset{Path: path.Join(attachedDir, name), MediaType: http.DetectContentType(data), Bytes: int64(len(data)), SHA256: digest(data)}
			rec.Assets = append(rec.Assets, asset)
			err = put(ctx, a.w.store.bundle, asset.Path, data)
		}
		if err != nil {
			return err
		}
	}
	rec.Children = a.w.places.childrenOf(apart)
	return nil
}

// attachedDir is the folder of attached files, in the bundle and in the records.
const attachedDir = manifest.AttachedDir

// members visits the attached files that are imported by themselves.
func (a attaching) members(visit func(archive.Member, io.Reader) error) error {
	files := a.w.store.records.FS()
	entries, err := fs.ReadDir(files, attachedDir)
	if err != nil {
		return nil //nolint:nilerr // there are none
	}
	for _, e := range entries {
		data, err := fs.ReadFile(files, path.Join(attachedDir, e.Name()))
		if err == nil {
			err = visit(archive.Member{Name: e.Name(), Size: int64(len(data))}, bytes.NewReader(data))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
