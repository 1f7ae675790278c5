package ingestion

import (
	"context"
	"io/fs"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// append puts the values of form fields and the annotations behind the page's text, wherever that came from.
func (m *pageMaker) append(ctx context.Context) error {
	switch p := &m.page; {
	case m.besides == "":
		return nil
	case p.Text == nil || p.Text.Path == "":
		return pageFiles{m.w}.keepText(ctx, p, m.besides, manifest.TextForm)
	default:
		text, err := fs.ReadFile(m.w.store.bundle.FS(), p.Text.Path)
		if err != nil {
			return fault.Storage("read "+p.Text.Path, err)
		}
		return pageFiles{m.w}.keepText(ctx, p, string(text)+"\n"+m.besides, p.Text.Source)
	}
}

// rendered notes the renderer of a page that is not the document's. The last word is the picture's.
func (m *pageMaker) rendered(got extract.Page) {
	if got.Renderer != "" {
		m.page.Render = &manifest.PageRender{Renderer: markdown.OneLine(got.Renderer, 60), Code: markdown.OneLine(got.Code, 40), Reason: markdown.OneLine(got.Reason, 300)}
	}
}
