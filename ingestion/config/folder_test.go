package config

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/ingestion/indexnote"
)

func folderFS(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func TestSettingsFor_inherits(t *testing.T) {
	t.Parallel()
	fsys := folderFS(map[string]string{
		"Import/_import.yaml":     "mode: markdown\nlanguages: deu\ntags: [all, '#home']\nkeep_original: done\n",
		"Import/a/_import.yaml":   "\ufeff# only a comment\n",
		"Import/a/b/_import.yaml": "languages: [nor, eng]\nstrategies: [pdf_ocr, image_copy]\ntags: [deep/er, all]\nocr_engines: [mistral, tesseract]\nredo_ocr: true\ndpi: 72\ninline_pages: 3\ntemplate: T/x.md\n",
		"Other/_import.yaml":      "mode: nonsense\n",
	})
	base := Default()
	for source, want := range map[string]func(*Settings){
		"Other/x.pdf":      func(*Settings) {},
		"Imported/x/x.pdf": func(*Settings) {},
		"Import/x.pdf": func(s *Settings) {
			s.PDF.Mode, s.OCR.Languages, s.Tags, s.KeepOriginal = ModeMarkdown, []string{"deu"}, []string{"all", "home"}, KeepInDone
		},
		"Import/a/b/c/x.pdf": func(s *Settings) {
			s.PDF.Mode, s.OCR.Languages, s.Tags, s.KeepOriginal = ModeMarkdown, []string{"nor", "eng"}, []string{"all", "home", "deep/er"}, KeepInDone
			s.PDF.Strategies, s.Image.Strategies = []string{StrategyPDFOCR}, []string{StrategyImageCopy}
			s.OCR.Engines = []string{EngineMistral, EngineTesseract}
			s.OCR.Redo, s.PDF.DPI, s.InlinePages, s.Template = true, 72, 3, "T/x.md"
		},
	} {
		expected := Default()
		want(&expected)
		got, err := base.For(fsys, source)
		if diff := cmp.Diff(expected, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", source, err, diff)
		}
		if other := got.Hash() != base.Hash(); other != strings.HasPrefix(source, "Import/") {
			t.Errorf("%s: the hash differs from that without folders: %v", source, other)
		}
	}
	if diff := cmp.Diff(Default(), base); diff != "" {
		t.Errorf("the settings were changed:\n%s", diff)
	}
}

func TestSettingsFor_refuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"mode: pictures":                    `line 1: mode: "pictures" is not one of markdown, page_images, hybrid`,
		"a: 1\nmodes: markdown":             "line 2: modes: unknown key; the keys are dpi,",
		"mode: markdown\nmode: hybrid":      "line 2: mode: it is there twice",
		"languages: []":                     "line 1: languages: write a list",
		"languages: [eng, ../../etc]":       "is not the name of language data",
		"strategies: [tesseract]":           "begin with pdf_ or image_",
		"strategies: [pdf_magic]":           `"pdf_magic" is not one of`,
		"ocr_engines: [paddle]":             `line 1: ocr_engines: "paddle" is not one of tesseract, mistral, model`,
		"ocr_engines: []":                   "line 1: ocr_engines: write a list",
		"tags: [ok, '12']":                  `"12" is not a tag`,
		"tags: [two words]":                 "is not a tag",
		"tags: [a, a]":                      "is empty or repeated",
		"template: ../../secret":            "is not a name in the vault",
		"template: /etc/passwd":             "is not a name in the vault",
		"redo_ocr: perhaps":                 "line 1: redo_ocr:",
		"dpi: 5000":                         `"5000" is not a whole number from 36 to 600`,
		"inline_pages: many":                "is not a whole number",
		"keep_original: {a: b}":             "is not one of bundle, done, delete",
		"- mode":                            "line 1: write keys with values",
		"mode: [":                           "line 1:",
		"a: &a [*a]":                        "line 1:",
		strings.Repeat("# x\n", 20_000):     "larger than 64 kB",
		"mode:\n  deep: 1":                  "is not one of",
		"tags: ['%% vaultflow:end %%']":     "is not a tag",
		"languages: null\nmode: page_image": "line 2",
	} {
		_, err := Default().For(folderFS(map[string]string{"Import/a/_import.yaml": text}), "Import/a/b/x.pdf")
		var bad *FolderError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) || bad.Name != "Import/a/_import.yaml" {
			t.Errorf("%.60q: got %v, want %q", text, err, want)
			continue
		}
		note := bad.Note()
		if bad.NoteName() != "Import/a/_import.yaml.failed.md" || strings.Count(note, indexnote.End) != 1 || strings.Count(note, "\n- ") != len(bad.Problems) {
			t.Errorf("%.60q: note %s:\n%s", text, bad.NoteName(), note)
		}
	}
}
