package prompt

import (
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/policy"
)

// cutPoint is where the prompt is cut: everything on one side of the item stays. Of the item itself, when it is a text,
// the first bytes stay, or with drop_oldest those from that byte on.
type cutPoint struct {
	item  int
	bytes int
}

// cutAt finds the place. With drop_oldest the end stays, otherwise the beginning; refs_only wants to know only where it
// is. own are the tokens of each item, media those of what is attached with it. A picture that has no room is left out and
// cuts nothing.
func (f *fitter) cutAt(own, media []int, room int) cutPoint {
	last := len(f.out.items) - 1
	for k := range f.out.items {
		i, need := k, own[k]
		if f.bounds.WhenExceeded == policy.DropOldest {
			i = last - k
			need = f.costFromEnd(i, own)
		}
		if media[i] > 0 && need+media[i] <= room {
			need += media[i]
		}
		if need <= room {
			room -= need
			continue
		}
		switch f.bounds.WhenExceeded {
		case policy.DropOldest:
			return cutPoint{item: i, bytes: len(f.out.items[i].words) - lastLines(f.out.items[i], room)}
		case policy.RefsOnly:
			return cutPoint{item: i}
		}
		return cutPoint{item: i, bytes: firstLines(f.out.items[i], room)}
	}
	return cutPoint{item: last}
}

// costFromEnd is what an item costs when the prompt is read from its end: a frame is paid for where it closes.
func (f *fitter) costFromEnd(i int, costs []int) int {
	switch f.out.items[i].role {
	case roleOpen:
		return 0
	case roleClose:
		return 2 * (frameTokens + policy.TextTokens(f.out.items[i].frame.name))
	default:
		return costs[i]
	}
}

// firstLines is how many bytes of a text fit, up to a line's end.
func firstLines(it item, tokens int) int {
	if it.role != roleText || tokens <= 0 {
		return 0
	}
	return strings.LastIndexByte(it.words[:runesOf(it.words, tokens*4)], '\n') + 1
}

// lastLines is how many bytes at the end of a text fit, from a line's start.
func lastLines(it item, tokens int) int {
	if it.role != roleText || tokens <= 0 {
		return 0
	}
	at := len(it.words)
	for n := tokens * 4; n > 0 && at > 0; n-- {
		at -= lastRune(it.words[:at])
	}
	i := strings.IndexByte(it.words[at:], '\n')
	if i < 0 {
		return 0
	}
	return len(it.words) - (at + i + 1)
}

// cut holds back what has no room, and returns the tokens of the rest.
func (f *fitter) cut(k cutPoint, costs []int, why string) (left int) {
	mode := f.bounds.WhenExceeded
	fate := map[policy.Exceeded]policy.Fate{
		policy.DropOldest: policy.Omitted, policy.DropNewest: policy.Omitted, policy.RefsOnly: policy.Reference,
	}[mode]
	reason := why
	switch {
	case fate == "":
		fate = policy.Deferred
	default:
		reason += "; when_exceeded=" + string(mode)
	}
	f.out.cutFate, f.out.cutReason = fate, reason
	lost := f.bounds.Over("max_prompt_tokens")
	open := f.spans()
	items := make([]item, 0, len(f.out.items))
	for i := range f.out.items {
		it := f.out.items[i]
		switch {
		case it.isFixed() || it.role == roleSilent:
			items = append(items, it)
		case !f.isCut(i, k, open):
			items = append(items, it)
			left += costs[i]
		case i == k.item && it.role == roleText && k.bytes > 0 && k.bytes < len(it.words):
			kept, rest := it.part(0, k.bytes), it.part(k.bytes, len(it.words))
			if mode == policy.DropOldest {
				kept, rest = rest, kept
				items = append(append(items, rest.hold(fate, reason, lost)...), kept)
			} else {
				items = append(append(items, kept), rest.hold(fate, reason, lost)...)
			}
			left += kept.line.Tokens
		default:
			if it.role == roleMedia {
				f.out.candidates[it.media.cand].Cut = why // the reaction is named by who decides
				if mode == policy.DropOldest || mode == policy.DropNewest {
					f.out.candidates[it.media.cand].Cut = reason
				}
			}
			items = append(items, it.hold(fate, reason, lost)...)
		}
	}
	f.out.items = items
	f.warnCut(fate, reason)
	return left
}

