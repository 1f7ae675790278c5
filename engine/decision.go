package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/engine/diff"
	"github.com/vaultflow/vaultflow/failure"
)

// Decision is an answer to open proposals of a run.
type Decision struct {
	Run     string
	Items   []int // none: all that are open
	Approve bool
	By      string // one of the Decided constants
	Who     string // the user, if known
	Reason  string // of a no
	Edited  string // blob: what is written in place of what was proposed; for one item that writes a file
}

// MaxReason bounds the reason of a no, in characters.
const MaxReason = 500

// Check tidies the reason of a decision, and returns a failure if the decision makes no sense.
func (d *Decision) Check() error {
	reason, err := TidyReason(d.Reason)
	switch {
	case err != nil:
		return err
	case d.Approve && reason != "":
		return failure.New(failure.Input, "leave the reason out, or reject", "only a rejection has a reason")
	case d.Edited != "" && (!d.Approve || len(d.Items) != 1):
		return failure.New(failure.Input, "add --item NUMBER", "edited content needs exactly one approved item")
	}
	d.Reason, d.Who = reason, visible.Name(d.Who)
	return nil
}

// TidyReason returns a reason on one line, with nothing in it that cannot be seen. One that is too long is a failure.
func TidyReason(reason string) (string, error) {
	reason = visible.Name(strings.Join(strings.Fields(reason), " "))
	if n := utf8.RuneCountInString(reason); n > MaxReason {
		return "", failure.New(failure.Input, "shorten it", "the reason has %d characters; the limit is %d", n, MaxReason)
	}
	return reason, nil
}

// Fits reports whether an edited content can take the place of what is proposed.
func (p Proposal) Fits() error {
	if p.Kind != ChangeCreate && p.Kind != ChangeWrite {
		return failure.New(failure.Input, "approve or reject it as it is", "item %d of run %s writes no file: %s cannot be edited", p.Item, p.Run, p)
	}
	return nil
}

// Digest covers everything that an approval allows: what is done, to which file, with which content. To the user, two
// proposals with the same digest are the same.
func (p Proposal) Digest() string {
	h := sha256.New()
	for _, part := range []string{p.Key, p.Kind, p.Name, p.To, p.Tool, p.Input, p.Before, p.After} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Shown is a proposal as the user reads it before deciding.
type Shown struct {
	Text  string // the change of the file, or what the tool would be given; ends with a line feed
	Whole bool   // nothing that a yes lets happen is missing from Text
}

// Pages cuts what is shown into pages of at most size bytes, at the ends of lines where that is possible.
func (s Shown) Pages(size int) []string { return diff.Pages(s.Text, size) }

// Show returns the proposal as the user reads it before deciding. Invisible characters are shown as code points, with a notice at the top.
// get reads blobs.
func (p Proposal) Show(ctx context.Context, get func(ctx context.Context, digest string) ([]byte, error)) (Shown, error) {
	head := notices(p)
	if p.Kind == ProposalPrompt {
		text, err := blobOf(ctx, get, p.Input)
		return Shown{head + marked("the prompt of "+p.Step+": "+strings.Join(p.Why(), "\n")+"\n\n"+string(text)), true}, err
	}
	if p.Kind == ProposalCall {
		input, err := blobOf(ctx, get, p.Input)
		return Shown{head + marked(p.Tool+"\n"+strings.TrimRight(string(input), "\n")+"\n"), true}, err
	}
	if p.Kind == ChangeMove {
		return Shown{head + p.move(), true}, nil
	}
	after, err := blobOf(ctx, get, p.After)
	if err != nil {
		return Shown{}, err
	}
	before, err := blobOf(ctx, get, p.Before)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotFound) {
		return p.showAfter(head, after), nil
	}
	if err != nil {
		return Shown{}, err
	}
	if len(before)+len(after) == 0 {
		return Shown{head + p.Kind + " the empty file " + visible.Name(p.Name) + "\n", true}, nil
	}
	text, whole := diff.Whole(before, after, nameOf(p.Name, p.Before), nameOf(p.Name, p.After))
	return Shown{head + text, whole}, nil
}

// marked returns a text with its invisible characters as code points, below a notice of them.
func marked(text string) string {
	if said := visible.Warning(text); said != "" {
		return diff.Notice + said + "\n" + visible.Text(text)
	}
	return visible.Text(text)
}

// showAfter shows a change of a file whose content before is not known any more: it was too large to be kept, or somebody has
// changed it since. Writing it fails then, and it is proposed again.
func (p Proposal) showAfter(head string, after []byte) Shown {
	if p.After == "" {
		return Shown{fmt.Sprintf("%s%s %s, whose content is not shown\n", head, p.Kind, visible.Name(p.Name)), true}
	}
	text, _ := diff.Whole(nil, after, "", p.Name)
	return Shown{head + diff.Notice + "The content before is not shown; this is the whole content after.\n" + text, false}
}

func nameOf(name, digest string) string {
	if digest == "" {
		return ""
	}
	return name
}

func blobOf(ctx context.Context, get func(ctx context.Context, digest string) ([]byte, error), digest string) ([]byte, error) {
	if digest == "" {
		return nil, nil
	}
	return get(ctx, digest)
}

// notices are lines about names that may be taken for others.
func notices(p Proposal) string {
	var b strings.Builder
	for _, name := range []string{p.Name, p.To} {
		for _, said := range []string{visible.Lookalike(name), visible.Warning(name)} {
			if said != "" {
				b.WriteString(diff.Notice + "The name " + visible.Name(name) + ": " + said + "\n")
			}
		}
	}
	return b.String()
}

// What is String with invisible characters made visible.
func (p Proposal) What() string { return visible.Name(p.String()) }

// move describes a move, and which links follow.
func (p Proposal) move() string {
	var b strings.Builder
	fmt.Fprintf(&b, "move %s\n  to %s\n", visible.Name(p.Name), visible.Name(p.To))
	switch n := len(p.Linked); n {
	case 0:
		return b.String()
	case 1:
		b.WriteString("links follow in 1 file:\n")
	default:
		fmt.Fprintf(&b, "links follow in %d files:\n", n)
	}
	for _, name := range p.Linked {
		fmt.Fprintf(&b, "  %s\n", visible.Name(name))
	}
	return b.String()
}
