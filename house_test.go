package vaultflow

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
)

// The rules of the house that are not about imports: docs/architecture.md says why. None has an exception but
// the sizes of packages, which need a reason there.

const (
	mostMethods = 25 // of a receiver
	mostFiles   = 5  // that a receiver's methods may be in
	mostFolders = 24 // of the top level with Go code
	mostLines   = 3000
)

// bigPackages may have more lines than the rule says, for the reason in docs/architecture.md.
var bigPackages = []string{
	"cmd/vaultflow", "directives", "engine", "engine/journal", "ingestion", "ingestion/layout", "ingestion/office", "prompt", "settings", "step", "vault/disk", "web", "workflow",
}

// source is one file of the product: no test, no kit.
type source struct {
	name string // slash path from the root
	file *ast.File
	code []byte
}

func (s source) dir() string { return path.Dir(s.name) }

// productFiles parses all Go files that are neither tests nor kits for tests.
func productFiles(t *testing.T) (*token.FileSet, []source) {
	t.Helper()
	fset := token.NewFileSet()
	var all []source
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if base := path.Base(name); name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || strings.HasSuffix(base, "test") || base == "bin" || base == "demo") {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		code, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(fset, name, code, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all = append(all, source{name, file, code})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 300 {
		t.Fatalf("found %d files, want the whole house", len(all))
	}
	return fset, all
}

// receiverOf returns the type that a method belongs to, or "".
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) != 1 {
		return ""
	}
	kind := f.Recv.List[0].Type
	for {
		switch t := kind.(type) {
		case *ast.StarExpr:
			kind = t.X
		case *ast.IndexExpr:
			kind = t.X
		case *ast.IndexListExpr:
			kind = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

func TestHouse_receiversAreNarrow(t *testing.T) {
	t.Parallel()
	_, all := productFiles(t)
	methods, files := map[string]int{}, map[string]map[string]bool{}
	for _, s := range all {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || receiverOf(f) == "" {
				continue
			}
			key := s.dir() + "." + receiverOf(f)
			methods[key]++
			if files[key] == nil {
				files[key] = map[string]bool{}
			}
			files[key][s.name] = true
		}
	}
	for key, n := range methods {
		if n > mostMethods || len(files[key]) > mostFiles {
			t.Errorf("%s has %d methods in %d files; at most %d in %d: give a part of its subject a type of its own", key, n, len(files[key]), mostMethods, mostFiles)
		}
	}
}

// fieldsOf lists a struct's fields with their types, sorted, without the packages of the types; "" when one is unexported: then
// the fields say what a type needs to work, not what it is.
func fieldsOf(fset *token.FileSet, s *ast.StructType) string {
	var fields []string
	for _, f := range s.Fields.List {
		var kind bytes.Buffer
		if err := printer.Fprint(&kind, fset, f.Type); err != nil {
			return err.Error()
		}
		name := kind.String()
		if at := strings.LastIndexByte(name, '.'); at >= 0 {
			name = strings.TrimLeft(name[:at], "*[]abcdefghijklmnopqrstuvwxyz0123456789") + name[at+1:]
		}
		if len(f.Names) == 0 {
			fields = append(fields, "embeds "+name)
		}
		for _, n := range f.Names {
			if !n.IsExported() {
				return ""
			}
			fields = append(fields, n.Name+" "+name)
		}
	}
	sort.Strings(fields)
	return strings.Join(fields, "; ")
}

func TestHouse_noTypeIsSaidTwice(t *testing.T) {
	t.Parallel()
	fset, all := productFiles(t)
	byFields := map[string][]string{}
	for _, s := range all {
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				named, ok := spec.(*ast.TypeSpec)
				if !ok || !named.Name.IsExported() {
					continue
				}
				if st, ok := named.Type.(*ast.StructType); ok && st.Fields.NumFields() > 1 {
					byFields[fieldsOf(fset, st)] = append(byFields[fieldsOf(fset, st)], s.dir()+"."+named.Name.Name)
				}
			}
		}
	}
	for fields, names := range byFields {
		if len(names) > 1 && fields != "" {
			t.Errorf("%s: equal fields (%s): let one package own the type", strings.Join(names, " = "), fields)
		}
	}
}

func TestHouse_nobodyProbesForMethods(t *testing.T) {
	t.Parallel()
	fset, all := productFiles(t)
	for _, s := range all {
		report := func(n ast.Node) {
			t.Errorf("%s: asks a value for methods: use a type or a sentinel of the floor below", fset.Position(n.Pos()))
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeAssertExpr:
				if _, anonymous := n.Type.(*ast.InterfaceType); anonymous {
					report(n)
				}
			case *ast.IndexExpr: // errors.AsType[interface{ … }]
				if _, anonymous := n.Index.(*ast.InterfaceType); anonymous {
					report(n)
				}
			case *ast.AssignStmt: // x, _ := y.(I): a renamed method turns x off without a word
				if len(n.Lhs) == 2 && len(n.Rhs) == 1 {
					blank, isIdent := n.Lhs[1].(*ast.Ident)
					assert, isAssert := n.Rhs[0].(*ast.TypeAssertExpr)
					if isIdent && isAssert && blank.Name == "_" && isInterfaceName(assert.Type) {
						report(n)
					}
				}
			}
			return true
		})
	}
}

