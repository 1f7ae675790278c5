package doctor

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/settings"
)

// examineSettings reports which place each value comes from that is no default, what a vault's file could not loosen, and what
// waits for a yes.
func examineSettings(a *daemon.Workspace) []Finding {
	var all []Finding
	if a.Faults != nil {
		all = append(all, Finding{
			Subject: "settings", State: "problem", Message: "a file has faults: " + strings.ReplaceAll(a.Faults.Error(), "\n", "; "),
			Fix: "fix them; until then the file is ignored here, and nothing is run or imported",
		})
	}
	for _, p := range a.Settings.Parts() {
		all = append(all, Finding{Subject: "settings", State: "ok", Message: placeOfPart(p) + " " + strings.Join(p.Keys, ", ")})
	}
	if len(all) == 0 {
		all = append(all, Finding{Subject: "settings", State: "ok", Message: "the defaults"})
	}
	for _, d := range a.Settings.Diagnostics {
		if d.Code == settings.CodeStricter {
			all = append(all, Finding{Subject: "settings", State: "ok", Message: d.Message, Fix: d.Suggestion})
		}
	}
	for _, w := range a.Settings.Waiting {
		all = append(all, Finding{Subject: "waiting", State: "warning", Message: w.Says + " (" + w.Key + ", " + w.At.String() + ")", Fix: "vaultflow trust shows what waits and asks"})
	}
	return append(all, examineClippings(a)...)
}

func placeOfPart(p settings.Part) string {
	switch p.Source {
	case settings.SourceUser:
		return "your own settings (" + p.Name + ") set"
	case settings.SourceEnvironment:
		return "environment variables set"
	case settings.SourceFlag:
		return "flags set"
	}
	return p.Name + " sets"
}

// clippingNotes bounds how many notes are looked at for properties of web clippings.
const clippingNotes = 5000

// examineClippings proposes the rule for notes that web clippers made and that lie among one's own: it is opt-in, for a person
// may write source: as well.
func examineClippings(a *daemon.Workspace) []Finding {
	if len(a.Settings.Policy.UntrustedProperties) > 0 {
		return nil
	}
	found, first, seen := 0, "", 0
	_ = fs.WalkDir(a.Vault.FS(), ".", func(name string, d fs.DirEntry, err error) error { // what cannot be read is no clipping
		switch {
		case err != nil || seen >= clippingNotes:
			return fs.SkipDir
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || name == a.Settings.Vault.ImportedDir || name == a.Settings.Vault.ImportDir):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".md" || matchesAny(a.Settings.Policy.Untrusted, name):
			return nil
		}
		seen++
		if isClipping(a.Vault.FS(), name) {
			if found++; found == 1 {
				first = name
			}
		}
		return nil
	})
	if found == 0 {
		return nil
	}
	return []Finding{{
		Subject: "clippings", State: "ok", Message: fmt.Sprintf("notes with an address in source: or url: count as your own text: %d, such as %s", found, visible.Name(first)),
		Fix: "if they hold pages of the web, add `policy: {untrusted_properties: [source, url]}` to your settings",
	}}
}

func matchesAny(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool { return doublestar.MatchUnvalidated(glob, name) })
}

// clipped fits a property with which web clippers say where a page is from.
var clipped = regexp.MustCompile(`(?m)^(source|url):[ \t]*["']?https?://`)

// isClipping reports whether a note's properties name an address as its source. Its beginning is enough.
func isClipping(fsys fs.FS, name string) bool {
	const beginning = 8 << 10
	f, err := fsys.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, beginning))
	if err != nil || !bytes.HasPrefix(head, []byte("---\n")) {
		return false
	}
	properties, _, _ := bytes.Cut(head[len("---\n"):], []byte("\n---"))
	return clipped.Match(properties)
}
