// Package previewed compares the prompt that a step sends with the one that was previewed. It knows of both the parts with their digests and
// what became of them, never their contents.
package previewed

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Sketch describes a prompt.
type Sketch struct {
	Digest   string            `json:"digest"` // of all that is sent or can be asked for: prompts with the same one say the same, whatever nonce they have
	Time     time.Time         `json:"time,omitzero"`
	Format   int               `json:"format,omitempty"` // of what is kept
	Model    string            `json:"model"`            // alias, provider and the provider's name of the model
	Service  string            `json:"service"`          // address, or kind
	Window   int               `json:"window,omitempty"`
	Guess    string            `json:"guess,omitempty"`    // why Window is only a guess; empty: it is none
	Reserved bool              `json:"reserved,omitempty"` // the window is a part of the request
	Settings map[string]string `json:"settings,omitempty"` // parts of the request
	Limits   map[string]string `json:"limits,omitempty"`   // that decide about the fates of parts
	Side     int               `json:"side,omitempty"`     // the longest side to which a picture is scaled, in pixels; 0: none is
	Parts    []Part            `json:"parts"`
}

// format is that of sketches as they are kept: those of another one are not compared.
const format = 2

// Part is a text of the prompt, all text of one note, or a reference.
type Part struct {
	Kind   string `json:"kind"` // text, note, or the kind of the receipt's line
	Name   string `json:"name"` // of the file; of a text, what it is
	Digest string `json:"digest,omitempty"`
	Fate   string `json:"fate,omitempty"`
	Why    string `json:"why,omitempty"` // the reason of the fate
	Torn   bool   `json:"torn,omitempty"`

	Untrusted bool `json:"untrusted,omitempty"`
}

// The kinds of parts that are texts. Others are references.
const (
	KindText = "text" // of the workflow or vaultflow itself
	KindNote = "note"
)

// Text returns a part for a text of the prompt.
func Text(kind, name, text string) Part { return Part{Kind: kind, Name: name, Digest: digest(text)} }

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// maxDifferences bounds how many differences are listed.
const maxDifferences = 100

// Differences lists how a prompt differs from the one that was previewed, each with its reason. It is empty only if they have the same digest.
// Limits are listed if the fate of a part differs, or nothing else does.
func Differences(before, now Sketch) []string {
	if before.Digest == now.Digest {
		return nil
	}
	var list differences
	decided := before.Side != now.Side || otherFates(before.Parts, now.Parts)
	list.call(before, now, decided)
	if decided {
		list.settings(before.Limits, now.Limits)
	}
	if before.Side != now.Side && before.Side > 0 && now.Side > 0 {
		list.say("pictures are scaled to %d pixels, were to %d", now.Side, before.Side)
	}
	list = append(list, parts(before.Parts, now.Parts)...)
	if len(list) == 0 {
		list.window(before, now)
		list.settings(before.Limits, now.Limits)
	}
	if len(list) == 0 {
		list.say("the text around the inputs changed")
	}
	if more := len(list) - maxDifferences; more > 0 {
		list = append(list[:maxDifferences], fmt.Sprintf("%d more", more))
	}
	return list
}

// OfCalls lists how a call differs from the one that its prompt was made for: only what is sent counts.
func OfCalls(before, now Sketch) []string {
	var list differences
	list.call(before, now, false)
	return list
}

type differences []string

func (d *differences) say(format string, args ...any) { *d = append(*d, fmt.Sprintf(format, args...)) }

// call lists what is sent besides the prompt, and the window if it decided about the prompt.
func (d *differences) call(before, now Sketch, decided bool) {
	if before.Model != now.Model {
		d.say("model changed: %s, was %s", now.Model, before.Model)
	}
	if before.Service != now.Service {
		d.say("service changed: %s, was %s", now.Service, before.Service)
	}
	if decided || now.Reserved {
		d.window(before, now)
	}
	d.settings(before.Settings, now.Settings)
}

func (d *differences) window(before, now Sketch) {
	switch {
	case before.Window == now.Window:
	case before.Guess != "" && now.Guess == "":
		d.say("window learned: %d tokens, guessed were %d", now.Window, before.Window)
	default:
		d.say("window changed: %d tokens, was %d", now.Window, before.Window)
	}
}

