package diff_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/engine/diff"
)

func TestUnified(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20+1)
	for _, c := range []struct{ name, before, after, from, to, want string }{
		{"equal", "a\n", "a\n", "a.md", "a.md", ""},
		{"changed", "a\nb\nc\n", "a\nB\nc\n", "a.md", "a.md", "--- a.md\n+++ a.md\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"created", "", "a\n", "", "a.md", "--- /dev/null\n+++ a.md\n@@ -0,0 +1 @@\n+a\n"},
		{"removed", "a\nb", "", "a.md", "", "--- a.md\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file\n"},
		{"a name of two lines", "a\n", "b\n", "a\n.md", "a.md", "--- a<U+000A>.md\n+++ a.md\n@@ -1 +1 @@\n-a\n+b\n"},
		{"binary", "a\x00", "b", "a.png", "a.png", "--- a.png\n+++ a.png\na.png is not a text: 2 bytes before, 1 byte after\n"},
		{"no UTF-8", "", "\xff", "", "a.md", "--- /dev/null\n+++ a.md\na.md is not a text: nothing before, 1 byte after\n"},
		{
			"long", long, "a\n", "a.md", "", "--- a.md\n+++ /dev/null\na.md is too long to be shown line by line: 1.0 MB before, nothing after\n",
		},
	} {
		if got := cmp.Diff(c.want, diff.Unified([]byte(c.before), []byte(c.after), c.from, c.to)); got != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, got)
		}
	}
}

func BenchmarkUnified_everyOtherLine(b *testing.B) {
	var before, after strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&before, "%d\n", i)
		fmt.Fprintf(&after, "%d\n", i+i%2*1_000_000)
	}
	b.ReportAllocs()
	for b.Loop() {
		diff.Unified([]byte(before.String()), []byte(after.String()), "a", "a")
	}
}

func FuzzUnified(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\n")
	f.Add("", "\n")
	f.Add("a", "a\n")
	f.Add("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "0\n1\n2\n3\n4\n5\n6\n7\n9\n")
	f.Add("x\r\ny", "y\r\nx")
	f.Fuzz(func(t *testing.T, before, after string) {
		text := diff.Unified([]byte(before), []byte(after), "a", "b")
		if (text == "") != (before == after) {
			t.Fatalf("diff of %q and %q: %q", before, after, text)
		}
		checkSeen(t, text)
		if text == "" || !strings.Contains(text, "\n@@ ") || !isOrdinary(before) || !isOrdinary(after) {
			return
		}
		if got := apply(t, before, text); got != after {
			t.Errorf("%q with\n%s\nis %q, want %q", before, text, got, after)
		}
	})
}

// isOrdinary reports whether a text is shown as it is.
func isOrdinary(text string) bool { return !hasEnds.MatchString(text) && visible.Hidden(text) == nil }

var hasEnds = regexp.MustCompile(`\r|[ \t](\n|$)|(^|\n)\pM`)

func checkSeen(t *testing.T, text string) {
	t.Helper()
	if hidden := visible.Hidden(text); hidden != nil {
		t.Fatalf("the diff %+q holds %+q", text, hidden)
	}
}

func TestUnified_showsWhatCannotBeSeen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after, want string }{
		{"", "pay\u202eAda\n", "! Characters that cannot be seen are shown as code points: U+202E (right-to-left override).\n--- /dev/null\n+++ a.md\n@@ -0,0 +1 @@\n+pay<U+202E>Ada\n"},
		{"a\n", "a \n", "--- a.md\n+++ a.md\n@@ -1 +1 @@\n-a\n+a<U+0020>\n"},
		{"a\r\nb\r\n", "a\r\nc\r\n", "--- a.md\n+++ a.md\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		{"a\n", "a\r\n", "! Some lines end with a carriage return, others do not: <U+000D>.\n--- a.md\n+++ a.md\n@@ -1 +1 @@\n-a\n+a<U+000D>\n"},
		{"", "a\r", "--- /dev/null\n+++ a.md\n@@ -0,0 +1 @@\n+a<U+000D>\n\\ No newline at end of file\n"},
		{"", "one\u2028two\rthree\n", "! Characters that cannot be seen are shown as code points: U+2028 (line separator), U+000D (carriage return without a line feed).\n--- /dev/null\n+++ a.md\n@@ -0,0 +1 @@\n+one<U+2028>two<U+000D>three\n"},
	} {
		from := "a.md"
		if c.before == "" {
			from = ""
		}
		got := diff.Unified([]byte(c.before), []byte(c.after), from, "a.md")
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%q to %q (-want +got):\n%s", c.before, c.after, d)
		}
		checkSeen(t, got)
	}
}