// isInterfaceName guesses from the way interfaces are named here: an asserted type of wiring is one of our own packages'
// ports. Types of blocks, keys and decoded JSON are asserted with the blank too, and are structs and basic types.
func isInterfaceName(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.InterfaceType:
		return true
	case *ast.SelectorExpr:
		return strings.HasSuffix(e.Sel.Name, "er") || strings.HasSuffix(e.Sel.Name, "s")
	}
	return false
}

func TestHouse_topLevelShowsTheFloors(t *testing.T) {
	t.Parallel()
	out := map[string]bool{}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && name != "." && (strings.HasPrefix(path.Base(name), ".") || name == "demo" || name == "bin") {
			return fs.SkipDir
		}
		if top, _, below := strings.Cut(name, "/"); err == nil && below && strings.HasSuffix(name, ".go") {
			out[top] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) > mostFolders {
		names := make([]string, 0, len(out))
		for name := range out {
			names = append(names, name)
		}
		slices.Sort(names)
		t.Errorf("%d folders of the top level have Go code, at most %d: what serves one room lives inside it: %s", len(out), mostFolders, strings.Join(names, " "))
	}
}

// TestHouse_keepsTheChosenModules: vaultflow's users chose these. What one of them lacks is added beside it, so that none is replaced in passing.
func TestHouse_keepsTheChosenModules(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	direct, _, _ := strings.Cut(string(data), "// indirect")
	for _, module := range []string{
		"github.com/yuin/goldmark", "go.abhg.dev/goldmark/wikilink", "github.com/fsnotify/fsnotify", "gopkg.in/yaml.v3", "github.com/robfig/cron/v3",
		"github.com/gen2brain/go-fitz", "github.com/otiai10/gosseract/v2",
	} {
		if !strings.Contains(direct, "\t"+module+" v") {
			t.Errorf("go.mod does not require %s", module)
		}
	}
}

// TestHouse_testsWriteProgramsInOnePlace: a program that was just written may be "text file busy" beside other tests, once in many
// runs. Package testdata/programtest says why, and prevents it.
func TestHouse_testsWriteProgramsInOnePlace(t *testing.T) {
	t.Parallel()
	writes := regexp.MustCompile(`os\.WriteFile\(.*, 0o7[0-7][0-7]\)`)
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasPrefix(name, "testdata/programtest/") {
			return err
		}
		code, err := os.ReadFile(name)
		if line := writes.Find(code); line != nil {
			t.Errorf("%s writes an executable file: call programtest.Write instead of %s", name, line)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestHouse_bigPackagesHaveAReason(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, all := productFiles(t)
	lines := map[string]int{}
	for _, s := range all {
		lines[s.dir()] += bytes.Count(s.code, []byte("\n"))
	}
	for dir, n := range lines {
		isBig := slices.Contains(bigPackages, dir)
		switch {
		case n > mostLines && !isBig:
			t.Errorf("%s has %d lines: split it by subject, or name it in bigPackages with a reason in docs/architecture.md", dir, n)
		case n <= mostLines && isBig:
			t.Errorf("%s has %d lines: take it out of bigPackages", dir, n)
		case isBig && !bytes.Contains(page, fmt.Appendf(nil, "\n- `%s` (", dir)):
			t.Errorf("docs/architecture.md gives no reason for the size of %s", dir)
		}
	}
}

// decoders make pixels, or take them from a decoder.
var decoders = map[string][]string{
	"image": {"Decode"}, "image/png": {"Decode"}, "image/jpeg": {"Decode"}, "image/gif": {"Decode", "DecodeAll"},
	"golang.org/x/image/bmp": {"Decode"}, "golang.org/x/image/tiff": {"Decode"}, "golang.org/x/image/webp": {"Decode"},
	"github.com/gen2brain/avif": nil, "github.com/gen2brain/heic": nil, // not even imported
	"github.com/vaultflow/vaultflow/imaging": {"Normalise", "Fit"},
}

// A picture of 36 megapixels took the daemon to 360 MB, and in a small container it died of it at each start. Pixels are made in
// workers, which may die. Package imaging has the code that workers use; the daemon reads headers with it.
func TestHouse_onlyWorkersDecodePictures(t *testing.T) {
	t.Parallel()
	fset, all := productFiles(t)
	for _, s := range all {
		if s.dir() == "imaging" || strings.HasPrefix(s.name, "ingestion/worker/") || strings.HasPrefix(s.name, "cmd/vaultflow-worker/") {
			continue
		}
		names := map[string][]string{}
		for _, i := range s.file.Imports {
			from := strings.Trim(i.Path.Value, `"`)
			calls, known := decoders[from]
			switch {
			case !known:
			case calls == nil:
				t.Errorf("%s: only workers decode pictures", fset.Position(i.Pos()))
			case i.Name != nil:
				names[i.Name.Name] = calls
			default:
				names[path.Base(from)] = calls
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if from, ok := sel.X.(*ast.Ident); ok && slices.Contains(names[from.Name], sel.Sel.Name) {
					t.Errorf("%s: %s.%s makes pixels, which only workers do: ask one, or keep the picture as it is with imaging.AsIs", fset.Position(n.Pos()), from.Name, sel.Sel.Name)
				}
			}
			return true
		})
	}
}
