package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/filetype"
)

// Limits of archives in archives. The limits of the whole apply to all of them together.
const (
	MaxNested      = 3        // how deep archives may be nested
	maxNestedBytes = 64 << 20 // of one: it is held in memory
)

// walk goes through an archive and through those in it.
type walk struct {
	meter *unpacked
	visit func(Member, io.Reader) error
	flat  bool // archives in the archive are members like others
}

// archive visits the members of an archive that is in depth others. Their folder is empty or ends with a slash.
func (w *walk) archive(r io.ReaderAt, size int64, mediaType, name, folder string, depth int) error {
	visit := func(m Member, in io.Reader) error {
		m.Folder = folder
		if w.flat || m.Special != "" || m.Locked {
			return w.visit(m, in)
		}
		return w.member(m, in, depth)
	}
	if mediaType == "application/zip" {
		return walkZIP(r, size, w.meter, visit)
	}
	stream, err := decompressed(io.NewSectionReader(r, 0, size), mediaType)
	if err != nil {
		return err
	}
	if mediaType == "application/x-tar" || packedTar(mediaType, name) {
		return walkTar(w.meter.reader(stream), visit)
	}
	return visit(Member{Name: strings.TrimSuffix(path.Base(name), path.Ext(name)), Size: -1}, w.meter.reader(stream))
}

// member visits a member, or the members of the archive that it is. An archive that is too large, too deep, broken or of a
// kind that is not read is left as a whole. What it is its bytes say, unless its name is that of an office file, of
// which the beginning may look like an archive.
func (w *walk) member(m Member, in io.Reader, depth int) error {
	named := filetype.KindOf(filetype.ByName(m.Name))
	buffered := bufio.NewReaderSize(in, filetype.HeadBytes)
	head, err := buffered.Peek(filetype.HeadBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if named != filetype.KindArchive && (named == filetype.KindOffice || named == filetype.KindPackage || filetype.Classify("", "", head, nil, 0).Kind != filetype.KindArchive) {
		return w.visit(m, buffered)
	}
	data, err := io.ReadAll(io.LimitReader(buffered, maxNestedBytes+1))
	if err != nil {
		return err
	}
	inner, size := bytes.NewReader(data), int64(len(data))
	found := filetype.Classify("", m.Name, data[:min(len(data), filetype.HeadBytes)], inner, size)
	m.Size = size
	switch {
	case len(data) > maxNestedBytes:
		m.Special = fmt.Sprintf("an archive of more than %d MB itself; unpack it and drop the files", maxNestedBytes>>20)
	case found.Kind != filetype.KindArchive && named != filetype.KindArchive:
		return w.visit(m, inner)
	case found.Kind != filetype.KindArchive || depth >= MaxNested:
		m.Special = "an archive itself; unpack it and drop the files"
	default:
		m.Special, err = w.whole(inner, size, found.MediaType, m.Name)
	}
	if err != nil {
		return err
	}
	if m.Special != "" {
		return w.visit(m, strings.NewReader(""))
	}
	return w.archive(inner, size, found.MediaType, m.Name, m.Folder+innerFolder(m.Name, found.MediaType), depth+1)
}

// whole returns why an archive cannot be unpacked, or "" if it can be read to its end.
func (w *walk) whole(r io.ReaderAt, size int64, mediaType, name string) (fault string, err error) {
	trial := &walk{flat: true, meter: &unpacked{limit: w.meter.limit - w.meter.read}, visit: func(_ Member, in io.Reader) error {
		_, err := io.Copy(io.Discard, in)
		return err
	}}
	err = trial.archive(r, size, mediaType, name, "", 0)
	switch {
	case errors.Is(err, ErrBomb):
		return "", err
	case errors.Is(err, errors.ErrUnsupported):
		return "an archive itself, of a kind that is not read; unpack it and drop the files", nil
	case err != nil:
		return "a broken archive", nil
	}
	return "", nil
}

// innerFolder returns the folder for the members of an archive in an archive, which has its name. A file that is packed alone is
// put beside it.
func innerFolder(name, mediaType string) string {
	name = strings.Trim(strings.ReplaceAll(name, `\`, "/"), "/")
	if mediaType != "application/zip" && mediaType != "application/x-tar" && !packedTar(mediaType, name) {
		if dir := path.Dir(name); dir != "." {
			return dir + "/"
		}
		return ""
	}
	stem := strings.TrimSuffix(name, path.Ext(name))
	if strings.EqualFold(path.Ext(stem), ".tar") {
		stem = strings.TrimSuffix(stem, path.Ext(stem))
	}
	return stem + "/"
}
