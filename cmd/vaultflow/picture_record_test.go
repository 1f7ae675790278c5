package main

import (
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// TestPictures_recordsAndDeletions has a model look at a picture of 3 MB in its prompt, and at another through a tool. The first
// is deleted while the model speaks, the second before it is sent a second time: their words stand in for them. Nothing that is
// kept of the run, no blob and no row of the journal, has 10 KB.
func TestPictures_recordsAndDeletions(t *testing.T) {
	t.Parallel()
	var b *bench
	removing := func(name string, r llmtest.Reply) llmtest.Reply {
		r.Answer.Deltas = []string{"Let me see."}
		r.Answer.Between = func() {
			if err := os.Remove(filepath.Join(b.dir, "vault", name)); err != nil {
				t.Error(err)
			}
		}
		return r
	}
	b = newBench(t, adapters()[0], "      capabilities: [text, vision, tools]\n",
		removing("first.png", calls("read_file", `{"path":"second.png"}`)),
		removing("second.png", calls("read_file", `{"path":"Words.md"}`)),
		llmtest.Reply{Answer: llmtest.Answer{Text: "Seen.", Input: 20000, Output: 5}})
	b.write("first.png", string(noise(t, 1024, 1024, 1)))
	b.write("second.png", string(noise(t, 1024, 1023, 2)))
	b.write("Words.md", "Some words.\n")
	b.write("Note.md", "Before.\n\n![[first.png]]\n\nAfter.\n")
	b.write("Workflows/Look.md", "---\nbudget: {max_image_mb: 8}\n---\n## Look\n@tools read_file\n@input file: Note (images=auto)\n@output file: Out\n\nWhat is there?\n")
	b.run(exitOmissions, "run", "Look")
	requests := b.server.Requests()
	if len(requests) != 3 {
		t.Fatalf("%d requests, want 3", len(requests))
	}
	for i, want := range []int{1, 1, 0} { // the first; the second alone; none
		if got := images(requests[i].Parts); got != want {
			t.Errorf("request %d: %d pictures, want %d", i+1, got, want)
		}
		said := texts(requests[i].Parts)
		if gone := strings.Contains(said, "[image: first.png, 1024x1024"); gone != (i > 0) {
			t.Errorf("request %d: the words of the first picture are there: %v\n%s", i+1, gone, said)
		}
		if gone := strings.Contains(said, "[image: second.png, 1024x1023"); gone != (i > 1) {
			t.Errorf("request %d: the words of the second picture are there: %v\n%s", i+1, gone, said)
		}
	}
	b.smallRecords(10 << 10)
	b.finish()
}

// smallRecords wants every blob and every row of the journal below a number of bytes.
func (b *bench) smallRecords(most int64) {
	b.t.Helper()
	state, blobs := filepath.Join(b.dir, "state"), 0
	err := filepath.WalkDir(filepath.Join(state, "blobs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		blobs++
		info, err := d.Info()
		if err == nil && info.Size() >= most {
			b.t.Errorf("a blob has %d bytes", info.Size())
		}
		return err
	})
	if err != nil || blobs == 0 {
		b.t.Fatalf("%d blobs, %v", blobs, err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(state, "state.db")+"?mode=ro")
	if err != nil {
		b.t.Fatal(err)
	}
	defer db.Close()
	rows := 0
	for _, table := range column[string](b.t, db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'") {
		sum := "0"
		for _, name := range column[string](b.t, db, "SELECT name FROM pragma_table_info('"+table+"')") {
			sum += " + coalesce(length(CAST(\"" + name + "\" AS BLOB)), 0)"
		}
		for _, size := range column[int64](b.t, db, "SELECT "+sum+" FROM \""+table+"\"") {
			if rows++; size >= most {
				b.t.Errorf("a row of %s has %d bytes", table, size)
			}
		}
	}
	if rows < 5 {
		b.t.Errorf("the journal has %d rows", rows)
	}
}

// column is the one column that a query gives.
func column[T any](t *testing.T, db *sql.DB, query string) []T {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
