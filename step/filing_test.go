package step

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/step/steptest"
)

const filingNote = "## File\n%s\n@schema\n```yaml\ntype: object\nrequired: [year, title]\nproperties:\n  year: {type: integer}\n  title: {type: string}\n```\n%s\nName it.\n"

// filing is a world with an imported document and notes, whose only step files what is named. Its answer has a year and a title.
func filing(t *testing.T, directives ...string) *world {
	t.Helper()
	w := newWorld(t, map[string]string{
		"Imported/Scan/manifest.json":          `{"version":1,"note":"Scan.md","source":{"name":"Scan.pdf","sha256":"ab"},"import":{"id":"i1"}}`,
		"Imported/Scan/Scan.md":                "![](pages/page_0001.png) [[Imported/Scan/Scan.pdf]]\n",
		"Imported/Scan/Scan.pdf":               "%PDF",
		"Imported/Scan/pages/page_0001.png":    "png",
		"Imported/Scan/chapters/01 Chapter.md": "part of [[Scan]]\n",
		"Daily/Today.md":                       "\ufeff---\r\nabout: \"[[Scan|the scan]]\"\r\n---\r\n[[Imported/Scan/Scan#Page 1]] `[[Scan]]`",
		"Inbox/Idea.md":                        "see [[Today]] and [x](../Daily/Today.md)\n",
		"Receipts/2026/Taken.md":               "mine\n",
		"Workflows/Other.md":                   "@input file: Imported/Scan/Scan\n",
		"Workflows/Flow.md":                    "x",
	}, steptest.Steps(t, fmt.Sprintf(filingNote, directives[0], strings.Join(directives[1:], "\n")))...)
	w.Record = w.Journal
	w.Links = nil
	return w
}

func startedBy(ref engine.StepRef, files ...string) engine.StepRef {
	ref.Subject = files
	return ref
}

// filed stages and commits an answer, and repeats what died or met a conflict.
func (w *world) filed(ref engine.StepRef, answer string) (engine.StageOut, engine.CommitOut, error) {
	w.t.Helper()
	for try := 1; ; try++ {
		staged, err := w.steps().Stager.Stage(w.t.Context(), engine.StageIn{StepRef: ref, Answer: w.put(answer), Attempt: try})
		if err != nil {
			return staged, engine.CommitOut{}, err
		}
		for {
			out, err := w.steps().Committer.Commit(w.t.Context(), engine.CommitIn{StepRef: ref, Files: staged.Files, Moves: staged.Moves})
			if w.fuse.Dead {
				*w.fuse = steptest.Fuse{}
				continue
			}
			if err == nil && len(out.Conflicts) > 0 && try < 4 {
				break
			}
			return staged, out, err
		}
	}
}

func (w *world) texts() map[string]string {
	all := map[string]string{}
	for name, f := range w.files {
		if !f.Mode.IsDir() {
			all[name] = string(f.Data)
		}
	}
	return all
}

func answerOf(title any) string {
	data, _ := json.Marshal(map[string]any{"year": 2026, "title": title}) //nolint:errchkjson // a test
	return string(data)
}

// Whatever an answer says, it is one part of a name below the author's folder.
func TestFiling_namesAreClean(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"IKEA":                   "IKEA",
		"../../Workflows/Evil":   "Workflows Evil",
		"a/b\\c":                 "a b c",
		".hidden":                "hidden",
		"CON":                    "CON_",
		"x\x00\u202ey\u200b":     "xy",
		"Plan.md":                "Plan",
		"[[Link]]|x#y":           "Link x y",
		strings.Repeat("é", 300): strings.Repeat("é", 60),
		"Taken":                  "Taken (2)",
		"St. Gallen 1.50":        "St. Gallen 1.50",
	} {
		w := filing(t, "@input trigger", "@move trigger to: Receipts/{answer-year}/{answer-title}", "@output file: Notes/{answer-title}")
		staged, out, err := w.filed(startedBy(w.ref(), "Inbox/Idea.md"), answerOf(title))
		name := "Receipts/2026/" + want + ".md"
		if err != nil || len(out.Changes) == 0 || w.texts()[name] == "" || w.texts()["Inbox/Idea.md"] != "" {
			t.Errorf("%q: staged %+v, made %+v, %v; there are %q", title, staged.Moves, out.Changes, err, slices.Sorted(maps.Keys(w.texts())))
		}
		if note := "Notes/" + strings.TrimSuffix(want, " (2)") + ".md"; !strings.Contains(w.texts()[note], `"year"`) {
			t.Errorf("%q: no output %s", title, note)
		}
	}
	for _, title := range []string{"", " ", "...", "\u200b"} {
		w := filing(t, "@input trigger", "@move trigger to: Receipts/{answer-title}")
		_, _, err := w.filed(startedBy(w.ref(), "Inbox/Idea.md"), answerOf(title))
		if err == nil || !strings.Contains(err.Error(), "the answer's title has nothing that could be a name") || w.texts()["Inbox/Idea.md"] == "" {
			t.Errorf("the title %q: %v", title, err)
		}
	}
}

