// Package archive walks through archives, and through archives in archives, within limits.
package archive

import (
	"archive/tar"
	"archive/zip"
	"compress/bzip2"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/ingestion/charset"
)

// Limits of an unpacked archive.
const (
	MaxMembers     = 2000
	MaxMemberBytes = 256 << 20
	maxUnpacked    = 2 << 30
	MaxFolders     = 16  // how deep the folders of members may be nested
	maxRatio       = 250 // of unpacked to packed bytes, above 64 MB; DEFLATE reaches 1032 with zeros alone
	ratioFrom      = 64 << 20
)

// Member is a file in an archive.
type Member struct {
	Folder  string // of the nested archive that contains it; empty or with a slash at the end
	Name    string // in UTF-8
	Size    int64  // -1 if it is not known
	Special string // what it is when it cannot be read: a link, a device, packed in an unknown way
	Locked  bool   // encrypted
}

// ErrBomb is returned for an archive that unpacks to more than is read.
var ErrBomb = errors.New("it unpacks to far more than its size allows")

// Walk calls visit for every file of an archive and of those in it, in order. Reading fails with ErrBomb when the archive as a
// whole unpacks to more than the limits allow. For formats that are not read, the error is errors.ErrUnsupported.
func Walk(r io.ReaderAt, size int64, mediaType, name string, visit func(Member, io.Reader) error) error {
	w := &walk{meter: &unpacked{limit: bound(size)}, visit: visit}
	return w.archive(r, size, mediaType, name, "", 0)
}

// Members calls visit for every file of an archive, in order. Archives in it are files like others.
func Members(r io.ReaderAt, size int64, mediaType, name string, visit func(Member, io.Reader) error) error {
	w := &walk{meter: &unpacked{limit: bound(size)}, visit: visit, flat: true}
	return w.archive(r, size, mediaType, name, "", 0)
}

// Comment returns the comment of a ZIP archive, or "".
func Comment(r io.ReaderAt, size int64) string {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return ""
	}
	return z.Comment
}

// bound returns how many bytes an archive of a size may unpack to.
func bound(size int64) int64 { return min(max(size*maxRatio, ratioFrom), maxUnpacked) }

func decompressed(in io.Reader, mediaType string) (io.Reader, error) {
	switch mediaType {
	case "application/gzip":
		return gzip.NewReader(in)
	case "application/x-bzip2":
		return bzip2.NewReader(in), nil
	case "application/x-tar":
		return in, nil
	}
	return nil, fmt.Errorf("archives of type %s are not supported: %w", mediaType, errors.ErrUnsupported)
}

// packedTar reports whether a compressed file is a tar archive, by its name: a.tar.gz, a.tgz.
func packedTar(mediaType, name string) bool {
	lower := strings.ToLower(name)
	for _, end := range []string{".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tbz"} {
		if strings.HasSuffix(lower, end) {
			return mediaType == "application/gzip" || mediaType == "application/x-bzip2"
		}
	}
	return false
}

func walkZIP(r io.ReaderAt, size int64, meter *unpacked, visit func(Member, io.Reader) error) error {
	z, err := zip.NewReader(io.NewSectionReader(r, 0, size), size) // so that the error of a wrong offset does not have the path of the file
	if err != nil {
		return err
	}
	z.RegisterDecompressor(methodBzip2, func(in io.Reader) io.ReadCloser { return io.NopCloser(bzip2.NewReader(in)) })
	for i, name := range namesOf(z.File) {
		f := z.File[i]
		m := Member{Name: name, Size: int64(min(f.UncompressedSize64, 1<<62)), Locked: f.Flags&1 != 0}
		switch mode := f.Mode(); {
		case mode.IsDir() || strings.HasSuffix(f.Name, "/"):
			continue
		case !mode.IsRegular():
			m.Special = special(mode)
		}
		if err := visitZIP(f, m, meter, visit); err != nil {
			return err
		}
	}
	return nil
}

// namesOf returns the names of a ZIP archive's members in UTF-8.
func namesOf(files []*zip.File) []string {
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = orUnicode(f.Name, f.Extra)
	}
	return charset.Names(names)
}

// unicodePath is the extra field with a member's name in UTF-8 (APPNOTE 4.6.9).
const unicodePath = 0x7075

// orUnicode returns the name in UTF-8 that a member has in its extra fields, or else the name itself.
func orUnicode(name string, extra []byte) string {
	for len(extra) >= 4 {
		id, size := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if extra = extra[4:]; size > len(extra) {
			break
		}
		field := extra[:size]
		if id == unicodePath && size > 5 && field[0] == 1 && binary.LittleEndian.Uint32(field[1:]) == crc32.ChecksumIEEE([]byte(name)) && utf8.Valid(field[5:]) {
			return string(field[5:])
		}
		extra = extra[size:]
	}
	return name
}

func visitZIP(f *zip.File, m Member, meter *unpacked, visit func(Member, io.Reader) error) error {
	if m.Special != "" || m.Locked {
		return visit(m, strings.NewReader(""))
	}
	in, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		m.Special = "packed with " + method(f.Method) + ", which is not read; unpack it with another program and drop the files"
		return visit(m, strings.NewReader(""))
	}
	if err != nil {
		return err
	}
	defer in.Close()
	return visit(m, meter.reader(in))
}

const methodBzip2 = 12 // APPNOTE 4.4.5

// method names how a member is packed.
func method(n uint16) string {
	if name := map[uint16]string{9: "Deflate64", 14: "LZMA", 93: "Zstandard", 94: "MP3", 95: "xz", 96: "JPEG", 97: "WavPack", 98: "PPMd"}[n]; name != "" {
		return name
	}
	return fmt.Sprintf("method %d", n)
}

func walkTar(r io.Reader, visit func(Member, io.Reader) error) error {
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		m := Member{Name: charset.Names([]string{h.Name})[0], Size: h.Size}
		switch h.Typeflag {
		case tar.TypeReg:
		case tar.TypeDir, tar.TypeXGlobalHeader:
			continue
		default:
			m.Special = special(h.FileInfo().Mode())
			if h.Typeflag == tar.TypeLink {
				m.Special = "a link"
			}
		}
		if err := visit(m, t); err != nil {
			return err
		}
	}
}

func special(mode fs.FileMode) string {
	if mode&fs.ModeSymlink != 0 {
		return "a link"
	}
	return "no regular file"
}

// unpacked counts what an archive unpacks to.
type unpacked struct{ read, limit int64 }

func (u *unpacked) reader(r io.Reader) io.Reader { return &meteredReader{r, u} }

type meteredReader struct {
	r io.Reader
	u *unpacked
}

func (m *meteredReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if m.u.read += int64(n); m.u.read > m.u.limit {
		return n, ErrBomb
	}
	return n, err
}
