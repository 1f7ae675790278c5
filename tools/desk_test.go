package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/tools/allowance"
	"github.com/vaultflow/vaultflow/vault"
)

// desk is a vault in memory with the tools on it.
type desk struct {
	t     *testing.T
	files fstest.MapFS
	view  fakeViewer
	media allowance.Allowance
	seen  []string
	del   bool
	rival func() // called before each change: somebody else is faster
}

func newDesk(t *testing.T, files map[string]string) *desk {
	t.Helper()
	d := &desk{t: t, files: fstest.MapFS{}, media: allowance.Allowance{Result: 10, Step: 40}}
	for name, text := range files {
		if target, isLink := strings.CutPrefix(text, "->"); isLink {
			d.files[name] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink}
			continue
		}
		d.files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	d.view.desk = d
	return d
}

var errNotPermitted = errors.New("not permitted")

func (d *desk) paths() Paths {
	forbid := func(what string) func(string) error {
		return func(name string) error {
			if strings.HasPrefix(name, what) {
				return fmt.Errorf("%s: %w", name, errNotPermitted)
			}
			return nil
		}
	}
	return Paths{
		FS: d.files, Read: forbid("Private/"), Write: forbid("Locked/"), Seen: func(name string) { d.seen = append(d.seen, name) },
		Find: func(target string) string {
			return map[string]string{"plan": "Notes/plan.md", "secret": "Private/s.md"}[target]
		},
		Near: func(string) []string { return []string{"Notes/plan.md", "Private/s.md"} },
	}
}

// Read implements Store.
func (d *desk) Read(name string, _ int64) ([]byte, string, error) {
	f, ok := d.files[name]
	if !ok {
		return nil, "", fs.ErrNotExist
	}
	return f.Data, digestOf(f.Data), nil
}

// Change implements Store.
func (d *desk) Change(_ context.Context, c Change) error {
	if d.rival != nil {
		d.rival()
	}
	have := ""
	if f, ok := d.files[c.Name]; ok {
		have = digestOf(f.Data)
	}
	if have != c.Base {
		return vault.ErrConflict
	}
	switch c.Kind {
	case ChangeMove:
		if _, taken := d.files[c.To]; taken {
			return vault.ErrConflict
		}
		d.files[c.To] = d.files[c.Name]
		delete(d.files, c.Name)
	case ChangeDelete:
		delete(d.files, c.Name)
	default:
		d.files[c.Name] = &fstest.MapFile{Data: c.Data}
	}
	return nil
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func snapshot(files fstest.MapFS) map[string]string {
	all := map[string]string{}
	for name, f := range files {
		all[name] = string(f.Data)
	}
	return all
}

func kindOf(name string) string {
	i := strings.LastIndexByte(name, '.')
	return map[string]string{"md": "markdown", "txt": "text", "csv": "text", "png": "image", "pdf": "document"}[name[i+1:]]
}

// use calls a tool by name.
func (d *desk) use(name string, input any) content.ToolResult {
	d.t.Helper()
	data, err := json.Marshal(input)
	if raw, isText := input.(string); isText {
		data, err = []byte(raw), nil
	}
	if err != nil {
		d.t.Fatal(err)
	}
	p := d.paths()
	r := &FileReader{Paths: p, Viewer: d.view, Media: &d.media}
	f := &Finder{Paths: p}
	w := &Writer{Paths: p, Store: d, Kind: kindOf, MayDelete: d.del}
	all := Registry{
		r.Tool(), r.PagesTool(), f.ListTool(), f.SearchTool(), w.WriteTool(), w.AppendTool(), w.EditTool(), w.MoveTool(), w.DeleteTool(),
	}
	for _, tool := range all {
		if !json.Valid(tool.Parameters) || tool.Description == "" {
			d.t.Fatalf("%s: parameters or description missing", tool.Name)
		}
	}
	return all.Run(d.t.Context(), content.ToolCall{ID: "1", Name: name, Input: data})
}

// fakeViewer takes *.pdf for documents of 100 pages and *.png for pictures.
type fakeViewer struct {
	desk   *desk
	blind  bool
	page   int // bytes of text of a page
	shown  *[]View
	hidden error
}

func (v fakeViewer) Look(_ context.Context, name string) (File, error) {
	data := v.desk.files[name].Data
	f := File{Kind: KindText, Size: int64(len(data)), Text: string(data), Pictures: strings.Contains(string(data), "![["), Untrusted: strings.HasPrefix(name, "Imported/")}
	switch {
	case v.hidden != nil:
		return f, v.hidden
	case kindOf(name) == "image":
		f.Kind, f.Text = KindImage, ""
	case kindOf(name) == "document":
		f.Kind, f.Text, f.Pages = KindDocument, "", 100
	case bytes.IndexByte(data, 0) >= 0:
		f.Kind, f.MediaType = KindOpaque, "application/octet-stream"
	}
	return f, nil
}

func (v fakeViewer) Show(_ context.Context, name string, view View) ([]content.Block, error) {
	if v.shown != nil {
		*v.shown = append(*v.shown, view)
	}
	var blocks []content.Block
	for n := max(view.First, 1); n <= max(view.Last, 1); n++ {
		text := fmt.Sprintf("[%s %d]", name, n)
		if view.TextOnly || v.blind {
			text += strings.Repeat("x", v.page)
		}
		blocks = append(blocks, content.Text{Value: text})
		if !view.TextOnly && !v.blind {
			blocks = append(blocks, content.Image{Name: name, Page: n, Source: content.SourcePage})
		}
	}
	return blocks, nil
}
