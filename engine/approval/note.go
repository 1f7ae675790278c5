package approval

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// maxShown is how much of a diff stands in a note, in bytes.
const maxShown = 20 << 10

// note is what stands in the note of a run.
type note struct {
	run  string
	open []engine.Proposal
	text []string // the diffs of open
	zone *time.Location
}

// mark names a proposal in a note, or the box that rejects the rest. It is made of digests of what is proposed, so that no
// text that a model or a stranger has written can hold the mark of a box.
func mark(run string, proposals ...engine.Proposal) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%d\n", run, len(proposals))
	for _, p := range proposals {
		fmt.Fprintf(h, "%d %d %d %s\n", p.Item, p.Index, p.Batch, p.Key)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// rest is the mark of the box that rejects what is not approved.
func rest(run string, open []engine.Proposal) string { return "rest-" + mark(run, open...) }

// render writes the note. Its frontmatter holds the digest of all that follows, with no box ticked.
func (n note) render() []byte {
	var b strings.Builder
	first := n.open[0]
	fmt.Fprintf(&b, "# Approve %s\n\nRun `%s` waits for you. Tick a box to agree; it takes effect when the note is saved, if the file is still as it is shown here.\n\n", plain(first.Workflow), n.run)
	fmt.Fprintf(&b, "- [ ] Reject what is not ticked ^%s\n", rest(n.run, n.open))
	for i, p := range n.open {
		fmt.Fprintf(&b, "\n## %d. %s\n\nStep %s%s.", p.Item, plain(p.String()), plain(p.Step), batchText(p.Batch))
		if p.Again {
			b.WriteString(" The file has changed since this was proposed before.")
		}
		if len(p.Origins) > 0 {
			fmt.Fprintf(&b, " The model had been shown content from outside: %s.", plain(strings.Join(p.Origins, ", ")))
		}
		if !p.Deadline.IsZero() {
			fmt.Fprintf(&b, " Rejected by itself at %s.", p.Deadline.In(n.zone).Format("2006-01-02 15:04"))
		}
		fmt.Fprintf(&b, "\n\n- [ ] Approve item %d ^%s\n\n", p.Item, mark(n.run, p))
		fenced(&b, n.text[i])
	}
	body := b.String()
	return fmt.Appendf(nil, "---\nvaultflow: approval\nrun: %s\ndigest: %s\n---\n\n%s", n.run, digestOf(body), body)
}

func batchText(batch int) string {
	if batch == 0 {
		return ""
	}
	return fmt.Sprintf(", batch %d", batch)
}

// plain is a text on one line, without what Markdown or Obsidian takes for more than text.
func plain(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return regexp.MustCompile("[\\\\`*_\\[\\]<>#|^~$%!]").ReplaceAllStringFunc(text, func(c string) string { return `\` + c })
}

// fenced puts a diff into a code block that nothing in it can close.
func fenced(b *strings.Builder, text string) {
	cut := ""
	if len(text) > maxShown {
		end := strings.LastIndexByte(text[:maxShown], '\n') + 1
		cut = fmt.Sprintf("\n%d more bytes are not shown here: `vaultflow approvals RUN` shows all.\n", len(text)-end)
		text = text[:end]
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(b, "%sdiff\n%s\n%s\n%s", fence, strings.TrimRight(strings.ToValidUTF8(text, "\uFFFD"), "\n"), fence, cut)
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

var (
	head = regexp.MustCompile(`\A---\nvaultflow: approval\nrun: (\S+)\ndigest: ([0-9a-f]{64})\n---\n\n`)
	// box is a ticked box with a mark of ours.
	box = regexp.MustCompile(`(?m)^\s*[-*+] \[[xX]\] .*\^((?:rest-)?[0-9a-f]{16})\s*$`)
	// tick is the place of the tick in it.
	tick = regexp.MustCompile(`(?m)^(\s*[-*+] \[)[xX](\] .*\^(?:rest-)?[0-9a-f]{16}\r?)$`)
)

// untouched says whether a note is ours, for a run, and nobody did more to it than tick boxes.
func untouched(data []byte, run string) bool {
	text := bytes.TrimRight(data, "\n")
	m := head.FindSubmatch(data)
	if m == nil || string(m[1]) != run {
		return false
	}
	body := append(tick.ReplaceAll(text[len(m[0]):], []byte("${1} ${2}")), '\n')
	return digestOf(string(body)) == string(m[2])
}

// ticked gives the marks of the boxes that somebody has ticked.
func ticked(data []byte) map[string]bool {
	marks := map[string]bool{}
	for _, m := range box.FindAllSubmatch(data, -1) {
		marks[string(m[1])] = true
	}
	return marks
}

// diffs gives what people read of proposals.
func diffs(ctx context.Context, list []engine.Proposal, get func(context.Context, string) ([]byte, error)) ([]string, error) {
	texts := make([]string, len(list))
	for i, p := range list {
		text, err := p.Diff(ctx, get)
		if err != nil {
			return nil, fmt.Errorf("show item %d of run %s: %w", p.Item, p.Run, err)
		}
		texts[i] = text
	}
	return texts, nil
}
