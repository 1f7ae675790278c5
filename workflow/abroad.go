package workflow

import (
	"io/fs"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// oldDir is where AssistantMD kept the workflows of a vault.
const oldDir = "AssistantMD/Workflows"

// Abroad is a workflow of AssistantMD that lies where nothing looks for it.
type Abroad struct {
	File string `json:"file"` // name of the note in the vault
	To   string `json:"to"`   // where it belongs
}

// Diagnostic says where the workflow belongs.
func (a Abroad) Diagnostic() diag.Diagnostic {
	return directives.At(Position{File: a.File, Line: 1, Column: 1}, directives.CodeOldPlace, "move it to "+a.To,
		"this workflow lies where AssistantMD kept them; no workflow is looked for here")
}

// FindAbroad lists the notes in AssistantMD's folder, and in the folders right below it whose names do not start with
// `_`, that are workflows by their frontmatter. It finds none when the folder of workflows is that folder, or lies
// around it. Notes that cannot be read are left out.
func FindAbroad(fsys fs.FS, dir string) []Abroad {
	if dir == "." || directives.Inside(oldDir, dir) {
		return nil
	}
	var list []Abroad
	for _, pattern := range []string{oldDir + "/*.md", oldDir + "/*/*.md"} {
		names, _ := fs.Glob(fsys, pattern) // the patterns are well formed, and nothing else is an error
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

// isOld says whether a note's frontmatter names AssistantMD's engine.
func isOld(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	if err != nil || info.Size() > MaxSize {
		return false
	}
	src, err := fs.ReadFile(fsys, name)
	n := &source{}
	return err == nil && n.read(src, &report{}) && n.old(name).NamesEngine()
}
