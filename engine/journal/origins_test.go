package journal_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/policy/origin/origintest"
)

func TestOrigins(t *testing.T) {
	t.Parallel()
	origintest.Exercise(t, open(t, t.TempDir()).Origins)
}

// Where contents come from outlives the runs that brought them; and what was imported before there were such records is known
// by its import.
func TestOrigins_outliveRetention(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	o := j.Origins
	const digest, older = "00000000000000000000000000000000000000000000000000000000000000aa", "00000000000000000000000000000000000000000000000000000000000000bb"
	past(t, j, "old", 500, nil)
	if err := o.Keep(t.Context(), origin.Entry{Name: "a.md", Digest: digest, Pieces: []origin.Piece{5}, Origins: []string{"run old (w)"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := j.DB().ExecContext(t.Context(), `INSERT INTO imports (id, source, sha256, key, state, created, view) VALUES ('i', 'Import/r.pdf', ?, 'k', 'done', 1, '{}')`, older); err != nil {
		t.Fatal(err)
	}
	none := kept
	none.Runs, none.PerWorkflow, none.Contents = 1, 1, 1
	if _, err := j.Sweep(t.Context(), none, epoch); err != nil {
		t.Fatal(err)
	}
	for what, lookUp := range map[string]func() (origin.Record, error){
		"run old (w)":      func() (origin.Record, error) { return o.Content(t.Context(), digest) },
		"import i (r.pdf)": func() (origin.Record, error) { return o.Content(t.Context(), older) },
	} {
		if r, err := lookUp(); err != nil || len(r.Origins) != 1 || r.Origins[0] != what {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
	}
	if r, err := o.Name(t.Context(), "A.md"); err != nil || !r.Foreign() {
		t.Errorf("the name: %+v, %v", r, err)
	}
}

// Looking up a note of 200 lines takes no longer in a vault of 50,000 imports than in an empty one.
func BenchmarkOrigins_of50000Imports(b *testing.B) {
	j := open(b, b.TempDir())
	o := j.Origins
	var entries []origin.Entry
	for i := range 50_000 {
		text := fmt.Sprintf("The import of number %d says something that nobody else has ever said.\nAnd %d is the number of its second sentence, which is longer.\n", i, i)
		sum := sha256.Sum256([]byte(text))
		entries = append(entries, origin.Entry{
			Name: fmt.Sprintf("Imported/%d/index.md", i), Digest: hex.EncodeToString(sum[:]), Pieces: origin.Pieces([]byte(text)),
			Origins: []string{origin.OfImport(fmt.Sprint(i), "a.pdf")},
		})
	}
	for len(entries) > 0 {
		if err := o.Keep(b.Context(), entries[:1000]...); err != nil {
			b.Fatal(err)
		}
		entries = entries[1000:]
	}
	var note []byte
	for i := range 200 {
		note = fmt.Appendf(note, "This is line %d of a note that its owner has written by hand today.\n", i)
	}
	pieces := origin.Pieces(note)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := o.Pieces(b.Context(), pieces); err != nil {
			b.Fatal(err)
		}
		if _, err := o.Content(b.Context(), "00000000000000000000000000000000000000000000000000000000000000aa"); err != nil {
			b.Fatal(err)
		}
	}
}
