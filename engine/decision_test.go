package engine

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

func TestDecision_check(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]Decision{
		"":                       {Reason: " wrong\n\tyear ", Who: "ada"},
		"only a rejection has a": {Approve: true, Reason: "because"},
		"the limit is 500":       {Reason: strings.Repeat("x", MaxReason+1)},
		"exactly one approved":   {Approve: true, Items: []int{1, 2}, Edited: "blob"},
		"needs exactly one":      {Items: []int{1}, Edited: "blob"},
	} {
		err := d.Check()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", d, err, want)
		}
		if err == nil && d.Reason != "wrong year" {
			t.Errorf("the reason is %q", d.Reason)
		}
	}
}

// All that a yes lets happen is in the digest.
func TestProposal_digest(t *testing.T) {
	t.Parallel()
	base := Proposal{Run: "r", Item: 1, Key: "k", Kind: ChangeWrite, Name: "a.md", Before: "b", After: "c"}
	seen := map[string]string{base.Digest(): "base"}
	for name, change := range map[string]func(*Proposal){
		"key": func(p *Proposal) { p.Key = "k2" }, "kind": func(p *Proposal) { p.Kind = ChangeDelete }, "name": func(p *Proposal) { p.Name = "b.md" },
		"to": func(p *Proposal) { p.To = "x.md" }, "tool": func(p *Proposal) { p.Tool = "t" }, "input": func(p *Proposal) { p.Input = "i" },
		"before": func(p *Proposal) { p.Before = "" }, "after": func(p *Proposal) { p.After = "d" }, "moved": func(p *Proposal) { p.Before, p.After = "bc", "" },
	} {
		p := base
		change(&p)
		if other, taken := seen[p.Digest()]; taken {
			t.Errorf("another %s has the digest of %s", name, other)
		}
		seen[p.Digest()] = name
	}
}

func TestProposal_show(t *testing.T) {
	t.Parallel()
	get := func(_ context.Context, digest string) ([]byte, error) {
		if digest == "gone" {
			return nil, fmt.Errorf("blob: %w", fs.ErrNotExist)
		}
		return []byte(digest), nil
	}
	for _, c := range []struct {
		p     Proposal
		whole bool
		want  []string
	}{
		{Proposal{Kind: ProposalCall, Tool: "post.send", Input: "{\"to\": \"ada\u202e\"}"}, true, []string{"! Characters", "post.send\n{\"to\": \"ada<U+202E>\"}\n"}},
		{Proposal{Kind: ChangeMove, Name: "a\u200b.md", To: "b.md"}, true, []string{"! The name a<U+200B>.md: Characters", "move a<U+200B>.md\n  to b.md\n"}},
		{Proposal{Kind: ChangeCreate, Name: "Pl\u0430n.md", After: "x\n"}, true, []string{"mixes Latin and Cyrillic", "+x\n"}},
		{Proposal{Kind: ChangeWrite, Name: "a.md", Before: "gone", After: "x\n"}, false, []string{"! The content before is not shown", "+x\n"}},
		{Proposal{Kind: ChangeDelete, Name: "a.md", Before: "gone"}, true, []string{"delete a.md, whose content is not shown"}},
		{Proposal{Kind: ChangeCreate, Name: "a.md"}, true, []string{"create the empty file a.md"}},
		{Proposal{Kind: ChangeCreate, Name: "a.md", After: "\xff"}, false, []string{"not a text"}},
		{Proposal{Kind: ChangeCreate, Name: "a.md", After: strings.Repeat("long\n", 500_000)}, true, []string{"+long\n"}},
	} {
		s, err := c.p.Show(t.Context(), get)
		if err != nil || s.Whole != c.whole {
			t.Errorf("%s: whole %v, %v", c.p.What(), s.Whole, err)
		}
		for _, want := range c.want {
			if !strings.Contains(s.Text, want) {
				t.Errorf("%s: %.300q lacks %q", c.p.What(), s.Text, want)
			}
		}
	}
}
