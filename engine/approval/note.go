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

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/engine"
)

const (
	maxShown = 20 << 10 // bytes of a change that a note shows: a longer one is approved elsewhere
	maxTotal = 4 << 20  // bytes of all changes in a note
)

// note is what vaultflow writes for a run.
type note struct {
	keys    Keys
	run     string
	open    []engine.Proposal
	text    []engine.Shown // of open
	reasons map[string]string
	voided  bool // boxes of an earlier version were ticked, and do not count
	zone    *time.Location
}

// voidedText is added when ticks of an earlier version do not count.
const voidedText = "\nThis note was rewritten after an update or a move of vaultflow's state. Boxes ticked before do not count: tick them again.\n"

// box is a line of the note that the user may tick.
type box struct {
	heading string // the line of the heading that it belongs to
	before  string // the line up to where a reason is written, without its tick
	mark    string
	item    int // 0: all that have a box to approve
	approve bool
}

// String is the line without a tick.
func (b box) String() string { return b.line("") }

func (b box) line(reason string) string {
	if reason != "" {
		reason = " " + reason
	}
	return unticked + b.before + reason + " ^" + b.mark
}

const (
	unticked = "- [ ] "
	yesMark  = "yes-"
	noMark   = "no-"
	restMark = "rest-"
)

func (n note) title() string { return "# Approve " + plain(n.open[0].Workflow) }

func (n note) heading(p engine.Proposal) string {
	return fmt.Sprintf("## %d. %s", p.Item, plain(p.String()))
}

// isShown reports whether the note shows an item whole, in the order of the items.
func (n note) isShown() []bool {
	total, list := 0, make([]bool, len(n.open))
	for i, s := range n.text {
		if s.Whole && len(s.Text) <= maxShown && total+len(s.Text) <= maxTotal {
			list[i] = true
			total += len(s.Text)
		}
	}
	return list
}

// restHeading is the heading of the box that rejects every item whose box to approve is not ticked.
const restHeading = "## All others"

// boxes returns the boxes of the note. The last one rejects every item whose box to approve is not ticked;
// a note of one item does not show it.
func (n note) boxes() []box {
	var tickable []engine.Proposal
	var list []box
	for i, isShown := range n.isShown() {
		p := n.open[i]
		if isShown {
			tickable = append(tickable, p)
			list = append(list, box{n.heading(p), fmt.Sprintf("Approve item %d", p.Item), yesMark + n.keys.mark(yesMark, p), p.Item, true})
		}
		list = append(list, box{n.heading(p), fmt.Sprintf("Reject item %d, reason:", p.Item), noMark + n.keys.mark(noMark, p), p.Item, false})
	}
	if len(tickable) > 0 {
		list = append(list, box{restHeading, "Reject what is not ticked", restMark + n.keys.mark(restMark, tickable...), 0, false})
	}
	return list
}

// render writes the note. Its frontmatter holds the seal of all that follows, with no box ticked and no reason written.
func (n note) render() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nRun `%s` is waiting for your approval. Tick a box and save the note: it takes effect if the file is still as shown here. To reject with a reason, write it after \"reason:\" before you tick.\n", n.title(), n.run)
	if n.voided {
		b.WriteString(voidedText)
	}
	boxes, shown := n.boxes(), n.isShown()
	put := func(item int) {
		for _, box := range boxes {
			if box.item == item {
				b.WriteString(box.line(n.reasons[box.mark]) + "\n")
			}
		}
	}
	for i, p := range n.open {
		fmt.Fprintf(&b, "\n%s\n\nStep %s%s.", n.heading(p), plain(p.Step), batchText(p.Batch))
		if p.Again {
			b.WriteString(" The file has changed since the last proposal.")
		}
		if len(p.Origins) > 0 {
			fmt.Fprintf(&b, " The model had seen content from outside: %s.", plain(strings.Join(p.Origins, ", ")))
		}
		if len(p.NameFrom) > 0 {
			fmt.Fprintf(&b, " Content from outside chose the file's name: %s.", plain(strings.Join(p.NameFrom, ", ")))
		}
		if !p.Deadline.IsZero() {
			fmt.Fprintf(&b, " Rejected automatically at %s.", p.Deadline.In(n.zone).Format("2006-01-02 15:04"))
		}
		b.WriteString("\n\n")
		put(p.Item)
		b.WriteString("\n")
		if shown[i] {
			fenced(&b, n.text[i].Text)
			continue
		}
		why := fmt.Sprintf("is too long (%d bytes) and", len(n.text[i].Text))
		if !n.text[i].Whole {
			why = "cannot be shown in full and"
		}
		fmt.Fprintf(&b, "This %s cannot be approved here. Read it on the dashboard's page Approvals, or with `vaultflow approvals %s --item %d`, and approve it there.\n", why, n.run, p.Item)
	}
	if len(n.open) > 1 && boxes[len(boxes)-1].item == 0 {
		b.WriteString("\n" + restHeading + "\n\n")
		put(0)
	}
	text, voided := b.String(), ""
	if n.voided {
		voided = "voided: true\n"
	}
	return fmt.Appendf(nil, "---\nvaultflow: approval\nrun: %s\nkey: %s\nseal: %s\n%s---\n\n%s", n.run, n.keys.id(), n.keys.seal(n.run, blankBoxes(text)), voided, text)
}

