package ingestion

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
	"github.com/vaultflow/vaultflow/ingestion/office"
	"github.com/vaultflow/vaultflow/ingestion/reading"
)

// maxFlat limits the flat OpenDocument files that are checked before LibreOffice reads them, in bytes.
const maxFlat = 64 << 20

// officeFile reads word processor files, presentations, spreadsheets and e-books.
type officeFile struct{}

func (officeFile) name() string { return "office" }

func (officeFile) extract(ctx context.Context, w *work) error {
	if done, err := w.store.composedBefore(); err != nil || done {
		return err
	}
	file, size, err := w.im.open(w.job.at())
	if err != nil {
		return fault.Storage("open "+w.job.at(), err)
	}
	defer file.Close()
	if strings.HasSuffix(w.job.Route.MediaType, "-flat-xml") { // LibreOffice reads what there is, and says nothing
		data, err := w.whole(maxFlat)
		if err == nil && data != nil {
			err = office.WellFormed(data)
		}
		if err != nil {
			return officeFault(err)
		}
	}
	doc, err := office.Read(file, size, office.Limits{})
	to := successors[w.job.Route.MediaType]
	if errors.Is(err, office.ErrUnknown) && to == "" && readHere(w.job.Route.MediaType) {
		err = errors.New("the part with its content is missing")
	}
	old := to != "" && !strings.Contains(w.job.Route.MediaType, "openxmlformats")
	if old && err != nil || errors.Is(err, office.ErrUnknown) {
		var made readerAt
		if made, size, err = (printing{w}).modern(ctx, to); err != nil || made == nil {
			return err
		}
		defer made.Close()
		doc, err = office.Read(made, size, office.Limits{})
	}
	switch {
	case errors.Is(err, office.ErrProtected):
		return keepOld(ctx, w, "This e-book is copy-protected: only the programs of its seller can read it. Drop a copy without protection to have it read.", "")
	case errors.Is(err, office.ErrEncrypted):
		return fault.Permanent(failure.NeedsPassword, "open it, save it without its password, and drop it again", "the file is protected with a password")
	case err != nil:
		return officeFault(err)
	}
	return composing{w}.office(ctx, doc)
}

// readHere reports whether package office reads files of a type, if they have the part with their content.
func readHere(mediaType string) bool {
	return officeExtensions[mediaType] != "" || slices.ContainsFunc([]string{".odg", ".epub", ".xps", ".vsdx"}, func(ext string) bool { return filetype.ByName(ext) == mediaType })
}

// officeFault explains an office file that cannot be read, with advice.
func officeFault(err error) error {
	code := failure.Corrupt
	if errors.Is(err, zip.ErrAlgorithm) {
		code = failure.Unsupported
	}
	return fault.Permanent(code, "open it in the program that made it and save it again; if that fails, copy or download it again", "the file cannot be read: %s", damage(err))
}

// office keeps what was read of an office file, with pictures of its pages.
func (co composing) office(ctx context.Context, doc *office.Document) (err error) {
	c := composed{title: doc.Title, author: doc.Author, created: doc.Created, warnings: doc.Warnings, damaged: doc.Damaged}
	var labels []string
	for _, part := range doc.Parts {
		c.parts = append(c.parts, composedPart{part.Label, part.Markdown(pictureMark)})
		labels = append(labels, part.Label)
	}
	for i := range doc.Pictures {
		c.pictures = append(c.pictures, func() ([]byte, error) { return doc.Data(i, maxAsset) })
	}
	if c.printed, err = printing(co).print(ctx, doc, labels); err != nil {
		return err
	}
	return co.compose(ctx, c)
}

// packageFile lists what is in a ZIP that some program reads as one file, such as a Java archive.
type packageFile struct{}

func (packageFile) name() string { return "package" }

func (packageFile) extract(ctx context.Context, w *work) error {
	if done, err := w.store.composedBefore(); err != nil || done {
		return err
	}
	file, size, err := w.im.open(w.job.at())
	if err != nil {
		return fault.Storage("open "+w.job.at(), err)
	}
	defer file.Close()
	doc, err := office.List(file, size, office.Limits{})
	if err != nil {
		return officeFault(err)
	}
	what, advice := filetype.Name(w.job.Route.MediaType)
	if advice == "" {
		advice = "unpack it and drop the folder to have its files imported"
	}
	doc.Introduce("This is " + orElse(what, "a file of some program") + ". Its parts are listed and not imported: " + advice + ".")
	return composing{w}.office(ctx, doc)
}