func TestWhole_leavesNothingOut(t *testing.T) {
	t.Parallel()
	var before, after strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&before, "line %d\n", i)
		fmt.Fprintf(&after, "line %d\n", i+i%7/6*1_000_000)
	}
	text, whole := diff.Whole([]byte(before.String()), []byte(after.String()), "a", "b")
	if !whole {
		t.Error("a long text is not shown whole")
	}
	if got := apply(t, before.String(), text); got != after.String() {
		t.Error("the diff of a long text does not lead to it")
	}
	for _, c := range []struct {
		before, after, to string
		whole             bool
		want              string
	}{
		{"a\n", "a\x00\n", "b", true, "+a<U+0000>\n"},
		{"a\n", "\xff", "b", false, "is not a text"},
		{"\xff", "text\n", "b", true, "! The content before is not a text (1 byte); this is the whole content after.\n--- a\n+++ b\n@@ -0,0 +1 @@\n+text\n"},
		{"\xff", "", "", true, "is not a text: 1 byte before, nothing after"},
	} {
		text, whole := diff.Whole([]byte(c.before), []byte(c.after), "a", c.to)
		if whole != c.whole || !strings.Contains(text, c.want) {
			t.Errorf("%q to %q: whole %v, %q; want %v, %q", c.before, c.after, whole, text, c.whole, c.want)
		}
	}
}

func FuzzReplaced(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\n")
	f.Add("", "\n")
	f.Add("a", "a\n")
	f.Add("a\na\na\na\na\nb\n", "a\na\na\na\nb\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		if before == after {
			return
		}
		if got := apply(t, before, "--- a\n+++ b\n"+diff.Replaced(before, after)); got != after {
			t.Errorf("%q with\n%s\nis %q, want %q", before, diff.Replaced(before, after), got, after)
		}
	})
}

func FuzzPages(f *testing.F) {
	f.Add("a\nb\nc\n", 8)
	f.Add(strings.Repeat("ü", 40), 9)
	f.Fuzz(func(t *testing.T, text string, size int) {
		if size < 8 || size > 1000 || !utf8.ValidString(text) {
			return
		}
		var all strings.Builder
		inLine := false
		for _, page := range diff.Pages(text, size) {
			if len(page) > size || !utf8.ValidString(page) {
				t.Fatalf("page %q of %d bytes", page, len(page))
			}
			if inLine {
				page = strings.TrimPrefix(page, diff.Continued)
			}
			inLine = !strings.HasSuffix(page, "\n")
			all.WriteString(page)
		}
		if all.String() != text {
			t.Fatalf("pages of %q are %q", text, all.String())
		}
	})
}

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@\n$`)

// apply carries out a unified diff, as patch does.
func apply(t *testing.T, before, text string) string {
	t.Helper()
	old := strings.SplitAfter(before, "\n")
	lines := strings.SplitAfter(text, "\n")[2:]
	var out strings.Builder
	next := 0
	for i, line := range lines {
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], `\ No newline`) {
			line = strings.TrimSuffix(line, "\n")
		}
		if m := hunkHead.FindStringSubmatch(line); m != nil {
			at, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			for ; next < at-1; next++ {
				out.WriteString(old[next])
			}
			continue
		}
		if line == "" || line[0] == '\\' {
			continue
		}
		if line[0] != '-' {
			out.WriteString(line[1:])
		}
		if line[0] != '+' {
			if next >= len(old) || old[next] != line[1:] {
				t.Fatalf("the diff has line %q, which is not there:\n%s", line, text)
			}
			next++
		}
	}
	for ; next < len(old); next++ {
		out.WriteString(old[next])
	}
	return out.String()
}