func batchText(batch int) string {
	if batch == 0 {
		return ""
	}
	return fmt.Sprintf(", batch %d", batch)
}

// plain returns a text on one line, with everything escaped that means more than text to Markdown or Obsidian.
func plain(text string) string {
	text = visible.Name(strings.Join(strings.Fields(text), " "))
	return regexp.MustCompile("[\\\\`*_\\[\\]<>#|^~$%!]").ReplaceAllStringFunc(text, func(c string) string { return `\` + c })
}

// fenced puts a diff into a code block that nothing in it can close.
func fenced(b *strings.Builder, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(b, "%sdiff\n%s\n%s\n", fence, strings.TrimRight(text, "\n"), fence)
}

// answers are the ticks and reasons in a note.
type answers struct {
	yes, no map[int]bool
	rest    bool           // reject what is not ticked
	reasons map[int]string // why not
	typed   map[string]string
}

// read returns what was ticked. A tick counts only in a line that is the note's own box, under its own heading, outside code
// blocks, if its mark occurs nowhere else in the file. A reason belongs to its box, ticked or not.
func (n note) read(data []byte) answers {
	a := answers{yes: map[int]bool{}, no: map[int]bool{}, reasons: map[int]string{}, typed: map[string]string{}}
	boxes := n.boxes()
	byLine := map[string][]placed{}
	for _, l := range outside(string(data)) {
		if at := strings.LastIndexByte(l.text, '^'); at >= 0 {
			mark, _, _ := strings.Cut(l.text[at+1:], " ")
			byLine[mark] = append(byLine[mark], l)
		}
	}
	for _, b := range boxes {
		lines := byLine[b.mark]
		if len(lines) != 1 || bytes.Count(data, []byte(b.mark)) != 1 || lines[0].heading != b.heading && (b.item > 0 || lines[0].heading != n.title()) { // which earlier versions wrote first
			continue
		}
		ticked, reason, ok := b.parse(lines[0].text)
		if !ok {
			continue
		}
		if reason != "" {
			a.typed[b.mark] = reason
		}
		switch {
		case !ticked:
		case b.item == 0:
			a.rest = true
		case b.approve:
			a.yes[b.item] = true
		default:
			a.no[b.item] = true
			a.reasons[b.item] = reason
		}
	}
	return a
}

// parse reads a line that should be the box: whether it is ticked, and the reason in it.
func (b box) parse(line string) (ticked bool, reason string, ok bool) {
	rest, ok := strings.CutPrefix(line, "- [ ] ")
	if !ok {
		if rest, ok = strings.CutPrefix(line, "- [x] "); !ok {
			rest, ok = strings.CutPrefix(line, "- [X] ")
		}
		ticked = ok
	}
	if !ok {
		return false, "", false
	}
	before, rest, found := strings.Cut(rest, b.before)
	words, after, marked := strings.Cut(rest, " ^"+b.mark)
	if !found || !marked || before != "" || b.approve && words+after != "" || b.item == 0 && words+after != "" {
		return false, "", false
	}
	reason = tidied(strings.TrimSpace(words + " " + after))
	return ticked, reason, true
}

// tidied is a reason as it is kept; one that is too long is cut.
func tidied(reason string) string {
	reason = strings.ReplaceAll(reason, "^", "")
	for {
		text, err := engine.TidyReason(reason)
		if err == nil {
			return text
		}
		letters := []rune(reason)
		reason = string(letters[:min(len(letters)-1, engine.MaxReason)])
	}
}

// placed is a line of a note outside of code blocks, with the heading above it.
type placed struct{ heading, text string }

// outside returns the lines of a note that are in no code block, headings aside.
func outside(text string) []placed {
	var list []placed
	heading, fence := "", ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		run := fenceRun(line)
		switch {
		case fence != "":
			if strings.HasPrefix(run, fence) && strings.TrimSpace(strings.TrimLeft(line, " "))[len(run):] == "" {
				fence = ""
			}
		case run != "":
			fence = run
		case strings.HasPrefix(line, "#"):
			heading = line
		default:
			list = append(list, placed{heading, line})
		}
	}
	return list
}

// fenceRun returns the characters that open or close a code block; empty when the line does neither.
func fenceRun(line string) string {
	inner := strings.TrimLeft(line, " ")
	if len(line)-len(inner) > 3 || len(inner) < 3 {
		return ""
	}
	run := inner[:len(inner)-len(strings.TrimLeft(inner, inner[:1]))]
	isTicks := run[0] == '`' && !strings.Contains(inner[len(run):], "`")
	if len(run) < 3 || run[0] != '~' && !isTicks {
		return ""
	}
	return run
}

var (
	head = regexp.MustCompile(`\A---\nvaultflow: approval\nrun: (\S+)\nkey: ([0-9a-f]{8})\nseal: ([0-9a-f]{32})\n(voided: true\n)?---\n\n`)
	// tick is the place of a tick in a box of ours.
	tick = regexp.MustCompile(`(?m)^(- \[)[xX](\] .* \^(?:rest|yes|no)-[0-9a-f]{32}.*)$`)
	// typed is the place of a reason in one.
	typed = regexp.MustCompile(`(?m)^(- \[ \] Reject item \d+, reason:).*( \^no-[0-9a-f]{32}).*$`)
)

// blankBoxes is a text with no box ticked and no reason written.
func blankBoxes(text string) string {
	return typed.ReplaceAllString(tick.ReplaceAllString(text, "${1} ${2}"), "${1}${2}")
}

// owner is who a note belongs to.
type owner int

const (
	others    owner = iota // not ours, or edited by the user
	untouched              // ours; only its boxes were ticked and reasons written
	stale                  // of an earlier version or another state directory: its boxes do not count
)

// judge returns who the note of a run belongs to, and whether a stale one was edited beyond its boxes, as far as that can be known.
func (k Keys) judge(data []byte, run string) (who owner, edited bool) {
	text := strings.TrimRight(string(data), "\n") + "\n"
	if m := head.FindStringSubmatch(text); m != nil {
		sealed := m[1] == run && same(k.seal(run, blankBoxes(text[len(m[0]):])), m[3])
		switch {
		case sealed:
			return untouched, false
		case m[1] != run || m[2] == k.id():
			return others, true
		}
		return stale, true
	}
	if m := oldHead.FindStringSubmatch(text); m != nil && m[1] == run {
		return stale, !oldSealed(text[len(m[0]):], m[2])
	}
	return others, true
}

// showAll returns proposals as the user reads them.
func showAll(ctx context.Context, list []engine.Proposal, get func(context.Context, string) ([]byte, error)) ([]engine.Shown, error) {
	texts := make([]engine.Shown, len(list))
	for i, p := range list {
		text, err := p.Show(ctx, get)
		if err != nil {
			return nil, fmt.Errorf("show item %d of run %s: %w", p.Item, p.Run, err)
		}
		texts[i] = text
	}
	return texts, nil
}

// Notes of earlier versions had marks without a key. Their boxes do not count: such a note is replaced.

var (
	oldHead = regexp.MustCompile(`\A---\nvaultflow: approval\nrun: (\S+)\ndigest: ([0-9a-f]{64})\n---\n\n`)
	oldTick = regexp.MustCompile(`(?m)^(\s*[-*+] \[)[xX](\] .*\^(?:rest-)?[0-9a-f]{16}\r?)$`)
)

// oldSealed reports whether the text of an old note was changed only by ticking boxes.
func oldSealed(text, digest string) bool {
	sum := sha256.Sum256([]byte(oldTick.ReplaceAllString(text, "${1} ${2}")))
	return hex.EncodeToString(sum[:]) == digest
}
