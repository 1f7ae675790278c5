package step

import (
	"context"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// replaces reports whether a mode writes over text of the workflow's own.
func replaces(m directives.WriteMode) bool {
	return m.Mode == directives.ModeReplace || m.Mode == directives.ModeSection && m.Merge == ""
}

// maxAbout is how many bytes of what a file is about the journal keeps.
const maxAbout = 300

// about returns what the name of an output is made from: the file that started the run, the item, a folder. It is "" for a name that
// the author fixed, for the file itself to which a step writes back, and for outputs that are numbered anyway.
func (o Outputs) about(s Context, output directives.Output, name string, mode directives.WriteMode) string {
	if mode.Mode == directives.ModeNew || writesBack(s, name) {
		return ""
	}
	list := output.Subject(s.Facts, func(name string) string { return vault.DocumentOf(o.FS, name) })
	about := strings.Join(list, "\n")
	if len(about) > maxAbout {
		about = strings.ToValidUTF8(about[:maxAbout-70], "") + "… " + vault.Digest([]byte(about))
	}
	return about
}

// writesBack reports whether a file is one that the step is about.
func writesBack(s Context, name string) bool {
	return slices.Contains(s.Facts.Files, name) || !s.Facts.ItemValue && slices.Contains(s.Facts.Items, name)
}

// inWords is what about returned, for people.
func inWords(about string) string {
	return oneLine(strings.ReplaceAll(strings.TrimSuffix(about, "/"), "\n", " and "))
}

// ownNote returns the numbered note that the workflow wrote about what a path names, if the path finds one that it wrote about
// something else; else "".
func (r Inputs) ownNote(ctx context.Context, s Context, target directives.Target, found directives.Resolution) (string, error) {
	if target.Scheme != directives.SchemeFile || target.Link || target.Literal || len(found.Files) != 1 || strings.ContainsAny(target.Path, "*?[") {
		return "", nil
	}
	plain := found.Files[0].Name
	mine := (Outputs{Files: r.Files}).about(s, directives.Output{Target: target}, plain, directives.WriteMode{})
	theirs, err := r.Vars.Memory.About(ctx, s.Plan.Name, plain)
	if err != nil || mine == "" || theirs == "" || theirs == mine {
		return "", err
	}
	for n := 2; n <= maxNumber; n++ {
		name := numberedName(plain, n)
		if !policy.Look(r.FS, name).Exists {
			return "", nil
		}
		if about, err := r.Vars.Memory.About(ctx, s.Plan.Name, name); err != nil || about == mine {
			return name, err
		}
	}
	return "", nil
}