// A document moves as one, links follow with everything else as it was, and workflows are named.
func TestFiling_document(t *testing.T) {
	t.Parallel()
	w := filing(t, "@input trigger", "@move trigger to: Receipts/{answer-year}/{answer-title}")
	before := w.texts()
	_, out, err := w.filed(startedBy(w.ref(), "Imported/Scan/index.md"), answerOf("IKEA"))
	if err != nil {
		t.Fatal(err)
	}
	want := maps.Clone(before)
	maps.DeleteFunc(want, func(name, _ string) bool { return strings.HasPrefix(name, "Imported/") })
	maps.Copy(want, map[string]string{
		"Receipts/2026/IKEA/manifest.json":          `{"version":1,"note":"IKEA.md","source":{"name":"Scan.pdf","sha256":"ab"},"import":{"id":"i1"}}`,
		"Receipts/2026/IKEA/IKEA.md":                "![](pages/page_0001.png) [[Receipts/2026/IKEA/Scan.pdf]]\n",
		"Receipts/2026/IKEA/Scan.pdf":               "%PDF",
		"Receipts/2026/IKEA/pages/page_0001.png":    "png",
		"Receipts/2026/IKEA/chapters/01 Chapter.md": "part of [[IKEA]]\n",
		"Daily/Today.md":                            "\ufeff---\r\nabout: \"[[IKEA|the scan]]\"\r\n---\r\n[[Receipts/2026/IKEA/IKEA#Page 1]] `[[Scan]]`",
	})
	if diff := cmp.Diff(want, w.texts()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(out.Changes) != 4 || out.Changes[0].Kind != engine.ChangeMove || len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "Workflows/Other.md names Imported/Scan") {
		t.Errorf("changes %v, warnings %q", out.Changes, out.Warnings)
	}
	if own, _ := w.OwnWrite(t.Context(), "Flow", "Daily/Today.md", w.vault.DigestOf("Daily/Today.md")); own {
		t.Error("a note whose links followed counts as the workflow's own")
	}
}

// Links to a file that moves follow it, although the step has just written a note of its name.
func TestFiling_outputOfTheSameName(t *testing.T) {
	t.Parallel()
	w := filing(t, "@input trigger", "@output file: Log/{trigger-name}", "@move trigger to: Filed/{answer-title}")
	w.files["Home.md"] = &fstest.MapFile{Data: []byte("[[Idea]] ![[idea#Head]]\n")}
	_, out, err := w.filed(startedBy(w.ref(), "Inbox/Idea.md"), answerOf("Alpha"))
	if err != nil {
		t.Fatal(err)
	}
	if got := w.texts()["Home.md"]; got != "[[Alpha]] ![[Alpha#Head]]\n" {
		t.Errorf("the links are %q", got)
	}
	if w.texts()["Log/Idea.md"] == "" {
		t.Errorf("no log: warnings %q", out.Warnings)
	}
}

// Wherever the process dies, it resumes to the same vault, and each change is made once.
func TestFiling_killed(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"Imported/Scan/Scan.md", "Inbox/Idea.md"} {
		directives := []string{"@input trigger", "@move trigger to: Receipts/{answer-year}/{answer-title}", "@output file: {trigger}"}
		whole := filing(t, directives...)
		if _, _, err := whole.filed(startedBy(whole.ref(), source), answerOf("IKEA")); err != nil {
			t.Fatal(err)
		}
		for n := 1; ; n++ {
			w := filing(t, directives...)
			ref := startedBy(w.ref(), source)
			answer := w.put(answerOf("IKEA"))
			w.fuse.Steps, w.fuse.Dies, w.fuse.After = 0, (n+1)/2, n%2 == 0
			dies := w.fuse.Dies
			staged, err := w.steps().Stager.Stage(t.Context(), engine.StageIn{StepRef: ref, Answer: answer})
			if w.fuse.Dead { // before anything is written
				continue
			}
			for range 3 {
				var out engine.CommitOut
				out, err = w.steps().Committer.Commit(t.Context(), engine.CommitIn{StepRef: ref, Files: staged.Files, Moves: staged.Moves})
				if err == nil && len(out.Conflicts) > 0 {
					err = fmt.Errorf("conflicts %q", out.Conflicts)
				}
				if !w.fuse.Dead {
					break
				}
				*w.fuse = steptest.Fuse{}
			}
			if diff := cmp.Diff(whole.texts(), w.texts()); diff != "" || err != nil {
				t.Fatalf("%s, killed at %d, after %v: %v\n%s", source, dies, n%2 == 0, err, diff)
			}
			if w.fuse.Dies > 0 { // it lived
				if n < 20 {
					t.Errorf("a move has %d things to die at", n/2)
				}
				break
			}
		}
	}
}