// warnCut warns where the prompt was cut.
func (f *fitter) warnCut(fate policy.Fate, reason string) {
	w := Warning{Message: "the prompt is full: " + map[policy.Fate]string{
		policy.Deferred: "everything from here on is deferred", policy.Omitted: "a part is left out from here on", policy.Reference: "nothing is shown",
	}[fate] + " (" + reason + ")"}
	for _, it := range f.out.items {
		if it.held && it.line != nil {
			w.Note, w.Line = it.line.Source.Note, it.line.Source.Lines[0]
			break
		}
	}
	f.out.warn(w)
}

// spans maps each item that opens or closes a frame to the index of its partner.
func (f *fitter) spans() map[int]int {
	partner := map[int]int{}
	var stack []int
	for i, it := range f.out.items {
		switch it.role {
		case roleOpen:
			stack = append(stack, i)
		case roleClose:
			start := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			partner[i], partner[start] = start, i
		}
	}
	return partner
}

// isCut reports whether an item is on the side without room. A frame is dropped when it is empty; with refs_only the inputs'
// frames stay, for their names.
func (f *fitter) isCut(i int, k cutPoint, partner map[int]int) bool {
	it := f.out.items[i]
	switch f.bounds.WhenExceeded {
	case policy.RefsOnly:
		frame := it.role == roleOpen || it.role == roleClose || it.role == roleRefs
		return !frame || it.frame.tag == tagEmbed
	case policy.DropOldest:
		if it.role == roleOpen {
			return partner[i] <= k.item
		}
		return i <= k.item
	}
	switch it.role {
	case roleClose:
		return partner[i] >= k.item
	case roleRefs:
		return partner[i+1] >= k.item
	default:
		return i >= k.item
	}
}

// hold takes an item out of the prompt. A long text becomes several chunks, so that each can be asked for.
func (it item) hold(fate policy.Fate, reason string, why omission.Why) []item {
	if it.role != roleText {
		it.held = true
		if l := it.line; l != nil && it.role == roleOpen {
			l.Fate, l.Reason, l.Why = fate, reason, why
		}
		return []item{it}
	}
	var out []item
	for at := 0; at < len(it.words); {
		size := len(it.words) - at
		if fate == policy.Deferred {
			size = cutBelow(it.words[at:], maxPageText)
		}
		part := it.part(at, at+size)
		part.held = true
		part.line.Fate, part.line.Reason, part.line.Why, part.line.Text, part.line.Tokens = fate, reason, why, "", 0
		out = append(out, part)
		at += size
	}
	return out
}

// part is the item for a part of its text.
func (it item) part(from, to int) item {
	line := *it.line
	line.Text = it.words[from:to]
	line.Tokens = policy.TextTokens(line.Text)
	line.Source.Bytes = [2]int{it.offset(from), it.offset(to)}
	line.Source.Lines[0] += strings.Count(it.words[:from], "\n")
	line.Source.Lines[1] = line.Source.Lines[0] + strings.Count(strings.TrimSuffix(line.Text, "\n"), "\n")
	it.start += from
	it.words, it.line = line.Text, &line
	return it
}

// offset returns the position in the file of a byte of the item's text.
func (it item) offset(at int) int {
	if it.text == nil {
		return it.line.Source.Bytes[0] + at
	}
	return it.text.place(it.start + at)
}

// runesOf is the length of the first n characters, in bytes.
func runesOf(s string, n int) int {
	at := 0
	for range s[:min(len(s), n*utf8.UTFMax)] {
		if n == 0 {
			break
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
		n--
	}
	return at
}

// lastRune is the length of the last character.
func lastRune(s string) int {
	_, size := utf8.DecodeLastRuneInString(s)
	return size
}
