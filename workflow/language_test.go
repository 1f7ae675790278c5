package workflow

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/directives"
)

// placeless lists the fields of a plan that are left out of the golden files: places and digests.
var placeless = []string{"at", "line", "prompt_line", "sha256", "file", "model_at", "header_at", "fallback_at", "tools_at", "pending_at"}

// planText is a plan as JSON without places and without what every plan has.
func planText(t *testing.T, p *Plan) string {
	t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var value map[string]any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	strip(value)
	delete(value, "name")
	meta, _ := value["meta"].(map[string]any)
	maps.DeleteFunc(meta, func(key string, v any) bool {
		return v == map[string]any{"enabled": false, "week_start_day": "monday", "overlap": "skip", "catch_up": "none"}[key]
	})
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(value); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func strip(value any) {
	switch v := value.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(key string, inside any) bool {
			_, text := inside.(string)
			return slices.Contains(placeless, key) && (key != "file" || text)
		})
		for _, inside := range v {
			strip(inside)
		}
	case []any:
		for _, inside := range v {
			strip(inside)
		}
	}
}

// languageNotes are the notes of the golden files, by file and name.
func languageNotes(t *testing.T) map[string][]part {
	t.Helper()
	files, err := filepath.Glob("testdata/language/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	all := map[string][]part{}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, all[name] = archive(string(src))
	}
	return all
}

// Each golden file holds correct notes, each followed by its plan.
func TestLanguage_plans(t *testing.T) {
	t.Parallel()
	for name, parts := range languageNotes(t) {
		for i := 0; i+1 < len(parts); i += 2 {
			note, want := parts[i], &parts[i+1]
			plan, list := Parse(strings.TrimSuffix(note.name, ".md"), note.name, []byte(note.text))
			if len(list) > 0 {
				t.Errorf("%s, %s: %v", name, note.name, list)
			}
			got := planText(t, plan)
			if *update {
				want.text = got
			} else if diff := cmp.Diff(want.text, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, note.name, diff)
			}
		}
		if *update {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			head, _ := archive(string(src))
			if err := os.WriteFile(name, []byte(head+format(parts)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Every row of the language's tables stands in a golden file: keys of the frontmatter, permissions and budgets,
// directives with their parameters, tools, tests and the words that they take.
func TestLanguage_everyRowHasAGoldenFile(t *testing.T) {
	t.Parallel()
	text := map[string]string{}
	for name, parts := range languageNotes(t) {
		for i := 0; i < len(parts); i += 2 {
			text[filepath.Base(name)] += parts[i].text
		}
	}
	wants := func(file, row, sample string) {
		if !strings.Contains(text[file], sample) {
			t.Errorf("%s: no golden file for %s (%q)", file, row, sample)
		}
	}
	for _, key := range slices.Concat(keyNames, directives.WorkflowBudgetKeys(), []string{"read", "write", "tools", "network"}) {
		wants("frontmatter.txtar", key, key+":")
	}
	for _, form := range directives.Forms() {
		wants("directives.txtar", "@"+form.Name, "@"+form.Name)
		for _, param := range form.Params {
			if form.Name == "input" {
				wants("parameters.txtar", "@input "+param, param)
				continue
			}
			found := false
			for line := range strings.Lines(text["directives.txtar"]) {
				found = found || strings.HasPrefix(line, "@"+form.Name) && strings.Contains(line, param)
			}
			if !found {
				t.Errorf("no golden file for @%s (%s)", form.Name, param)
			}
		}
	}
	for _, words := range [][]string{directives.ToolNames(), {"exists", "missing", "changed", "empty", "nonempty"}, {"append", "replace", "new", "frontmatter", "section"}, {"daily", "weekly", "forever", "never"}} {
		for _, word := range words {
			wants("directives.txtar", word, word)
		}
	}
	for _, word := range directives.WhenExceeded() {
		wants("frontmatter.txtar", word, "when_exceeded: "+word)
	}
}