// modern lets LibreOffice convert a file of an older format into one that package office reads. If that fails, it returns nothing
// and keeps the file, with a note that explains why.
func (pr printing) modern(ctx context.Context, to string) (readerAt, int64, error) {
	from := officeExtensions[pr.w.job.Route.MediaType]
	if from == "" || to == "" {
		return nil, 0, keepOld(ctx, pr.w, "Files of this format are not read: save it as docx, xlsx or pptx, and drop that file.", "")
	}
	lacks := cmp.Or(pr.w.im.NoOffice, "LibreOffice is not there: install it")
	var err error
	name := "modern." + to
	if pr.w.im.Office != nil {
		err, lacks = pr.convert(ctx, from, to, name), ""
	}
	if e, ok := errors.AsType[*extract.Error](err); ok && ctx.Err() == nil {
		why := reading.Plain(e.Message, "LibreOffice failed")
		if e.Code != failure.WorkerMissing {
			return nil, 0, keepOld(ctx, pr.w, "It could not be read: "+markdown.Inline(why)+". Open it in the program that made it, save it as docx, xlsx or pptx, and drop that file.", "")
		}
		lacks, err = why, nil
	}
	if lacks != "" && err == nil {
		return nil, 0, keepOld(ctx, pr.w, "Files of this format are read only with LibreOffice's help. "+markdown.Inline(lacks)+", then drop the file again. You can also save it as docx, xlsx or pptx, and drop that file.", lacks)
	}
	if err != nil {
		return nil, 0, err
	}
	file, err := pr.w.store.records.FS().Open(name)
	if err != nil {
		return nil, 0, fault.Storage("open "+name, err)
	}
	info, err := file.Stat()
	at, ok := file.(readerAt)
	if err != nil || !ok {
		file.Close()
		return nil, 0, fault.Storage("open "+name, errors.Join(err, errors.ErrUnsupported))
	}
	return at, info.Size(), nil
}

// keepOld keeps a file that is not read, with a sentence of advice. lacks is what another attempt may have.
func keepOld(ctx context.Context, w *work, what, lacks string) error {
	rec := w.store.begin(manifest.Document{})
	rec.Message, rec.Lacks = what+" The original is kept unchanged.", lacks
	return save(ctx, w.store.records, documentName, rec)
}

// successors maps media types that package office does not read to the formats that LibreOffice makes of them. Formats before 2007
// begin with the same bytes as encrypted files of the new ones.
var successors = map[string]string{
	"application/msword": "docx", "text/rtf": "docx", "application/rtf": "docx",
	"application/vnd.ms-excel": "xlsx", "application/vnd.ms-powerpoint": "pptx",
	"application/vnd.oasis.opendocument.text-flat-xml": "odt", "application/vnd.oasis.opendocument.spreadsheet-flat-xml": "ods",
	"application/vnd.oasis.opendocument.presentation-flat-xml":          "odp",
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx", // xlsb: a workbook whose parts are not XML
}

// officeExtensions maps media types to the extensions that LibreOffice knows. It reads no e-books.
var officeExtensions = map[string]string{
	"application/msword": "doc", "text/rtf": "rtf", "application/rtf": "rtf", "application/vnd.ms-excel": "xls", "application/vnd.ms-powerpoint": "ppt",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document":   "docx",
	"application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":         "xlsx",
	"application/vnd.oasis.opendocument.text":                                   "odt",
	"application/vnd.oasis.opendocument.spreadsheet":                            "ods",
	"application/vnd.oasis.opendocument.presentation":                           "odp",
	"application/vnd.oasis.opendocument.text-flat-xml":                          "fodt",
	"application/vnd.oasis.opendocument.spreadsheet-flat-xml":                   "fods",
	"application/vnd.oasis.opendocument.presentation-flat-xml":                  "fodp",
}
