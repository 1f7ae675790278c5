package relink

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/vault"
)

func TestRewrite(t *testing.T) {
	t.Parallel()
	names := []string{"Inbox/scan.md", "Inbox/other.md", "Daily/today.md", "Daily/scan list.md", "Board.canvas", "Table.base", "a/Plan.md", "Inbox/pic ture.png"}
	m := New(names, map[string]string{"Inbox/scan.md": "Money/IKEA (2026) & Co.md", "Inbox/pic ture.png": "Money/it's.png"})
	for _, c := range []struct{ file, text, want string }{
		{"Daily/today.md", "[[scan]] [[Inbox/scan|x]] ![[scan#Top]] [[scan.md#^b1|y]] [[other]]", "[[IKEA (2026) & Co]] [[Money/IKEA (2026) & Co|x]] ![[IKEA (2026) & Co#Top]] [[IKEA (2026) & Co.md#^b1|y]] [[other]]"},
		{"Daily/today.md", "[x](../Inbox/scan.md#a) [y](<../Inbox/scan.md>) ![z](/Inbox/pic%20ture.png \"t\")", "[x](../Money/IKEA%20%282026%29%20%26%20Co.md#a) [y](<../Money/IKEA (2026) %26 Co.md>) ![z](/Money/it%27s.png \"t\")"},
		{"Daily/today.md", "---\r\nup: '[[scan]]'\r\npic: '[[pic ture.png]]'\r\n---\r\n`[[scan]]`\r\n\r\n    [[scan]]\r\n\r\n[r]: ../Inbox/scan.md\r\n[r] %%[[scan]]%%", "---\r\nup: '[[IKEA (2026) & Co]]'\r\npic: '[[it''s.png]]'\r\n---\r\n`[[scan]]`\r\n\r\n    [[scan]]\r\n\r\n[r]: ../Money/IKEA%20%282026%29%20%26%20Co.md\r\n[r] %%[[scan]]%%"},
		{"Daily/today.md", "|a|\n|-|\n|[[scan\\|b]] ![[pic ture.png\\|100]]|", "|a|\n|-|\n|[[IKEA (2026) & Co\\|b]] ![[it's.png\\|100]]|"},
		{"Inbox/scan.md", "[[./other]] [o](other.md) ![[pic ture.png]] [[#own]] [[Plan]] <img src=\"pic%20ture.png\">", "[[../Inbox/other]] [o](../Inbox/other.md) ![[it's.png]] [[#own]] [[Plan]] <img src=\"it%27s.png\">"},
		{"Board.canvas", "{\"nodes\":[{\"type\":\"file\",\"file\":\"Inbox\\/scan.md\",\"subpath\":\"#a\"},{\"type\":\"text\",\"text\":\"\\u00e9 [[scan|\\\"q\\\"]]\\n`[[scan]]`\"}]}", "{\"nodes\":[{\"type\":\"file\",\"file\":\"Money/IKEA (2026) & Co.md\",\"subpath\":\"#a\"},{\"type\":\"text\",\"text\":\"\\u00e9 [[IKEA (2026) & Co|\\\"q\\\"]]\\n`[[scan]]`\"}]}"},
		{"Table.base", "filters:\n  and:\n    - file.path == \"Inbox/scan.md\"\n    - 'link(\"[[scan]]\")'\n    - file.inFolder(\"Inbox\") # [[scan]]\n", "filters:\n  and:\n    - file.path == \"Money/IKEA (2026) & Co.md\"\n    - 'link(\"[[IKEA (2026) & Co]]\")'\n    - file.inFolder(\"Inbox\") # [[scan]]\n"},
		{"Daily/today.md", "[[missing]] [[scan list]]", "[[missing]] [[scan list]]"},
	} {
		if diff := cmp.Diff(c.want, string(m.Rewrite(c.file, []byte(c.text)).Data)); diff != "" {
			t.Errorf("%s: %q (-want +got):\n%s", c.file, c.text, diff)
		}
	}
}

