package prompt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/policy/origin"
)

// files reads the files of a vault, each note and each manifest once in a Build.
type files struct {
	fs      fs.FS
	maxFile int64                  // the size above which a text file is not shown, in bytes; 0 is defaultMaxFile
	allowed func(name string) bool // permissions.read; nil: every file
	parsed  map[string]*parsed
	bundles map[string]bundleRead // by folder
}

// bundleRead is a manifest, or why there is none.
type bundleRead struct {
	bundle *bundle
	err    error
}

// defaultMaxFile is the size above which a text file is not shown, in bytes.
const defaultMaxFile = 64 << 20

// load reads a file once in a Build: its beginning, and of a text the rest.
func (f *files) load(name string) (*parsed, error) {
	if p := f.parsed[name]; p != nil {
		return p, nil
	}
	limit := f.maxFile
	if limit <= 0 {
		limit = defaultMaxFile
	}
	p := &parsed{}
	data, size, err := f.readWhile(name, limit, func(head []byte) bool {
		p.is = recognise(name, head)
		return p.is.kind == kindText || p.is.kind == kindMarkdown
	})
	if err != nil {
		return nil, err
	}
	p.size, p.text = size, decode(data)
	f.parsed[name] = p
	return p, nil
}

// readUpTo reads a file up to a limit in bytes. size is that of the whole file.
func (f *files) readUpTo(name string, limit int64) (data []byte, size int64, err error) {
	return f.readWhile(name, limit, func([]byte) bool { return true })
}

// readWhile reads the beginning of a file, and the rest up to the limit when more says so.
func (f *files) readWhile(name string, limit int64, more func(head []byte) bool) (data []byte, size int64, err error) {
	file, err := f.fs.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a file", path.Base(name))
	}
	head := make([]byte, min(headBytes, limit))
	n, err := io.ReadFull(file, head)
	head = head[:n]
	short := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if err != nil && !short {
		return nil, 0, err
	}
	if !more(head) || short {
		return head, max(info.Size(), int64(n)), nil
	}
	all := bytes.NewBuffer(make([]byte, 0, min(max(info.Size(), int64(n)), limit)+bytes.MinRead))
	all.Write(head)
	if _, err := all.ReadFrom(io.LimitReader(file, limit-int64(n))); err != nil {
		return nil, 0, err
	}
	return all.Bytes(), max(info.Size(), int64(all.Len())), nil
}

// maxManifest bounds the manifest of an import, in bytes.
const maxManifest = 64 << 20

// text returns the text of an import.
func (f *files) text(name string) (string, error) {
	if !f.mayRead(name) {
		return "", errors.New(notPermitted)
	}
	data, size, err := f.readUpTo(name, maxManifest)
	if err != nil {
		return "", err
	}
	if size > int64(len(data)) {
		return "", fmt.Errorf("%s is larger than %s", path.Base(name), formatSize(maxManifest))
	}
	return string(decode(data).text), nil
}

// bundle returns the manifest of a folder. Without one the error is fs.ErrNotExist.
func (f *files) bundle(dir string) (*bundle, error) {
	got, known := f.bundles[dir]
	if !known {
		got.bundle, got.err = f.readBundle(dir)
		f.bundles[dir] = got
	}
	return got.bundle, got.err
}

func (f *files) readBundle(dir string) (*bundle, error) {
	name := path.Join(dir, "manifest.json")
	if !fs.ValidPath(name) {
		return nil, fs.ErrNotExist
	}
	data, size, err := f.readUpTo(name, maxManifest)
	if err != nil {
		return nil, err
	}
	if size > maxManifest {
		return nil, fmt.Errorf("the manifest is larger than %s", formatSize(maxManifest))
	}
	m := &bundle{dir: dir}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("the manifest cannot be read: %w", err)
	}
	if m.Version != 1 {
		return nil, fmt.Errorf("the manifest has version %d, this program knows 1", m.Version)
	}
	return m, nil
}

const notPermitted = "permissions.read does not allow it"

// mayRead asks for the name, and for the one behind all links on the way to it.
func (f *files) mayRead(name string) bool {
	if f.allowed == nil {
		return true
	}
	real, err := origin.Real(f.fs, name)
	return err == nil && f.allowed(name) && f.allowed(real)
}

// exported is the name of the picture that was exported from a drawing: `A.excalidraw.png` or `A.png` for
// `A.excalidraw.md`, in the forms that Excalidraw writes.
func (f *files) exported(name string) string {
	stem := name
	for _, end := range []string{".md", ".excalidraw"} {
		if n := len(stem) - len(end); n > 0 && strings.EqualFold(stem[n:], end) {
			stem = stem[:n]
		}
	}
	for _, end := range []string{".excalidraw.png", ".excalidraw.light.png", ".png", ".light.png", ".excalidraw.svg", ".excalidraw.light.svg", ".svg", ".light.svg", ".excalidraw.dark.png", ".dark.png"} {
		if info, err := fs.Stat(f.fs, stem+end); err == nil && info.Mode().IsRegular() && f.mayRead(stem+end) {
			return stem + end
		}
	}
	return ""
}

// parsed is a file that was read, as far as it was needed.
type parsed struct {
	is     recognised
	size   int64
	text   *decoded // of a text: as much as may be read; otherwise nil
	chunks []chunking.Chunk
	split  bool

	extracted bool // the text was taken out of a file: offsets are not the file's
}
