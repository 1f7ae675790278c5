package step

import (
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/llm"
)

// Thumbnails loads a prompt's pictures made small, for people who look at a preview. It reads the vault and no network.
func (w *Workflow) Thumbnails(side int) llm.Loader {
	return w.loader(imaging.Limits{MaxSide: side, MaxBytes: 256 << 10, MaxDecodePixels: w.Budget.MaxDecodePixels})
}

// loader loads what the workflow's requests show, from its vault alone when it has no other source.
func (w *Workflow) loader(l imaging.Limits) llm.Loader {
	m := w.Media
	if m.FS == nil {
		m.FS = w.FS
	}
	return m.Loader(l)
}