// A move that makes a short link of another note ambiguous changes that link as well.
func TestRewrite_shadowed(t *testing.T) {
	t.Parallel()
	m := New([]string{"long/folder/Plan.md", "x.md", "Inbox/y.md"}, map[string]string{"Inbox/y.md": "Plan.md"})
	got := string(m.Rewrite("x.md", []byte("[[Plan]] [[y]]")).Data)
	if want := "[[long/folder/Plan]] [[Plan]]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRewrite_vault(t *testing.T) {
	t.Parallel()
	root := os.DirFS("../../testdata/vault")
	files := map[string][]byte{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[name], err = fs.ReadFile(root, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for range 6 {
		checkMove(t, files, someMoves(r, names))
	}
}

func TestRewrite_random(t *testing.T) {
	t.Parallel()
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 7))
		files := someVault(r)
		var names []string
		for name := range files {
			names = append(names, name)
		}
		slices.Sort(names)
		for range 4 {
			if checkMove(t, files, someMoves(r, names)); t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
}

var (
	folders = []string{"", "Inbox/", "A/", "A/B/", "Été/", "x y/"}
	bases   = []string{"a.md", "b.md", "A b.md", "é.md", "pic.png", "a.png", "it's (1).md", "v1.2.md", "50%.md", "x&y.pdf"}
)

func someMoves(r *rand.Rand, names []string) map[string]string {
	to, taken := map[string]string{}, map[string]bool{}
	for _, name := range names {
		taken[vault.Fold(name)] = true
	}
	for range 1 + r.IntN(3) {
		was := names[r.IntN(len(names))]
		is := folders[r.IntN(len(folders))] + strings.TrimSuffix(bases[r.IntN(len(bases))], path.Ext(was)) + path.Ext(was)
		if _, moved := to[was]; !moved && !taken[vault.Fold(is)] {
			to[was], taken[vault.Fold(is)] = is, true
		}
	}
	return to
}

func someVault(r *rand.Rand) map[string][]byte {
	files := map[string][]byte{}
	var names []string
	for range 3 + r.IntN(8) {
		name := folders[r.IntN(len(folders))] + bases[r.IntN(len(bases))]
		if _, known := files[name]; !known {
			files[name] = nil
			names = append(names, name)
		}
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		var b strings.Builder
		if r.IntN(2) == 0 {
			fmt.Fprintf(&b, "---\nup: \"[[%s]]\"\n---\n", strings.ReplaceAll(someLink(r, names), `"`, ""))
		}
		for range r.IntN(8) {
			link := someLink(r, names)
			switch r.IntN(6) {
			case 0:
				fmt.Fprintf(&b, "[[%s]] ", link)
			case 1:
				fmt.Fprintf(&b, "![[%s#h|t]]\r\n", link)
			case 2:
				fmt.Fprintf(&b, "[t](<%s>) ", strings.ReplaceAll(link, "%", "%25"))
			case 3:
				fmt.Fprintf(&b, "![t](%s#h \"t\")\n", escaped(link))
			case 4:
				fmt.Fprintf(&b, "`[[%s]]` %%%%[[%s]]%%%% ", link, link)
			case 5:
				fmt.Fprintf(&b, "\n\n[r%d]: %s\n\n[r%d] ", b.Len(), escaped(link), b.Len())
			}
		}
		files[name] = []byte(b.String())
	}
	return files
}

func someLink(r *rand.Rand, names []string) string {
	name := names[r.IntN(len(names))]
	switch r.IntN(6) {
	case 0:
		return path.Base(name)
	case 1:
		return "/" + name
	case 2:
		return "../" + name
	case 3:
		return "./" + path.Base(name)
	case 4:
		return strings.TrimSuffix(path.Base(name), ".md")
	}
	return strings.TrimSuffix(name, ".md")
}

// checkMove: each link leads to the file that it led to, under its new name, and nothing else has changed.
func checkMove(t *testing.T, files map[string][]byte, to map[string]string) {
	t.Helper()
	var names []string
	for name := range files {
		names = append(names, name)
	}
	m := New(names, to)
	for name, data := range files {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		got := m.Rewrite(name, data)
		was, is := chunking.Links(data), chunking.Links(got.Data)
		if len(was) != len(is) {
			t.Fatalf("%s: %d links became %d, moves %v:\n%s\n---\n%s", name, len(was), len(is), to, data, got.Data)
		}
		at, now := 0, 0
		for i, l := range was {
			if !bytes.Equal(data[at:l.Start], got.Data[now:is[i].Start]) {
				t.Fatalf("%s: text changed: %q became %q", name, data[at:l.Start], got.Data[now:is[i].Start])
			}
			at, now = l.End, is[i].End
			loc := m.before.Locate(l.Target, name)
			if !loc.Found {
				if l.Target != is[i].Target {
					t.Fatalf("%s: the link %q, which led nowhere, became %q", name, l.Target, is[i].Target)
				}
				continue
			}
			if after := m.after.Locate(is[i].Target, m.To(name)); after.Name != m.To(loc.Name) {
				t.Fatalf("%s, now %s: %q led to %s, which moved to %s; it became %q and leads to %q; moves %v", name, m.To(name), l.Target, loc.Name, m.To(loc.Name), is[i].Target, after.Name, to)
			}
		}
		if !bytes.Equal(data[at:], got.Data[now:]) {
			t.Fatalf("%s: text changed at the end", name)
		}
	}
}
