package directives

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/directives/moment"
	"github.com/vaultflow/vaultflow/failure/diag"
)

var update = flag.Bool("update", false, "write what was found into the golden files")

// table compares a golden file of lines `row => result` with what a function makes of its rows, and returns the rows.
func table(t *testing.T, name string, result func(row string) string) []string {
	t.Helper()
	file := "testdata/language/" + name
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	var got strings.Builder
	for line := range strings.Lines(string(src)) {
		row, _, found := strings.Cut(strings.TrimSuffix(line, "\n"), " => ")
		if !found || strings.HasPrefix(line, "#") {
			got.WriteString(line)
			continue
		}
		rows = append(rows, row)
		got.WriteString(row + " => " + result(row) + "\n")
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(src), got.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
	return rows
}

// missingRows lists those that no row of a golden file is about.
func missingRows(rows, wanted []string, about func(row, wanted string) bool) []string {
	return slices.DeleteFunc(slices.Clone(wanted), func(w string) bool {
		return slices.ContainsFunc(rows, func(row string) bool { return about(row, w) })
	})
}

func TestLanguage_patterns(t *testing.T) {
	t.Parallel()
	rows := table(t, "patterns.txt", func(pattern string) string {
		var results []string
		for _, expand := range []func(string, Facts) (string, error){Expand, ExpandPath, ExpandGlob} {
			text, err := expand(pattern, facts())
			if err != nil {
				text = "! " + err.Error()
			}
			results = append(results, text)
		}
		return strings.Join(results, " | ")
	})
	if m := missingRows(rows, PatternNames(), func(row, name string) bool { return row == "{"+name+"}" }); len(m) > 0 {
		t.Errorf("no row for %v", m)
	}
	if m := missingRows(rows, moment.Patterns(), func(row, name string) bool { return strings.HasPrefix(row, "{"+name+":") }); len(m) > 0 {
		t.Errorf("no row with a format for %v", m)
	}
	for _, token := range strings.Fields("YYYY YY MMMM MMM MM M DDDD DD D Do dddd ddd dd E GGGG WW W HH H hh h mm m ss A a") {
		if !slices.Contains(rows, "{today:"+token+"}") {
			t.Errorf("no row for the token %s", token)
		}
	}
}

func TestLanguage_kinds(t *testing.T) {
	t.Parallel()
	rows := table(t, "kinds.txt", KindOf)
	if m := missingRows(rows, slices.Collect(maps.Keys(kinds)), func(row, ext string) bool { return strings.HasSuffix(row, ext) }); len(m) > 0 {
		t.Errorf("no row for %v", m)
	}
}

// shelf is a vault for selections; the files were changed on as many days of March 2026 as the numbers say.
func shelf() fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, day := range map[string]int{
		"Log/page_2.md": 5, "Log/page_10.md": 3, "Log/page_1.md": 4, "Log/2026-02-28 note.md": 1, "Log/note 2026-03-02.md": 2, "Log/old/page_3.md": 6,
		"Log/scan.png": 7, "Log/scan.pdf": 8, "Log/{x}.md": 9, "Log/Dr. Smith.md": 10, "Log/v1.2": 11, "Log/2026-03-01.md": 12,
	} {
		fsys[name] = &fstest.MapFile{Data: []byte(name), ModTime: time.Date(2026, 3, day, 0, 0, 0, 0, time.UTC)}
	}
	return fsys
}

func TestLanguage_selections(t *testing.T) {
	t.Parallel()
	state := memory{facts().key(): {}}
	born := func(name string) (time.Time, bool) {
		return time.Date(2026, 1, len(name), 0, 0, 0, 0, time.UTC), true
	}
	for _, name := range []string{"Log/page_1.md", "Log/scan.png"} {
		sum, err := hashFile(shelf(), name)
		if err != nil {
			t.Fatal(err)
		}
		state[facts().key()][name] = sum
	}
	rows := table(t, "selections.txt", func(value string) string {
		in, faults := ParseInput(value)
		if diag.HasErrors(faults) {
			return "! " + faults[0].Message
		}
		got, err := in.Resolve(t.Context(), ResolveEnv{FS: shelf(), Facts: facts(), Pending: state, Born: born, MaxFiles: 10})
		if err != nil {
			return "! " + err.(diag.Diagnostic).Message //nolint:errorlint // Resolve returns it unwrapped
		}
		return fileNames(got)
	})
	wanted := []string{"*", "?", "[", "**", "{a,b}", "pending", "latest", "limit=", "order=name", "order=mtime", "order=ctime", "order=date", "dir=asc", "dir=desc", "{latest:3}", "{pending:5}", "{today}"}
	if m := missingRows(rows, wanted, strings.Contains); len(m) > 0 {
		t.Errorf("no row for %v", m)
	}
}

// key is that of the step's first input.
func (f Facts) key() PendingKey { return PendingKey{Workflow: f.Workflow, Step: f.Step} }
