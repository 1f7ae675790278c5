package vault

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestSafeName(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{"q3.pdf", "q3.pdf"},
		{"Cafe\u0301.pdf", "Café.pdf"},
		{"[[x]]", "x"},
		{"a/b\\c:d", "a-b-c-d"},
		{`what? "now" <x>|y*`, "what- -now- -x--y-"},
		{"C# ^notes [draft].pdf", "C notes draft.pdf"},
		{"line\nbreak\tand\r\nmore.pdf", "line break and more.pdf"},
		{"no\u00a0break", "no break"},
		{"100%% sure", "100% sure"},
		{"%[%]x", "%x"},
		{"trailing. . .", "trailing"},
		{"  .hidden", "hidden"},
		{"CON", "CON_"},
		{"con.txt", "con_.txt"},
		{"Lpt9.tar.gz", "Lpt9_.tar.gz"},
		{"COM¹", "COM¹_"},
		{"COM10", "COM10"},
		{"console.pdf", "console.pdf"},
		{"", "untitled"},
		{"...", "untitled"},
		{"[]", "untitled"},
		{"📎 plan 👩‍👩‍👧.pdf", "📎 plan 👩‍👩‍👧.pdf"},
		{"right\u202eto-left.pdf", "rightto-left.pdf"},
		{"bad\xffutf8", "bad_utf8"},
		{"埋め込み.pdf", "埋め込み.pdf"},
	} {
		if got := SafeName(tc.in, 0); got != tc.want {
			t.Errorf("SafeName(%q) = %q, want %q", tc.in, got, tc.want)
		}
	}
}

func TestSafeName_length(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 200) + ".pdf"
	got := SafeName(long, 0)
	if len(got) > DefaultNameBytes || !strings.HasSuffix(got, "é.pdf") || !utf8.ValidString(got) {
		t.Errorf("SafeName(200 é) = %q, %d bytes", got, len(got))
	}
	if got := SafeName(strings.Repeat("x", 15)+"👩‍👩‍👧.pdf", 24); strings.HasSuffix(strings.TrimSuffix(got, ".pdf"), "\u200d") {
		t.Errorf("cut inside a joined emoji: %q", got)
	}
	if got := SafeName(strings.Repeat("y", 300), 1000); len(got) != MaxPartBytes {
		t.Errorf("%d bytes, want %d", len(got), MaxPartBytes)
	}
}

func TestValidName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a.md", "a b/Ünïcode.md", "deep/er/[x].md", "C#.md", "nul-terminated.md"} {
		if err := ValidName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for name, want := range map[string]error{
		"../etc": ErrOutside, "/etc/passwd": ErrOutside, "a/../../b": ErrOutside, "..": ErrOutside,
		"": ErrName, ".": ErrName, "a//b": ErrName, "a/./b": ErrName, "a\x00b": ErrName, "a\xff": ErrName,
		".obsidian/app.json": ErrHidden, "a/.trash/x": ErrHidden,
		"a:b.md": ErrName, `a\b`: ErrName, "what?.md": ErrName, "dot.": ErrName, "space /x": ErrName, "nul.md": ErrName,
		"new\nline": ErrName, strings.Repeat("x", 256): ErrName, strings.Repeat("long/", 210) + "x": ErrName,
	} {
		if err := ValidName(name); !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", name, err, want)
		}
	}
}

func FuzzSafeName(f *testing.F) {
	for _, seed := range []string{"q3.pdf", "[[x]]", "CON.txt", "a/b", "e\u0301", "👩‍👩‍👧", ".x.", "%%[%%", "\xff", "NUL .txt"} {
		f.Add(seed, 20)
	}
	f.Fuzz(func(t *testing.T, in string, limit int) {
		got := SafeName(in, limit)
		if err := ValidName(got); err != nil || strings.Contains(got, "/") {
			t.Fatalf("SafeName(%q, %d) = %q: %v", in, limit, got, err)
		}
		if most := min(max(limit, minNameBytes), MaxPartBytes); limit > 0 && len(got) > most {
			t.Fatalf("SafeName(%q, %d) has %d bytes", in, limit, len(got))
		}
		if again := SafeName(got, limit); again != got {
			t.Fatalf("SafeName(%q, %d) = %q, then %q", in, limit, got, again)
		}
		if !norm.NFC.IsNormalString(got) {
			t.Fatalf("%q is not NFC", got)
		}
	})
}

func TestNatural_isATotalOrder(t *testing.T) {
	t.Parallel()
	list := []string{"a/page_2", "a/page_10", "a/Page_10", "a/page_010", "b", "a", "a/b/c", "Z", "é"}
	for _, x := range list {
		for _, y := range list {
			if a, b := Natural(x, y), Natural(y, x); a != -b || (a == 0) != (x == y) {
				t.Errorf("Natural(%q, %q) = %d and %d", x, y, a, b)
			}
		}
	}
}
