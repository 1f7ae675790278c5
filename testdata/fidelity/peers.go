package main

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// peer is another program that reads the text of a page.
type peer struct {
	name string
	args func(file, page string) []string
}

var peers = []peer{
	{"pdftotext", func(file, page string) []string { return []string{"pdftotext", "-f", page, "-l", page, file, "-"} }},
	{"pdftotext -layout", func(file, page string) []string {
		return []string{"pdftotext", "-layout", "-f", page, "-l", page, file, "-"}
	}},
	{"mutool", func(file, page string) []string {
		return []string{"mutool", "draw", "-q", "-F", "txt", "-o", "-", file, page}
	}},
}

// read returns the text of a page, or what there is of it when the program fails.
func (p peer) read(ctx context.Context, file string, page int) string {
	return output(ctx, p.args(file, strconv.Itoa(page)))
}

// output runs a program for at most half a minute.
func output(ctx context.Context, args []string) string {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, args[0], args[1:]...).Output()
	if err != nil && len(out) == 0 {
		return ""
	}
	return strings.TrimRight(strings.ToValidUTF8(string(out), "\uFFFD"), "\f")
}

// missingPeers names the programs that are not installed.
func missingPeers() []string {
	var missing []string
	for _, p := range peers {
		if _, err := exec.LookPath(p.args("", "")[0]); err != nil {
			missing = append(missing, p.name)
		}
	}
	return missing
}
