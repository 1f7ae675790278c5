package engine

import (
	"strings"

	"github.com/vaultflow/vaultflow/step/parts"
)

// ItemPart is the part of its document that an item of an @for_each is.
type ItemPart struct {
	parts.Part
	Called string `json:"called"`          // {item-name}: the part's name, with the document's where there may be several
	Asked  string `json:"asked,omitempty"` // digest of what the step asks about each part

	Made map[string]string `json:"made,omitempty"` // digests of the files that were made of this part before, by name
}

// PartState is a part that a step has done.
type PartState struct {
	Document string `json:"document"` // vault name
	ItemPart
	Files  map[string]string `json:"files,omitempty"`  // digests of the files that this part alone made as a whole, by name
	Others []string          `json:"others,omitempty"` // other files that it wrote to
}

// Key names the part among the things that a step has processed.
func (p PartState) Key() string { return p.Document + ", " + p.Name }

// PartsChange is what an @for_each over parts of documents found besides its items.
type PartsChange struct {
	Gone  []PartState `json:"gone,omitempty"`  // done before, and not there any more
	Moved []PartMove  `json:"moved,omitempty"` // not to be done again, but their pages have other numbers now
	Other int         `json:"other,omitempty"` // how many are not done again although the prompt is another one now
}

// PartMove is a part whose pages have moved: as it was, and its pages now.
type PartMove struct {
	PartState
	Now parts.Part `json:"now"`
}

// empty reports whether there is nothing to do.
func (c *PartsChange) empty() bool { return c == nil || len(c.Gone)+len(c.Moved) == 0 }

// Shown names an item for people.
func (i Item) Shown() string {
	if i.Part == nil {
		return i.Name
	}
	return i.Name + ", " + i.Part.Part.Name + " (" + i.Part.Label() + ")"
}

// mark records that the item's part was done.
func (i Item) mark() Mark {
	state := PartState{Document: i.Name, ItemPart: *i.Part}
	return Mark{ForEachDirective, state.Key(), i.Part.Digest(), &state}
}

// withFiles adds the files that a work wrote to the marks of parts. whole is set if the outputs replace files. A file that somebody
// else wrote before is not the part's own.
func withFiles(marks []Mark, files []StagedFile, whole bool) []Mark {
	var list []Mark
	for _, m := range marks {
		if m.Part != nil {
			state := *m.Part
			state.Files, state.Made = map[string]string{}, nil
			for _, f := range files {
				switch own := f.Base == "" || m.Part.Made[f.Name] == f.Base; {
				case whole && own && isOutput(f) && !f.Edited:
					state.Files[f.Name] = f.New
				default:
					state.Others = append(state.Others, f.Name)
				}
			}
			m.Part = &state
		}
		list = append(list, m)
	}
	return list
}

// isOutput reports whether a file serves @output directives alone.
func isOutput(f StagedFile) bool {
	for _, target := range f.Targets {
		if !strings.HasPrefix(target, "output:") {
			return false
		}
	}
	return len(f.Targets) > 0
}
