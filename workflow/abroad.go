package workflow

import (
	"io/fs"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// oldDir is where AssistantMD kept a vault's workflows.
const oldDir = "AssistantMD/Workflows"

// Abroad is a workflow of AssistantMD in a folder that is not searched.
type Abroad struct {
	File string `json:"file"` // name of the note in the vault
	To   string `json:"to"`   // where it belongs
}

// Diagnostic reports where the workflow belongs.
func (a Abroad) Diagnostic() diag.Diagnostic {
	return directives.At(Position{File: a.File, Line: 1, Column: 1}, directives.CodeOldPlace, "move it to "+a.To,
		"this workflow is where AssistantMD kept them, and is ignored here")
}

// FindAbroad lists the notes whose frontmatter makes them workflows, in AssistantMD's folder and in its direct subfolders
// whose names do not start with `_`. It finds none if the workflows folder is or contains that folder. Unreadable notes are
// left out.
func FindAbroad(fsys fs.FS, dir string) []Abroad {
	if dir == "." || directives.Inside(oldDir, dir) {
		return nil
	}
	var list []Abroad
	for _, pattern := range []string{oldDir + "/*.md", oldDir + "/*/*.md"} {
		names, _ := fs.Glob(fsys, pattern) // the only possible error is a malformed pattern
		for _, name := range names {
			below := strings.TrimPrefix(name, oldDir+"/")
			if strings.HasPrefix(path.Dir(below), "_") || !isOld(fsys, name) {
				continue
			}
			list = append(list, Abroad{File: name, To: path.Join(dir, below)})
		}
	}
	return list
}

// isOld reports whether a note's frontmatter names AssistantMD's engine.
func isOld(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	if err != nil || info.Size() > MaxSize {
		return false
	}
	src, err := fs.ReadFile(fsys, name)
	n := &source{}
	return err == nil && n.read(src, &report{}) && n.old(name).NamesEngine()
}
