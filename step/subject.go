package step

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/note"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
)

// maxNamed is how many of the files that a run is about the model learns by name.
const maxNamed = 20

// titleOf returns the title of a note; "" for another file, or one that cannot be read.
func titleOf(files change.Files, name string) string {
	if directives.KindOf(name) != "markdown" {
		return ""
	}
	data, _, err := files.Vault.Read(name, files.MaxText)
	if err != nil {
		return "" // its name is used
	}
	return note.Title(data)
}

// checkSubject refuses a step that names the file of a run with none, or with several, before it costs anything.
func (s Context) checkSubject() error {
	if !s.Step.NamesFile() || len(s.Facts.Files) == 1 {
		return nil
	}
	_, err := directives.Expand("{trigger}", s.Facts)
	return failure.WithCode(err, failure.Input)
}

// ofSubject returns the untrusted sources of the names of the files that the run is about, and of what chose them.
func (src Sources) ofSubject(ctx context.Context, s Context) []string {
	var reads []policy.Read
	for _, name := range s.Facts.Files[:min(len(s.Facts.Files), maxNamed)] {
		reads = append(reads, policy.Read{Kind: s.nameKind(policy.ReadName), Name: name})
	}
	return policy.AddOrigins(slices.Clone(s.chosen), src.Trust(ctx).Origins(reads)...)
}

// usesItem reports whether the step mentions its item: in its text, a file name or its header.
func (s Context) usesItem() bool { return s.mentions("{item") }

// readsItems reports whether the step uses the items of an @for_each.
func (s Context) readsItems() bool {
	each := s.Step.ForEach
	return each != nil && (each.As != "" || s.usesItem())
}

// mentions reports whether any part of the step contains a text.
func (s Context) mentions(text string) bool {
	data, err := json.Marshal(s.Step)
	return err != nil || bytes.Contains(data, []byte(text))
}

// nameKind returns what a step sees of a file that it names: a title is content.
func (s Context) nameKind(otherwise policy.ReadKind) policy.ReadKind {
	if s.mentions("-title}") {
		return policy.ReadFile
	}
	return otherwise
}

// subject returns a fact that names the files that the run is about. Names from outside are framed in an input.
func (a *Assembler) subject(s Context, resolved []engine.ResolvedInput, from []string) (facts []string, inputs []prompt.Input) {
	files := s.Facts.Files
	if len(files) == 0 {
		return nil, nil
	}
	const about = "The run was started by "
	if len(files) == 1 && onlyFile(resolved) == files[0] {
		return []string{about + "the file that is shown as the input."}, nil
	}
	named := slices.Clone(files[:min(len(files), maxNamed)])
	if more := len(files) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("and %d more", more))
	}
	if len(from) == 0 {
		return []string{about + strings.Join(named, "; ")}, nil
	}
	return []string{about + "the files that the input \"trigger\" names."}, []prompt.Input{framed("trigger", "", strings.Join(named, "\n"), from)}
}

// onlyFile returns the file of the inputs if there is just one.
func onlyFile(resolved []engine.ResolvedInput) string {
	only := ""
	for _, in := range resolved {
		for _, file := range in.Files {
			if only != "" && only != file.Name {
				return ""
			}
			only = file.Name
		}
	}
	return only
}

// framed is a text from outside as an input.
func framed(name, place, text string, from []string) prompt.Input {
	return prompt.Input{
		Directive: directives.Input{Target: directives.Target{Scheme: directives.SchemeVariable, Path: name}, As: place}, Text: text, Origins: from,
	}
}

// promptText returns the step's text with the names of its item and of the file that started the run. Those from outside become
// framed inputs at their places.
func (s Context) promptText(subjectFrom, itemFrom []string) (text string, inputs []prompt.Input, err error) {
	text, err = directives.ReplaceInText(s.Step.Prompt, s.Facts, func(name, value string) string {
		from := subjectFrom
		if strings.HasPrefix(name, "item") {
			from, value = itemFrom, s.ofAll(name, value)
		}
		if len(from) == 0 {
			return value
		}
		place := fmt.Sprintf("%s\x00%d", name, len(inputs)) // no place of the author's has this name
		inputs = append(inputs, framed(name, place, value, from))
		return "{{" + place + "}}"
	})
	return text, inputs, failure.WithCode(err, failure.Input)
}

// ofAll returns the value of a pattern for all items of the batch.
func (s Context) ofAll(name, first string) string {
	if len(s.items) < 2 {
		return first
	}
	var values []string
	for _, it := range s.items {
		facts := s.Facts
		facts.Item, facts.ItemName, facts.ItemValue = it.text, it.name(), it.Value
		if value, err := directives.Expand("{"+name+"}", facts); err == nil {
			values = append(values, value)
		}
	}
	return strings.Join(values, ", ")
}
