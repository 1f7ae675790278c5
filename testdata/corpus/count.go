package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// counter is a program that counts a file's pages independently of this project and of MuPDF.
type counter struct {
	program string
	kinds   []string
	args    []string // before the file's name
	number  *regexp.Regexp
	lines   bool // the number is that of its lines
}

var allCounters = []counter{
	{program: "pdfinfo", kinds: []string{"pdf"}, number: regexp.MustCompile(`(?m)^Pages:\s+(\d+)$`)},
	{program: "qpdf", kinds: []string{"pdf"}, args: []string{"--show-npages"}, number: regexp.MustCompile(`(?m)^(\d+)$`)},
	{program: "tiffinfo", kinds: []string{"tif"}, number: regexp.MustCompile(`(?m)^=== TIFF directory (\d+) ===`), lines: true},
	{program: "identify", kinds: []string{"tif"}, args: []string{"-quiet", "-ping", "-format", `%n\n`}, number: regexp.MustCompile(`(?m)^(\d+)$`)},
}

// counters returns the installed counters.
func counters() []counter {
	return slices.DeleteFunc(slices.Clone(allCounters), func(c counter) bool {
		_, err := exec.LookPath(c.program)
		return err != nil
	})
}

// count is a program's result for a file.
type count struct {
	program string
	pages   int
}

func (c count) String() string { return fmt.Sprintf("%s %d", c.program, c.pages) }

// counts returns the counts of all programs for this kind that can read the file.
func counts(ctx context.Context, all []counter, f source) []count {
	var found []count
	for _, c := range all {
		if !slices.Contains(c.kinds, f.kind) {
			continue
		}
		if n := c.ask(ctx, f.path); n > 0 {
			found = append(found, count{c.program, n})
		}
	}
	return found
}

func (c counter) ask(ctx context.Context, path string) int {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.program, append(slices.Clone(c.args), path)...)
	out, err := cmd.Output()
	if err != nil && len(out) == 0 {
		return 0
	}
	found := c.number.FindAllStringSubmatch(string(out), -1)
	if c.lines || len(found) == 0 {
		return len(found)
	}
	n, err := strconv.Atoi(strings.TrimSpace(found[0][1]))
	if err != nil {
		return 0
	}
	return n
}
