package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// passwords are those that encrypted documents are tried with: what commands gave to this process, then those of the
// settings. They go to the worker in a frame, and nowhere else.
func (a *app) passwords() []string {
	out := a.given.list()
	for _, secret := range a.settings.Ingestion.Passwords {
		if secret != "" {
			out = append(out, string(secret))
		}
	}
	return out
}

// maxGiven is how many passwords of commands a process remembers, the newest.
const maxGiven = 20

// givenPasswords are passwords that commands brought. They live as long as the process, in memory alone: an import that waits
// or is tried again finds them, and no record holds them. It is safe for concurrent use.
type givenPasswords struct {
	mu  sync.Mutex
	all []string // the newest first
}

func (g *givenPasswords) add(passwords ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range passwords {
		if p != "" && !slices.Contains(g.all, p) {
			g.all = slices.Insert(g.all, 0, p)
		}
	}
	g.all = g.all[:min(len(g.all), maxGiven)]
}

func (g *givenPasswords) list() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.all)
}

// readPassword reads a password from the first line of a stream. It must not be empty.
func readPassword(r io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(r, 4<<10)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", fmt.Errorf("read the password: %w", err)
	}
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		return "", usagef("--password-stdin: standard input holds no password")
	}
	return line, nil
}
