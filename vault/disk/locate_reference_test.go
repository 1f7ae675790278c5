package disk

import (
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"github.com/vaultflow/vaultflow/vault"
)

// naive resolves a link by the rules as they are written down, one after the other, over a list of names.
func naive(names []string, link, from string) vault.Location {
	link = strings.NewReplacer(`\`, "/", "\u00a0", " ", "\u202f", " ").Replace(link)
	link = norm.NFC.String(strings.TrimSpace(link))
	fromRoot := strings.HasPrefix(link, "/")
	link = strings.Join(strings.FieldsFunc(link, func(r rune) bool { return r == '/' }), "/")
	if link == "" {
		return naivePick(naiveExact(names, from))
	}
	for _, l := range []string{link, link + ".md"} {
		if loc := naiveTry(names, l, from, fromRoot); loc.Found {
			return loc
		}
	}
	return vault.Location{}
}

func naiveTry(names []string, link, from string, fromRoot bool) vault.Location {
	if !fromRoot && (strings.HasPrefix(link, "./") || strings.HasPrefix(link, "../")) {
		return naivePick(naiveExact(names, path.Join(path.Dir(from), link)))
	}
	if all := naiveExact(names, link); len(all) > 0 || fromRoot {
		return naivePick(all)
	}
	var below []string
	for _, n := range names {
		if strings.HasSuffix(naiveFold(n), "/"+naiveFold(link)) {
			below = append(below, n)
		}
	}
	if own := naiveExact(below, path.Join(path.Dir(from), link)); len(own) > 0 {
		return naivePick(own)
	}
	return naivePick(below)
}

// naiveExact lists the names that are the same without case; the one that is spelled alike if there is one, with the
// same bytes before another Unicode form.
func naiveExact(names []string, name string) []string {
	var same, alike []string
	for _, n := range names {
		if naiveFold(n) == naiveFold(name) {
			same = append(same, n)
		}
		if norm.NFC.String(n) == name {
			alike = append(alike, n)
		}
	}
	if slices.Contains(names, name) {
		return []string{name}
	}
	slices.Sort(alike)
	if len(alike) > 0 {
		return alike[:1]
	}
	return same
}

func naiveFold(s string) string {
	return strings.ToLower(strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(norm.NFC.String(s)))
}

// naivePick takes the shortest path, of several the first by name.
func naivePick(names []string) vault.Location {
	if len(names) == 0 {
		return vault.Location{}
	}
	length := func(s string) int { return utf8.RuneCountInString(norm.NFC.String(s)) }
	names = slices.Clone(names)
	slices.SortFunc(names, func(a, b string) int {
		if d := length(a) - length(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	loc := vault.Location{Name: names[0], Found: true, Longer: length(names[len(names)-1]) > length(names[0])}
	for _, n := range names {
		if length(n) == length(names[0]) {
			loc.Ambiguous = append(loc.Ambiguous, n)
		}
	}
	if len(loc.Ambiguous) == 1 {
		loc.Ambiguous = nil
	}
	return loc
}

// nameParts are what names, links and places are put together from.
var nameParts = []string{
	"a", "A", "b", "Note", "note", "é", "e\u0301", "É", "v1.2", "x.png", "a b", "a\u00a0b", "ß", "..", ".", "", "\\", "İ", "deep", "Note.md", "a.MD",
}

// somePath makes a path of parts; of names, it makes those that a disk can hold.
func somePath(recipe []byte, name bool) string {
	var parts []string
	for _, r := range recipe {
		p := nameParts[int(r)%len(nameParts)]
		if !name || p != ".." && p != "." && p != "" && p != "\\" {
			parts = append(parts, p)
		}
	}
	joined := strings.Join(parts, "/")
	if name && joined != "" && len(recipe) > 0 && recipe[0] >= 64 {
		joined += ".md"
	}
	return joined
}

// someVault makes a list of different names, at most 12, each of a stretch of the recipe that ends in zero.
func someVault(recipe []byte) []string {
	var names []string
	for part := range strings.SplitSeq(string(recipe), "\x00") {
		if n := somePath([]byte(part), true); n != "" && len(names) < 12 && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// checkReference: the index answers as the naive reading of the rules does, the same in whatever order it has learned
// the names, and never with a name that it was not given.
func checkReference(t *testing.T, names []string, link, from string) {
	t.Helper()
	forward, backward := newIndex(), newIndex()
	forward.replace(names)
	for _, n := range slices.Backward(names) {
		backward.names.Add(n)
	}
	want, got := naive(names, link, from), forward.locate(link, from)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("[[%q]] from %q in %q (-want +got):\n%s", link, from, names, diff)
	}
	if diff := cmp.Diff(got, backward.locate(link, from)); diff != "" {
		t.Fatalf("[[%q]] from %q in %q depends on the order of names:\n%s", link, from, names, diff)
	}
	if got.Found && !slices.Contains(names, got.Name) {
		t.Fatalf("[[%q]] from %q leads to %q, which is not in %q", link, from, got.Name, names)
	}
}

func TestLocate_equalsTheRules(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	bytes := func(n int) []byte {
		b := make([]byte, random.IntN(n))
		for i := range b {
			b[i] = byte(random.IntN(128))
		}
		return b
	}
	found := 0
	for range 5_000 {
		names := someVault(append(bytes(40), bytes(40)...))
		link, from := somePath(bytes(4), false), somePath(bytes(4), true)
		if len(names) > 0 && random.IntN(2) == 0 {
			parts := strings.Split(names[random.IntN(len(names))], "/")
			link = strings.TrimSuffix(strings.Join(parts[random.IntN(len(parts)):], "/"), ".md")
			from = path.Join(path.Dir(names[random.IntN(len(names))]), "x.md")
		}
		checkReference(t, names, link, from)
		if naive(names, link, from).Found {
			found++
		}
	}
	if found < 1000 {
		t.Errorf("only %d links led anywhere", found)
	}
}

func FuzzLocateReference(f *testing.F) {
	f.Add([]byte("abc\x00ab\x00c"), []byte("c"), []byte("ab"), "", "")
	f.Add([]byte("\x03\x00\x01\x03\x00\x05\x03"), []byte("\x03"), []byte{}, "Note", "a/b/x.md")
	f.Add([]byte("\x03\x00\x01\x03\x00\x05\x03"), []byte{}, []byte{}, "../../etc/passwd", "a/x.md")
	f.Fuzz(func(t *testing.T, recipe, linkRecipe, fromRecipe []byte, link, from string) {
		names := someVault(recipe)
		checkReference(t, names, somePath(linkRecipe, false), somePath(fromRecipe, true))
		checkReference(t, names, link, from)
	})
}