// What can be refused before the model is asked is refused then.
func TestFiling_refusedBeforeCost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		to, source string
		write      []string
		code       failure.Code
	}{
		{"Receipts/{answer-title}", "Inbox/Idea.md", []string{"Receipts/**"}, failure.Permission},
		{"Receipts/{answer-title}", "Inbox/Idea.md", []string{"Inbox/**"}, failure.Permission},
		{"Receipts/{answer-title}", "Imported/Scan/Scan.md", []string{"Imported/**/*.md", "Receipts/**"}, failure.Permission},
		{"Workflows/{answer-title}", "Inbox/Idea.md", nil, failure.Permission},
		{"Import/{answer-title}", "Inbox/Idea.md", nil, failure.Output},
		{"{answer-title}", "Imported/Scan/Scan.md", nil, failure.Permission},
		{"Receipts/{answer-title}", "Inbox/Gone.md", nil, failure.Output},
		{"Receipts/{answer-title}", "Imported/Scan/Scan.pdf", nil, failure.Permission},
		{"Receipts/{answer-title}", "Inbox/Idea.md", []string{"Inbox/*", "Receipts/**"}, ""},
		{"Receipts/{answer-title}", "Imported/Scan/Scan.md", []string{"Imported/**", "Receipts/**"}, ""},
	} {
		w := filing(t, "@input trigger", "@move trigger to: "+c.to)
		w.plan.Meta.Permissions.Write = c.write
		w.Reply = nil
		ref := startedBy(w.ref(), c.source)
		found, err := w.steps().Resolve(t.Context(), engine.ResolveIn{StepRef: ref})
		if err == nil {
			_, err = w.steps().Assembler.Assemble(t.Context(), engine.AssembleIn{StepRef: ref, Inputs: found.Inputs})
		}
		if code(err) != c.code {
			t.Errorf("%s to %s with %q: %v, want %q", c.source, c.to, c.write, err, c.code)
		}
	}
}

// A name that is taken gets a number, the present place is none, and letters change case.
func TestFiling_places(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ source, to, want string }{
		{"Inbox/Idea.md", "Archive/", "Archive/Idea.md"},
		{"Inbox/Idea.md", "Inbox/idea", "Inbox/idea.md"},
		{"Inbox/Idea.md", "Inbox/", ""},
		{"Inbox/Idea.md", "Receipts/2026/Taken", "Receipts/2026/Taken (2).md"},
		{"Imported/Scan/Scan.md", "Imported/", ""},
		{"Imported/Scan/Scan.md", "Imported/Other", "Imported/Other/Other.md"},
		{"Imported/Scan/Scan.md", "Archive/", "Archive/Scan/Scan.md"},
	} {
		w := filing(t, "@input trigger", "@move trigger to: "+c.to)
		_, out, err := w.filed(startedBy(w.ref(), c.source), answerOf("x"))
		_, there := w.files[c.want]
		if _, still := w.files[c.source]; err != nil || c.want == "" && (len(out.Changes) > 0 || !still) || c.want != "" && (!there || still) {
			t.Errorf("%s to %s: %v, %v, there are %q", c.source, c.to, out.Changes, err, slices.Sorted(maps.Keys(w.texts())))
		}
	}
}

// A file that somebody edits, moves or needs meanwhile is not moved blindly.
func TestFiling_meanwhile(t *testing.T) {
	t.Parallel()
	w := filing(t, "@input trigger", "@move trigger to: Receipts/{answer-title}")
	ref := startedBy(w.ref(), "Inbox/Idea.md")
	staged, err := w.steps().Stager.Stage(t.Context(), engine.StageIn{StepRef: ref, Answer: w.put(answerOf("IKEA"))})
	if err != nil {
		t.Fatal(err)
	}
	commit := func() engine.CommitOut {
		out, err := w.steps().Committer.Commit(t.Context(), engine.CommitIn{StepRef: ref, Moves: staged.Moves})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	w.files["Receipts/IKEA.md"] = &fstest.MapFile{Data: []byte("another")}
	if out := commit(); len(out.Conflicts) != 1 {
		t.Errorf("a taken place: %+v", out)
	}
	delete(w.files, "Receipts/IKEA.md")
	w.files["Inbox/Idea.md"] = &fstest.MapFile{Data: []byte("edited")}
	if out := commit(); len(out.Conflicts) != 1 {
		t.Errorf("an edited file: %+v", out)
	}
	delete(w.files, "Inbox/Idea.md")
	if out := commit(); len(out.Conflicts) != 1 {
		t.Errorf("a file that is gone: %+v", out)
	}
	if _, _, err := w.filed(ref, answerOf("IKEA")); err == nil || path.Base(err.Error()) == "" || !strings.Contains(err.Error(), "Inbox/Idea.md") {
		t.Errorf("a file that is gone: %v", err)
	}
}
