package config

import "testing"

func TestSettings_hash(t *testing.T) {
	t.Parallel()
	base := Settings{}.Hash()
	same := []Settings{Default(), {ImportedDir: "Elsewhere"}, {Sessions: 7}, {KeepOriginal: KeepNot}}
	for _, s := range same {
		if s.Hash() != base {
			t.Errorf("%+v has another hash", s)
		}
	}
	other := []Settings{{PDF: PDF{DPI: 200}}, {PDF: PDF{Mode: ModeMarkdown}}, {OCR: OCR{Languages: []string{"nor"}}}, {InlinePages: 3}}
	for _, s := range other {
		if s.Hash() == base {
			t.Errorf("%+v has the same hash", s)
		}
	}
}
