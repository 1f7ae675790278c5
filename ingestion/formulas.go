package ingestion

import (
	"context"
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/reading"
)

// drawFormulas puts the pictures of formulas into the text layer, each above its text. A formula that cannot be drawn is only text.
func (m *pageMaker) drawFormulas(ctx context.Context) error {
	parts := strings.Split(m.layer, markRune)
	if m.page.OCR.Decided || len(parts) != len(m.formulas)+1 {
		m.layer = withoutMarks(parts)
		return nil
	}
	for i := range m.formulas {
		path, err := m.drawFormula(ctx, i)
		if err != nil {
			return err
		}
		if path == "" {
			parts[i+1] = strings.TrimLeft(parts[i+1], "\n")
			continue
		}
		parts[i+1] = "![formula](../" + path + ")" + parts[i+1]
	}
	m.layer = strings.Join(parts, "")
	return nil
}

// withoutMarks joins what marks divided, each of them a paragraph.
func withoutMarks(parts []string) string {
	for i := range parts[1:] {
		parts[i+1] = strings.TrimLeft(parts[i+1], "\n")
	}
	return strings.Join(parts, "")
}

// drawFormula keeps the picture of a formula, and returns its name in the bundle; or "" if there is none.
func (m *pageMaker) drawFormula(ctx context.Context, i int) (string, error) {
	set := m.w.set.PDF
	got, err := m.s.Page(ctx, extract.PageRequest{
		N: m.page.N, Image: true, DPI: set.DPI, MaxSide: set.MaxSide, MaxPixels: set.MaxPixels, Format: "png", Rect: &m.formulas[i], Displayed: true,
	})
	if reading.PageErrorOf(err) != nil {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if got.Image == nil || len(got.Image.Bytes) > maxAsset {
		return "", nil
	}
	ext := pictureExtension(got.Image.MediaType, got.Image.Bytes)
	if ext == "" {
		return "", nil
	}
	name := fmt.Sprintf("assets/%s_formula_%02d%s", pageName(m.page.N), i+1, ext)
	m.page.Assets = append(m.page.Assets, manifest.Asset{Path: name, MediaType: got.Image.MediaType, Bytes: int64(len(got.Image.Bytes)), SHA256: digest(got.Image.Bytes)})
	return name, m.files().put(ctx, name, got.Image.Bytes)
}
