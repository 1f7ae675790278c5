package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Errors are recognised by sentinels, types and [failure.Reporter]. A probe for a method of no type's name goes on
// compiling when the method is renamed, and then never matches.
func TestErrors_noAnonymousProbes(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files++
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if index, ok := n.(*ast.IndexExpr); ok && isAsType(index.X) {
				if _, anonymous := index.Index.(*ast.InterfaceType); anonymous {
					t.Errorf("%s: name the error type, or let it implement failure.Reporter", fset.Position(n.Pos()))
				}
			}
			if iface, ok := n.(*ast.InterfaceType); ok && hasError(iface) && !named(file, iface) {
				t.Errorf("%s: an interface of errors without a name", fset.Position(n.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil || files < 300 {
		t.Errorf("%d files, %v", files, err)
	}
}

func isAsType(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "AsType"
}

func hasError(i *ast.InterfaceType) bool {
	for _, m := range i.Methods.List {
		if id, ok := m.Type.(*ast.Ident); ok && id.Name == "error" && len(m.Names) == 0 {
			return true
		}
	}
	return false
}

func named(file *ast.File, i *ast.InterfaceType) bool {
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok && spec.Type == i {
			found = true
		}
		return !found
	})
	return found
}
