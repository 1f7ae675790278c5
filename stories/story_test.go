//go:build unix

package stories

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// patience is how long one thing may take. A book of 600 pages is drawn and recognised in the long tier.
func patience() time.Duration {
	if sitetest.Long() {
		return 30 * sitetest.Patience
	}
	return 3 * sitetest.Patience
}

// story is a vault with the real worker, and a model that answers from what it is shown.
type story struct {
	*sitetest.Site
	service *service
}

// begin makes an empty vault whose default model is the service.
func begin(t *testing.T, more string) *story {
	t.Helper()
	return beginWith(t, 128_000, more)
}

// beginWith makes a vault whose default model takes so many tokens.
func beginWith(t *testing.T, tokens int, more string) *story {
	t.Helper()
	worker := sitetest.Worker(t, "..")
	s := &story{service: newService(t, tokens)}
	s.Site = sitetest.New(t, worker, fmt.Sprintf("models:\n  default: seer\n  aliases:\n    seer: {provider: lab, model: test-model, context_window: %d, capabilities: [text, vision, tools, structured_output]}\n"+
		"providers:\n  lab: {kind: openai_compatible, base_url: %q, api_key_env: LAB_KEY}\n%s", tokens, s.service.URL+"/v1", more))
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	return s
}

// workflow enables a workflow of a story: properties, then directives, then the prompt.
func (s *story) workflow(name, properties, body string) {
	s.T.Helper()
	s.Write("Workflows/"+name+".md", []byte("---\nenabled: true\n"+properties+"\n---\n## Work\n"+body+"\n"))
}

// example puts a shipped workflow into the vault, enabled, with changes to its text: old, new, and so on.
func (s *story) example(name string, changes ...string) {
	s.T.Helper()
	data, err := os.ReadFile(filepath.Join("..", "examples", "workflows", name+".md"))
	if err != nil {
		s.T.Fatal(err)
	}
	text := string(data)
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			s.T.Fatalf("%s has no %q", name, changes[i])
		}
		text = strings.Replace(text, changes[i], changes[i+1], 1)
	}
	s.Write("Workflows/"+name+".md", []byte(strings.Replace(text, "enabled: false", "enabled: true", 1)))
}

// soon is a schedule that fires once, in a moment: far enough for serve to see it first.
func soon() string {
	return fmt.Sprintf("schedule: %q", "once: "+time.Now().Add(4*time.Second).UTC().Truncate(time.Second).Format(time.RFC3339))
}

// drop puts a file into the import folder.
func (s *story) drop(name string, data []byte) {
	s.T.Helper()
	s.Write("Import/"+name, data)
}

// ran waits until a workflow has so many runs, all of them over, and returns them, newest first. Each must have a status of
// those wanted; without any, it must be done.
func (s *story) ran(workflow string, count int, statuses ...engine.Status) []engine.RunRecord {
	s.T.Helper()
	var runs []engine.RunRecord
	s.Wait(patience(), fmt.Sprintf("%d runs of %s", count, workflow), func() (bool, string) {
		runs = slices.DeleteFunc(s.Runs(workflow), func(r engine.RunRecord) bool { return r.Kind == engine.KindUndo })
		over := len(runs) >= count
		for _, r := range runs {
			over = over && r.Status.Finished()
		}
		return over, describe(runs)
	})
	if len(statuses) == 0 {
		statuses = []engine.Status{engine.Done}
	}
	if len(runs) != count {
		s.T.Errorf("%s ran %d times, want %d:\n%s", workflow, len(runs), count, describe(runs))
	}
	for _, r := range runs {
		if !slices.Contains(statuses, r.Status) {
			s.T.Errorf("a run of %s is %s:\n%s", workflow, r.Status, s.Must("show", r.ID))
		}
	}
	return runs
}

func describe(runs []engine.RunRecord) string {
	var b strings.Builder
	for _, r := range runs {
		fmt.Fprintf(&b, "%s %s about %q: %s\n", r.ID, r.Status, r.Trigger.Files, r.Reason)
	}
	return b.String()
}

// quiet waits until serve has seen all that was done to the vault: a note written now has started its own run.
func (s *story) quiet() {
	s.T.Helper()
	s.Write("Workflows/Bell.md", []byte("---\nenabled: true\nwatch: \"Bell/*.md\"\n---\n## Ring\n@model none\n@input file: {trigger} (output=discard)\n"))
	rings := len(s.Runs("Bell"))
	s.Write(fmt.Sprintf("Bell/%d.md", rings), []byte("Ring.\n"))
	s.Wait(sitetest.Patience, "the bell", func() (bool, string) {
		runs := s.Runs("Bell")
		return len(runs) > rings && runs[0].Status.Finished(), describe(runs)
	})
}

// note returns the vault's only note in a folder whose name contains a text.
func (s *story) note(dir, name string) string {
	s.T.Helper()
	var found []string
	for _, file := range s.Files(dir, ".md") {
		if strings.Contains(path.Base(file), name) {
			found = append(found, file)
		}
	}
	if len(found) != 1 {
		s.T.Fatalf("notes like %q in %s: %q, want one; all: %q", name, dir, found, s.Files(dir, ".md"))
	}
	return found[0]
}

// saw checks what was asked about files whose names begin so: each number's picture and word at least once, none more often than
// most, and of the story's other numbers none.
func (s *story) saw(prefix string, all []sheet, kinds string, most int) {
	s.T.Helper()
	pictures, words := map[int]int{}, map[string]int{}
	for _, a := range s.service.about(prefix) {
		for _, g := range a.seen {
			if strings.HasPrefix(g.input, prefix) && g.word != "" {
				words[g.word]++
			} else if g.word == "" {
				pictures[g.picture]++
			}
		}
	}
	for _, p := range all {
		if n := pictures[p.n]; strings.Contains(kinds, "pictures") && (n < 1 || n > most) {
			s.T.Errorf("%s: picture %d was shown %d times, want 1 to %d", prefix, p.n, n, most)
		}
		if n := words[word(p.n)]; strings.Contains(kinds, "text") && (n < 1 || n > most) {
			s.T.Errorf("%s: the text of page %d (%s) was shown %d times, want 1 to %d", prefix, p.n, word(p.n), n, most)
		}
		delete(pictures, p.n)
		delete(words, word(p.n))
	}
	if len(pictures)+len(words) > 0 {
		s.T.Errorf("%s: shown besides its own: pictures %v, words %v", prefix, pictures, words)
	}
}

// tellsOf checks that a file has what the service saw of these pages, and nothing that it saw of others.
func (s *story) tellsOf(file string, own []sheet, others ...sheet) {
	s.T.Helper()
	text := s.Read(file)
	for _, p := range own {
		if !strings.Contains(text, word(p.n)) {
			s.T.Errorf("%s does not tell of page %d (%s):\n%s", file, p.n, word(p.n), text)
		}
	}
	for _, p := range others {
		if strings.Contains(text, word(p.n)) || strings.Contains(text, fmt.Sprintf("Picture %d.", p.n)) {
			s.T.Errorf("%s tells of page %d, which is not its own:\n%s", file, p.n, text)
		}
	}
}

// snapshot returns the vault's files but workflows, imports and the bell.
func (s *story) snapshot() map[string]string {
	s.T.Helper()
	all := map[string]string{}
	for _, name := range s.Files(".", "") {
		switch top, _, _ := strings.Cut(name, "/"); {
		case slices.Contains([]string{"Workflows", "Bell", "Import", "Imported", "settings.yaml"}, top) || strings.HasPrefix(top, "."):
		default:
			all[name] = s.Read(name)
		}
	}
	return all
}
