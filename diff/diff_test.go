package diff_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/diff"
)

func TestUnified(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20+1)
	for _, c := range []struct{ name, before, after, from, to, want string }{
		{"equal", "a\n", "a\n", "a.md", "a.md", ""},
		{"changed", "a\nb\nc\n", "a\nB\nc\n", "a.md", "a.md", "--- a.md\n+++ a.md\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"created", "", "a\n", "", "a.md", "--- /dev/null\n+++ a.md\n@@ -0,0 +1 @@\n+a\n"},
		{"removed", "a\nb", "", "a.md", "", "--- a.md\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file\n"},
		{"a name of two lines", "a\n", "b\n", "a\n.md", "a.md", "--- a .md\n+++ a.md\n@@ -1 +1 @@\n-a\n+b\n"},
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
		if text == "" || !strings.Contains(text, "\n@@ ") {
			return
		}
		if got := apply(t, before, text); got != after {
			t.Errorf("%q with\n%s\nis %q, want %q", before, text, got, after)
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
