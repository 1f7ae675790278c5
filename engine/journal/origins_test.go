package journal_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/vaultflow/vaultflow/origin"
	"github.com/vaultflow/vaultflow/origin/origintest"
)

func TestOrigins(t *testing.T) {
	t.Parallel()
	origintest.Exercise(t, open(t, t.TempDir()).Origins())
}

// Looking up a note of 200 lines takes no longer in a vault of 50,000 imports than in an empty one.
func BenchmarkOrigins_of50000Imports(b *testing.B) {
	j := open(b, b.TempDir())
	o := j.Origins()
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
