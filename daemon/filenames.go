package daemon

import (
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/workflow"
)

// Is reports whether a user's name for a workflow means this one: its name, its file or a link to it, in any case.
func (w *Workflows) Is(p *workflow.Plan, name string) bool {
	written := strings.TrimPrefix(filepath.ToSlash(name), "./")
	if link, ok := vault.LinkTarget(written); ok {
		written = link
	}
	if inside, ok := w.inside(written); ok {
		written = inside
	}
	return words.SameWorkflow(p.Name, written) || p.File != "" && strings.EqualFold(strings.TrimSuffix(p.File, ".md"), strings.TrimSuffix(written, ".md"))
}

// FileNamed finds the file of the vault that a person means: by its name in the vault or by a path, seen from the folder cwd if
// that is not empty; with or without .md; as a [[link]], by an alias or by its name alone. The folder of an imported document
// means the document. A name that fits several files is refused.
func (w *Workflows) FileNamed(written, cwd string) (string, error) {
	name := strings.TrimSpace(written)
	if name == "" {
		return "", control.Usage.Errorf("the file's name is empty; write it from the vault's folder, such as Notes/today.md")
	}
	if u, err := url.Parse(name); err == nil && u.Scheme == "file" && u.Path != "" {
		name = filepath.FromSlash(u.Path)
	}
	if link, ok := vault.LinkTarget(name); ok {
		return w.linked(written, link)
	}
	found, fault := w.spelled(name, cwd)
	if len(found) == 0 && fault == nil && strings.Contains(name, `\`) {
		found, fault = w.spelled(strings.ReplaceAll(name, `\`, "/"), cwd)
	}
	switch {
	case fault != nil:
		return "", fault
	case len(found) > 1:
		return "", control.Usage.Errorf("%q means %s in the vault, and %s from this folder; write %q or ../ and the name", written, found[0], found[1], found[1])
	case len(found) == 1:
		return found[0], nil
	case filepath.IsAbs(name):
		return "", w.notInside(name, cwd != "")
	case strings.ContainsAny(name, "*?") || strings.Contains(name, "["):
		return "", control.Usage.Errorf("%q names no single file; write the name of one, or several names", written)
	}
	return w.linked(written, name)
}

// spelled returns the files that a name or path means as it is written: in the vault, and from the folder cwd.
func (w *Workflows) spelled(name, cwd string) (found []string, fault error) {
	var names []string // in the vault
	inVault := func(name string) {
		if name = path.Clean(filepath.ToSlash(name)); fs.ValidPath(name) {
			names = append(names, name)
		}
	}
	dotted := strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") // a path from cwd, above all
	if !filepath.IsAbs(name) && !dotted {
		inVault(name)
	}
	from := name
	if !filepath.IsAbs(name) && cwd != "" {
		from = filepath.Join(cwd, name)
	}
	if inside, ok := w.inside(from); ok {
		names = append(names, inside)
	} else {
		inVault(strings.TrimPrefix(strings.TrimPrefix(name, "."), "/")) // as Obsidian writes them
	}
	if dotted {
		inVault(name)
	}
	for _, name := range names {
		file, err := w.fileAt(name)
		if err != nil && fault == nil {
			fault = err
		}
		if file != "" && !slices.Contains(found, file) {
			found = append(found, file)
		}
		if file != "" && dotted {
			break
		}
	}
	if len(found) > 0 {
		fault = nil
	}
	return found, fault
}

// fileAt returns the file with a name in the vault, or "".
func (w *Workflows) fileAt(name string) (string, error) {
	fsys := w.vault.FS()
	for _, candidate := range []string{name, name + ".md"} {
		candidate = vault.Actual(fsys, candidate)
		info, err := fs.Stat(fsys, candidate)
		switch {
		case err == nil && info.Mode().IsRegular():
			return candidate, nil
		case err == nil && info.IsDir():
			if note := bundleNote(fsys, candidate); note != "" {
				return note, nil
			}
			if file, err := w.fileAt(name + ".md"); file != "" || err != nil {
				return file, err
			}
			return "", control.Usage.Errorf("%q is a folder; name a file%s", candidate, w.examples(candidate))
		}
	}
	return "", nil
}

// bundleNote returns the note of an imported document by its folder, or "".
func bundleNote(fsys fs.FS, dir string) string {
	if note := vault.BundleNote(fsys, dir); note != "" {
		return note
	}
	former := path.Join(dir, vault.FormerNote)
	for _, name := range []string{path.Join(dir, vault.ManifestFile), former} {
		if info, err := fs.Stat(fsys, name); err != nil || !info.Mode().IsRegular() {
			return ""
		}
	}
	return former
}

// examples names the first files of a folder.
func (w *Workflows) examples(dir string) string {
	entries, err := fs.ReadDir(w.vault.FS(), dir)
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") && len(names) < 3 {
			names = append(names, path.Join(dir, e.Name()))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", such as " + diag.OneOf(names)
}

// linked finds the file that a link means, by its path, its name or an alias.
func (w *Workflows) linked(written, target string) (string, error) {
	loc := w.links.Locate(target, "")
	switch {
	case loc.Found && (len(loc.Ambiguous) > 1 || loc.Longer):
		return w.only(written, target, loc.Name)
	case loc.Found:
		return loc.Name, nil
	}
	if near := loc.Near; len(near) > 0 {
		return "", control.Usage.Errorf("there is no file %q in the vault; did you mean %s?", written, diag.OneOf(near[:min(len(near), 3)]))
	}
	return "", control.Usage.Errorf("there is no file %q in the vault; write its name from the vault's folder, such as Notes/today.md", written)
}

// only returns the one file that a link fits. A link in a note leads to the shortest path, but whoever types it may not know of that
// file: what a workflow wrote about a document often has its name.
func (w *Workflows) only(written, target, shortest string) (string, error) {
	names, err := vault.Fitting(w.vault, w.vault.FS(), target, path.Ext(shortest))
	if len(names) > 1 {
		return "", control.Usage.Errorf("%q fits several files: write %s", written, diag.OneOf(names[:min(len(names), 5)]))
	}
	return append(names, shortest)[0], err
}

// notInside is the error for a path that leads to no file of the vault. Only who can see the file learns that it can be imported.
func (w *Workflows) notInside(absolute string, seen bool) error {
	if _, inside := w.inside(absolute); !inside && seen {
		if _, err := os.Stat(absolute); err == nil {
			return control.Usage.Errorf("%s is not in the vault %s; bring it in with `vaultflow import %s`", absolute, w.dir, words.Arg(absolute))
		}
	}
	return control.Usage.Errorf("there is no file %q in the vault; write its name from the vault's folder, such as Notes/today.md", absolute)
}

// inside returns the name that an absolute path has in the vault.
func (w *Workflows) inside(absolute string) (string, bool) {
	if !filepath.IsAbs(absolute) {
		return "", false
	}
	for _, path := range []string{absolute, resolved(absolute)} {
		for _, dir := range []string{w.dir, resolved(w.dir)} {
			if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
				return filepath.ToSlash(rel), true
			}
		}
	}
	return "", false
}

// resolved follows the links in the folder of a path, as far as there is one.
func resolved(absolute string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(absolute))
	if err != nil {
		return absolute
	}
	return filepath.Join(dir, filepath.Base(absolute))
}
