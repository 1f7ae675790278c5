package directives

import (
	"context"
	"testing"
	"testing/fstest"
)

// bundles has a bundle as it is made now, with chapters, and one of an older version.
func bundles() fstest.MapFS {
	fsys := files("Imported/Book/Book.md", "Imported/Book/chapters/01 A.md", "Imported/Book/chapters/02 B.md", "Imported/Book/text/page_0001.txt",
		"Imported/Book/pages/page_0001.png", "Imported/Old/index.md", "Imported/Old/text/page_0001.md")
	for name, text := range map[string]string{"manifest.json": `{"version": 1}`, "index.md": "former", "text/page_0001.md": "former"} {
		fsys["Imported/Old (version 1)/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	fsys["Imported/Book/manifest.json"] = &fstest.MapFile{Data: []byte(`{"version": 1, "note": "Book.md", "source": {}}`)}
	fsys["Imported/Old/manifest.json"] = &fstest.MapFile{Data: []byte(`{"version": 1, "source": {}}`)}
	return fsys
}

func TestResolve_pathsOfOlderBundles(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"file: Imported/Book/index.md":             "Imported/Book/Book.md",
		"file: Imported/Book/index":                "Imported/Book/Book.md",
		`file: "Imported/Book/index.md"`:           "Imported/Book/Book.md",
		"file: Imported/Old/index.md":              "Imported/Old/index.md",
		"file: Imported/*/index.md":                "Imported/Book/Book.md | Imported/Old/index.md",
		"file: Imported/**/index.md":               "Imported/Book/Book.md | Imported/Old/index.md",
		"file: Imported/*/index.md (pending)":      "Imported/Book/Book.md | Imported/Old/index.md",
		"file: Imported/Book/text/page_0001.md":    "Imported/Book/text/page_0001.txt",
		"file: Imported/*/text/*.md":               "Imported/Book/text/page_0001.txt | Imported/Old/text/page_0001.md",
		"file: Imported/Book/**/*.md":              "Imported/Book/Book.md",
		"file: Imported/Book/chapters/*.md":        "Imported/Book/chapters/01 A.md | Imported/Book/chapters/02 B.md",
		"file: Imported/Book/{index,nothing}.md":   "Imported/Book/Book.md",
		"file: Imported/*(version */index.md":      "Imported/Old (version 1)/index.md",
		"file: Imported/{Book,Old}/text/page_*.md": "Imported/Book/text/page_0001.txt | Imported/Old/text/page_0001.md",
	} {
		got, err := resolve(t, bundles(), value)
		if err != nil || fileNames(got) != want {
			t.Errorf("%s: %q, %v, want %q", value, fileNames(got), err, want)
		}
	}
}

// The files of a run that an import started by all its notes are the document, once.
func TestResolve_triggerWithoutChapters(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][]string{
		"Imported/Book/Book.md":                         {"Imported/Book/Book.md", "Imported/Book/chapters/01 A.md", "Imported/Book/chapters/02 B.md"},
		"Imported/Book/chapters/01 A.md":                {"Imported/Book/chapters/01 A.md"},
		"Imported/Book/Book.md | Imported/Old/index.md": {"Imported/Book/index.md", "Imported/Old/index.md"},
	} {
		got, err := Input{Target: Target{Scheme: SchemeTrigger}}.Resolve(t.Context(), ResolveEnv{FS: bundles(), Facts: Facts{Files: names}})
		if err != nil || fileNames(got) != want {
			t.Errorf("%q: %q, %v, want %q", names, fileNames(got), err, want)
		}
	}
}

// processed are the keys under which files were marked.
type processed map[string]bool

func (p processed) Done(_ context.Context, _ PendingKey, name, _ string) (bool, error) {
	return p[name], nil
}

// A file of an older bundle that was marked as processed stays so, however the bundles beside it are made.
func TestResolve_olderBundlesStayProcessed(t *testing.T) {
	t.Parallel()
	marked := processed{"Imported/Old/index.md": true, "Imported/Old/text/page_0001.md": true}
	for value, want := range map[string]string{
		"file: Imported/*/index.md (pending)":  "Imported/Book/Book.md",
		"file: Imported/*/*.md (pending)":      "Imported/Book/Book.md",
		"file: Imported/*/text/*.md (pending)": "Imported/Book/text/page_0001.txt",
	} {
		got, err := resolve(t, bundles(), value, func(env *ResolveEnv) { env.Pending = marked })
		if err != nil || fileNames(got) != want {
			t.Errorf("%s: %q, %v, want %q", value, fileNames(got), err, want)
		}
	}
}

func TestOutputName_ofOlderBundle(t *testing.T) {
	t.Parallel()
	var allowed string
	env := OutputEnv{FS: bundles(), Facts: facts(), MayWrite: func(name string) bool { allowed = name; return true }}
	for path, want := range map[string]string{
		"Imported/Book/index.md": "Imported/Book/Book.md", "Imported/Book/index": "Imported/Book/Book.md", "Imported/Old/index": "Imported/Old/index.md", "Notes/index": "Notes/index.md",
	} {
		got, err := Output{Target: Target{Scheme: SchemeFile, Path: path}}.Name(env)
		if err != nil || got != want || allowed != want {
			t.Errorf("%s: %q, %v; permission for %q, want %q", path, got, err, allowed, want)
		}
	}
}

var _ Pending = processed(nil)
