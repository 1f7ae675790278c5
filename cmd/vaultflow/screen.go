package main

import (
	"bytes"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/content/visible"
)

// screen is where everything goes that people read: names of files, titles and answers may hold characters that command a
// terminal, reorder its text, or are invisible. They are shown as code points, on a terminal and in a pipe alike.
// What is meant for programs (--json) goes past it.
type screen struct {
	to io.Writer

	mu   sync.Mutex // guards rest
	rest []byte     // the beginning of a character, or a carriage return, whose end has not come yet
}

// Write implements io.Writer.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := append(s.rest, p...)
	whole := len(text) - unfinished(text)
	s.rest = bytes.Clone(text[whole:])
	if _, err := io.WriteString(s.to, visible.Text(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush writes what never got its end.
func (s *screen) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(s.to, visible.Text(string(s.rest))) // there is nobody left to tell
	s.rest = nil
}

// unfinished returns how many bytes at the end of a text may be an incomplete character that the next write completes.
func unfinished(text []byte) int {
	if bytes.HasSuffix(text, []byte("\r")) {
		return 1
	}
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if c := text[len(text)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(text[len(text)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// plain is the writer behind a screen, for programs and for what writes colours itself.
func plain(w io.Writer) io.Writer {
	if s, is := w.(*screen); is {
		return s.to
	}
	return w
}