func (d *differences) settings(before, now map[string]string) {
	all := maps.Collect(maps.All(before))
	maps.Copy(all, now)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if was, is := before[key], now[key]; was != is {
			d.say("setting changed: %s is %s, was %s", key, orNone(is), orNone(was))
		}
	}
}

// otherFates reports whether something that is in both prompts has another fate.
func otherFates(before, now []Part) bool {
	was := map[string]Part{}
	for _, p := range before {
		was[p.key()] = p
	}
	return slices.ContainsFunc(now, func(p Part) bool {
		w, ok := was[p.key()]
		return ok && (w.Fate != p.Fate || w.Why != p.Why)
	})
}

func orNone(value string) string {
	if value == "" {
		return "not set"
	}
	return value
}

// parts compares the parts: those of one name in their order.
func parts(before, now []Part) []string {
	var list, kept, order []string
	was := map[string][]Part{}
	for _, p := range before {
		was[p.key()] = append(was[p.key()], p)
	}
	is := map[string]int{}
	for _, p := range now {
		n := is[p.key()]
		is[p.key()]++
		if n >= len(was[p.key()]) {
			list = append(list, fmt.Sprintf("%s added: %s%s", p.what(), p.Name, p.because()))
			continue
		}
		order = append(order, p.key())
		list = append(list, was[p.key()][n].changed(p)...)
	}
	seen := map[string]int{}
	for _, p := range before {
		if seen[p.key()]++; seen[p.key()] > is[p.key()] {
			list = append(list, fmt.Sprintf("%s removed: %s", p.what(), p.Name))
			continue
		}
		kept = append(kept, p.key())
	}
	if !slices.Equal(kept, order) {
		list = append(list, "the order of the inputs changed")
	}
	return list
}

// key names a part: a reference stays the same one when it is shown in another form.
func (p Part) key() string {
	if p.Kind == KindText || p.Kind == KindNote {
		return p.Kind + " " + p.Name
	}
	return "file " + p.Name
}

// what a part is, in words.
func (p Part) what() string {
	switch p.Kind {
	case "image":
		return "picture"
	case KindText, KindNote:
		return p.Kind
	}
	return "file"
}

func (p Part) because() string {
	if p.Why == "" {
		return ""
	}
	return " (" + p.Why + ")"
}

// changed returns the differences of a part.
func (p Part) changed(now Part) []string {
	list := p.otherwise(now)
	switch {
	case p.Untrusted == now.Untrusted:
	case now.Untrusted:
		list = append(list, fmt.Sprintf("%s is untrusted now: %s", now.what(), now.Name))
	default:
		list = append(list, fmt.Sprintf("%s is trusted now: %s", now.what(), now.Name))
	}
	return list
}

// otherwise returns the difference of content and fate, if there is one.
func (p Part) otherwise(now Part) []string {
	remote := strings.HasPrefix(now.Name, "http://") || strings.HasPrefix(now.Name, "https://")
	switch {
	case now.Torn && !p.Torn:
		return []string{fmt.Sprintf("%s torn: %s%s", now.what(), now.Name, now.because())}
	case remote && p.Digest == "" && now.Digest != "":
		return []string{"remote picture fetched: " + now.Name}
	case p.Digest != now.Digest && p.Fate == now.Fate:
		return []string{fmt.Sprintf("%s changed: %s", now.what(), now.Name)}
	case p.Fate != now.Fate && p.Digest != "" && now.Digest != "" && p.Digest != now.Digest && now.Kind != KindNote:
		return []string{fmt.Sprintf("%s changed: %s is %s%s, was %s", now.what(), now.Name, now.Fate, now.because(), p.Fate)}
	case p.Fate != now.Fate:
		return []string{fmt.Sprintf("%s is %s%s, was %s: %s", now.what(), now.Fate, now.because(), p.Fate, now.Name)}
	case p.Why != now.Why:
		return []string{fmt.Sprintf("%s is %s for another reason: %s%s", now.what(), now.Fate, now.Name, now.because())}
	}
	return nil
}
