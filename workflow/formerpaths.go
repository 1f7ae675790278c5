package workflow

import (
	"context"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/vault"
)

// formerPaths notes the paths of a step that name files of a bundle as older versions did, and writes the names of now. Globs are left
// alone: they find older bundles too.
func (i *inspector) formerPaths(ctx context.Context, s Step) {
	targets := s.read()
	for _, w := range s.When {
		targets = append(targets, w.Target)
	}
	for _, out := range s.fileOutputs() {
		targets = append(targets, out.Target)
	}
	for _, t := range targets {
		if _, fixed := fixedFolder(t); !fixed || t.Scheme != directives.SchemeFile || !maybeFormer(t.Path) {
			continue
		}
		found, err := directives.Input{At: t.At, Target: t}.Resolve(ctx, i.env(s))
		if err == nil && len(found.Files) == 1 {
			i.former(t, found.Files[0].Name)
		}
	}
}

// maybeFormer reports whether a path can be one of an older bundle.
func maybeFormer(written string) bool {
	stem := strings.TrimSuffix(path.Base(written), ".md")
	return strings.EqualFold(stem+".md", vault.FormerNote) || strings.HasPrefix(stem, "page_")
}

// former notes a path that means a file with another name.
func (i *inspector) former(t directives.Target, name string) {
	old := path.Base(t.Path)
	if former := vault.NewBundles(i.world.FS).Former(name); former == "" || !strings.EqualFold(path.Base(former), strings.TrimSuffix(old, ".md")+".md") {
		return
	}
	now := path.Base(name)
	if t.Link && path.Ext(old) == "" {
		now = strings.TrimSuffix(now, ".md")
	}
	d := directives.At(t.At, directives.CodeFormerPath, "write "+path.Join(path.Dir(t.Path), now), "%s is called %s now", t.Path, name)
	if !strings.ContainsAny(t.Path+now, "\\\"'*?[]{}|#") {
		at := t.At
		at.Column += utf8.RuneCountInString(strings.TrimSuffix(t.Path, old))
		d = d.Mended(diag.Replace(at, utf8.RuneCountInString(old), now))
	}
	i.add(d)
}
