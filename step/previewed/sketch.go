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
	Digest   string            `json:"digest"` // of all that is sent: prompts with the same one say the same, whatever nonce they have
	Time     time.Time         `json:"time,omitzero"`
	Model    string            `json:"model"` // alias, provider and the provider's name of the model
	Window   int               `json:"window,omitempty"`
	Guess    string            `json:"guess,omitempty"` // why Window is only a guess; empty: it is none
	Settings map[string]string `json:"settings,omitempty"`
	Parts    []Part            `json:"parts"`
}

// Part is a text of the prompt, all text of one note, or a reference.
type Part struct {
	Kind   string `json:"kind"` // text, note, or the kind of the receipt's line
	Name   string `json:"name"` // of the file; of a text, what it is
	Digest string `json:"digest,omitempty"`
	Fate   string `json:"fate,omitempty"`
	Why    string `json:"why,omitempty"` // the reason of the fate
	Torn   bool   `json:"torn,omitempty"`
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
func Differences(before, now Sketch) []string {
	if before.Digest == now.Digest {
		return nil
	}
	var list []string
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if before.Model != now.Model {
		say("model changed: %s, was %s", now.Model, before.Model)
	}
	switch {
	case before.Window == now.Window:
	case before.Guess != "" && now.Guess == "":
		say("window learned: %d tokens, guessed were %d", now.Window, before.Window)
	default:
		say("window changed: %d tokens, was %d", now.Window, before.Window)
	}
	all := maps.Clone(before.Settings)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, now.Settings)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if was, is := before.Settings[key], now.Settings[key]; was != is {
			say("setting changed: %s is %s, was %s", key, orNone(is), orNone(was))
		}
	}
	list = append(list, parts(before.Parts, now.Parts)...)
	if len(list) == 0 {
		say("the text around the inputs changed")
	}
	if more := len(list) - maxDifferences; more > 0 {
		list = append(list[:maxDifferences], fmt.Sprintf("%d more", more))
	}
	return list
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

// changed returns the difference of a part, if there is one.
func (p Part) changed(now Part) []string {
	remote := strings.HasPrefix(now.Name, "http://") || strings.HasPrefix(now.Name, "https://")
	switch {
	case now.Torn && !p.Torn:
		return []string{fmt.Sprintf("%s torn: %s%s", now.what(), now.Name, now.because())}
	case remote && p.Digest == "" && now.Digest != "":
		return []string{"remote picture fetched: " + now.Name}
	case p.Digest != now.Digest && p.Fate == now.Fate:
		return []string{fmt.Sprintf("%s changed: %s", now.what(), now.Name)}
	case p.Fate != now.Fate && p.Digest != "" && now.Digest != "" && p.Digest != now.Digest:
		return []string{fmt.Sprintf("%s changed: %s is %s%s, was %s", now.what(), now.Name, now.Fate, now.because(), p.Fate)}
	case p.Fate != now.Fate:
		return []string{fmt.Sprintf("%s is %s%s, was %s: %s", now.what(), now.Fate, now.because(), p.Fate, now.Name)}
	case p.Why != now.Why:
		return []string{fmt.Sprintf("%s is %s for another reason: %s%s", now.what(), now.Fate, now.Name, now.because())}
	}
	return nil
}
