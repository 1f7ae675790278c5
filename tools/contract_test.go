package tools_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/tools"
	"github.com/vaultflow/vaultflow/tools/allowance"
	"github.com/vaultflow/vaultflow/tools/toolstest"
)

// book has long pages: one fits into a result, two do not.
type book struct{}

func (book) Look(context.Context, string) (tools.File, error) {
	return tools.File{Kind: tools.KindDocument, Pages: 100}, nil
}

func (book) Show(context.Context, string, tools.View) ([]content.Block, error) {
	return []content.Block{content.Text{Value: strings.Repeat("a long page ", 1500)}}, nil
}

// The other tools pass the suite in the toolbox, as runs wire them.
func TestReadPages_contract(t *testing.T) {
	t.Parallel()
	r := &tools.FileReader{
		Paths: tools.Paths{FS: fstest.MapFS{"W.pdf": {}}}, Viewer: book{}, Media: &allowance.Allowance{Result: 5, Step: 5},
	}
	toolstest.Exercise(t, toolstest.Case{Tool: r.PagesTool(), Input: `{"path":"W.pdf","page_start":1,"page_end":9}`})
}
