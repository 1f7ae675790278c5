package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestScreen(t *testing.T) {
	t.Parallel()
	const text = "a\x1b[2J\x9b1mb\u009bc\u202ed\u200be\U000e0041f\r\nü👩‍👩‍👧\tg\rh\a\xff"
	const want = "a<U+001B>[2J<0x9B>1mb<U+009B>c<U+202E>d<U+200B>e<U+E0041>f\r\nü👩‍👩‍👧\tg<U+000D>h<U+0007><0xFF>"
	var whole bytes.Buffer
	s := &screen{to: &whole}
	if n, err := s.Write([]byte(text)); n != len(text) || err != nil {
		t.Fatalf("Write = %d, %v", n, err)
	}
	s.flush()
	if whole.String() != want {
		t.Errorf("got  %q\nwant %q", whole.String(), want)
	}
	var pieces bytes.Buffer
	s = &screen{to: &pieces}
	const cut = "ü\r\nx\u202ey\x1b"
	for i := range len(cut) {
		if _, err := s.Write([]byte{cut[i]}); err != nil {
			t.Fatal(err)
		}
	}
	s.flush()
	if want := "ü\r\nx<U+202E>y<U+001B>"; pieces.String() != want {
		t.Errorf("in pieces: got %q, want %q", pieces.String(), want)
	}
	s = &screen{to: failing{}}
	if _, err := s.Write([]byte("x")); err == nil {
		t.Error("an error of the writer behind is lost")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

// Names of files, titles, prompts and errors of a stranger's vault command no terminal: neither on stdout nor on stderr.
func TestCommands_noTerminalEscapes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	vaultDir := filepath.Join(dir, "vault")
	bad := "e\x1b]0;pwned\a\u202e\u009b"
	for name, text := range map[string]string{
		"settings.yaml":             "models: {default: offline}\n",
		"Workflows/Good.md":         "## Ask" + bad + "\n@input file: In\n@output file: Out\n\nSay " + bad + "\n",
		"Workflows/W" + bad + ".md": "## A\n@output file: Out\n\nx\n",
		"Workflows/Broken.md":       "## A\n@outputs" + bad + " file: Out\n\nx\n",
		"In.md":                     "text " + bad + "\n",
	} {
		path := filepath.Join(vaultDir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"list"}, {"check"}, {"preview", "Good"}, {"preview", "no" + bad}, {"runs"}, {"show", bad}, {"doctor"}, {bad}} {
		var out, errs bytes.Buffer
		root := newRoot(&streams{out: &out, err: &errs})
		root.SetArgs(append([]string{"--vault", vaultDir, "--state-dir", filepath.Join(dir, "state")}, args...))
		err := root.ExecuteContext(t.Context())
		said := out.String() + errs.String()
		if err != nil {
			said += errorText(err)
		}
		if i := strings.IndexAny(said, "\x1b\a\u202e\u009b"); i >= 0 {
			t.Errorf("%q writes %q", args, said[max(0, i-80):min(len(said), i+40)])
		}
	}
}
