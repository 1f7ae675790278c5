package settings

import (
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/failure/diag"

	"github.com/bmatcuk/doublestar/v4"
)

// validate checks what concerns more than one value, and what tags cannot say.
func validate(s *Settings, r *reporter) {
	validateModels(s, r)
	for _, name := range sortedKeys(s.Providers) {
		validateProvider(s, name, r)
	}
	validateFolders(s, r)
	validateLists(s, r)
	validateWeb(s, r)
	validateStatusNote(s, r)
	validateOutside(s, r)
	if zone := s.Engine.Timezone; zone != "" {
		if _, err := time.LoadLocation(zone); err != nil || zone == "Local" {
			fault(s, r, "engine.timezone", CodeValue, "write a name such as Europe/Oslo or UTC", "engine.timezone: there is no time zone %q", zone)
		}
	}
}

// fault reports an error at the place where a key was set.
func fault(s *Settings, r *reporter, key, code, suggestion, format string, args ...any) {
	r.report(placeOf(s, key), diag.SeverityError, code, suggestion, format, args...)
}

// placeOf is where a key, or what holds it, was set.
func placeOf(s *Settings, key string) Origin {
	for ; key != ""; key = parent(key) {
		if o, ok := s.origins[key]; ok {
			return o
		}
	}
	return Origin{Source: SourceDefault, Name: s.File}
}

func parent(key string) string {
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		return key[:i]
	}
	return ""
}

// Location is the time zone of workflows that name none.
func (e Engine) Location() *time.Location {
	if loc, err := time.LoadLocation(e.Timezone); err == nil && e.Timezone != "" {
		return loc
	}
	return time.Local
}

func validateModels(s *Settings, r *reporter) {
	for _, name := range s.AliasNames() {
		a, key := s.Models.Aliases[name], "models.aliases."+name
		if name == "none" {
			fault(s, r, key, CodeValue, "", "%s: `@model none` means no model, so no alias can have this name", key)
		}
		p := s.Providers[a.Provider]
		switch {
		case a.Provider == "":
			fault(s, r, key, CodeValue, "an alias replaces the built-in one whole", "%s names no provider", key)
		case !s.knowsProvider(a.Provider):
			fault(s, r, key+".provider", CodeReference, guess(a.Provider, append(sortedKeys(s.Providers), Kinds()...)),
				"%s.provider: neither an entry of providers nor a kind has the name %q", key, a.Provider)
		case a.Model == "" && p.Kind != Offline:
			fault(s, r, key, CodeValue, "add model:", "%s names no model", key)
		case name == Offline && p.Kind != Offline:
			fault(s, r, key+".provider", CodeConflict, "give your model another name", "%s is the built-in model without a network", key)
		}
		if !thinking(a.Thinking) {
			fault(s, r, key+".thinking", CodeValue, "", "%s.thinking is off, low, medium, high or a number of tokens, not %q", key, a.Thinking)
		}
		if a.Price != (Price{}) && !a.Price.Known() {
			fault(s, r, key+".price", CodeValue, "", "%s.price needs both input and output", key)
		}
	}
	if !s.knowsAlias(s.Models.Default) {
		fault(s, r, "models.default", CodeReference, guess(s.Models.Default, s.AliasNames()), "models.default: no alias has the name %q", s.Models.Default)
	}
}

func thinking(word string) bool {
	if word == "" || slices.Contains([]string{"off", "low", "medium", "high"}, word) {
		return true
	}
	n, err := strconv.Atoi(word)
	return err == nil && n > 0 && n <= 10_000_000
}

// validateFolders keeps the three folders apart: a bundle below the import folder would be imported again, and an
// imported note below the workflows folder would run.
func validateFolders(s *Settings, r *reporter) {
	folders := []struct{ key, name string }{
		{"vault.import_dir", s.Vault.ImportDir}, {"vault.imported_dir", s.Vault.ImportedDir}, {"vault.workflows_dir", s.Vault.WorkflowsDir},
	}
	for _, f := range folders {
		if why := badFolder(f.name); why != "" {
			fault(s, r, f.key, CodeValue, "", "%s: %q %s", f.key, f.name, why)
		}
	}
	for i, a := range folders {
		for _, b := range folders[i+1:] {
			if within(a.name, b.name) || within(b.name, a.name) {
				at := b.key
				if _, set := s.origins[at]; !set {
					at = a.key
				}
				fault(s, r, at, CodeConflict, "choose folders that do not contain each other",
					"%s (%s) and %s (%s) overlap: what is written to one would be taken up by the other", a.key, a.name, b.key, b.name)
			}
		}
	}
}

// validateStatusNote keeps the note out of the folders whose files mean something else.
func validateStatusNote(s *Settings, r *reporter) {
	const key = "engine.status_note"
	name := s.Engine.StatusNote
	if name == "" {
		return
	}
	if badFolder(name) != "" || path.Ext(name) != ".md" {
		fault(s, r, key, CodeValue, "write a name such as Status.md", "%s: %q is no name of a note within the vault", key, name)
	}
	for _, folder := range []string{s.Vault.WorkflowsDir, s.Vault.ImportDir, s.Vault.ImportedDir} {
		if within(name, folder) {
			fault(s, r, key, CodeConflict, "choose another folder", "%s: %s lies in %s, whose files are workflows or imports", key, name, folder)
		}
	}
}

func badFolder(name string) string {
	switch {
	case !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\:*?\"<>|"):
		return "is no folder inside the vault; write it with / and without .."
	case strings.HasPrefix(name, ".") || strings.Contains(name, "/."):
		return "is hidden; hidden folders are never read"
	}
	return ""
}

func within(name, folder string) bool {
	name, folder = strings.ToLower(path.Clean(name)), strings.ToLower(path.Clean(folder))
	return name == folder || strings.HasPrefix(name, folder+"/")
}

var (
	languageForm = regexp.MustCompile(`^[A-Za-z0-9_]+(/[A-Za-z0-9_]+)?$`)
	hostForm     = regexp.MustCompile(`^(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
)

func validateLists(s *Settings, r *reporter) {
	for _, glob := range s.Vault.Ignore {
		if !doublestar.ValidatePattern(glob) {
			fault(s, r, "vault.ignore", CodeValue, "", "vault.ignore: %q is no glob", glob)
		}
	}
	for _, glob := range s.Policy.Untrusted {
		switch {
		case !doublestar.ValidatePattern(glob):
			fault(s, r, "policy.untrusted", CodeValue, "write it as Clippings/**", "policy.untrusted: %q is no glob", glob)
		case path.IsAbs(glob) || strings.HasPrefix(glob, "./") || slices.Contains(strings.Split(glob, "/"), ".."):
			fault(s, r, "policy.untrusted", CodeValue, "write it as Clippings/**", "policy.untrusted: %q is no name within the vault", glob)
		}
	}
	for _, name := range s.Policy.UntrustedProperties {
		if strings.TrimSpace(name) != name || strings.ContainsAny(name, "\n\r:") {
			fault(s, r, "policy.untrusted_properties", CodeValue, "write it as source", "policy.untrusted_properties: %q is no name of a property", name)
		}
	}
	if name := s.Ingestion.Template; name != "" && !fs.ValidPath(name) {
		fault(s, r, "ingestion.template", CodeValue, "write a name such as Templates/Import.md", "ingestion.template: %q is no name within the vault", name)
	}
	if alias := s.Ingestion.OCR.Model; alias != "" && !s.knowsAlias(alias) {
		fault(s, r, "ingestion.ocr.model", CodeValue, "name one of "+strings.Join(s.AliasNames(), ", "), "ingestion.ocr.model: there is no model %q", alias)
	}
	if u, err := url.Parse(string(s.Ingestion.OCR.Mistral.Endpoint)); err != nil || u.String() != "" && (u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		fault(s, r, "ingestion.ocr.mistral.endpoint", CodeValue, "write it as https://api.mistral.ai/v1", "ingestion.ocr.mistral.endpoint is no web address")
	}
	for _, language := range s.Ingestion.OCR.Languages {
		if !languageForm.MatchString(language) {
			fault(s, r, "ingestion.ocr.languages", CodeValue, "write [eng, deu]", "ingestion.ocr.languages: %q is no language of Tesseract", language)
		}
	}
	for key, list := range map[string][]string{
		"ingestion.ocr.languages": s.Ingestion.OCR.Languages, "ingestion.pdf.strategies": s.Ingestion.PDF.Strategies,
		"ingestion.image.strategies": s.Ingestion.Image.Strategies, "ingestion.ocr.engines": s.Ingestion.OCR.Engines,
	} {
		if len(list) == 0 {
			fault(s, r, key, CodeValue, "", "%s is empty", key)
		}
		if twice := repeated(list); twice != "" {
			fault(s, r, key, CodeTwice, "", "%s names %q twice", key, twice)
		}
	}
	for key, list := range map[string][]string{
		"web.hosts": s.Web.Hosts, "policy.remote_images.allow": s.Policy.RemoteImages.Allow, "policy.remote_images.deny": s.Policy.RemoteImages.Deny,
		"web_fetch.allow": s.WebFetch.Allow, "web_fetch.deny": s.WebFetch.Deny,
	} {
		for _, host := range list {
			if !hostForm.MatchString(host) {
				fault(s, r, key, CodeValue, "write it without http:// and port", "%s: %q is no host name", key, host)
			}
		}
	}
}

func repeated(list []string) string {
	for i, word := range list {
		if slices.Contains(list[:i], word) {
			return word
		}
	}
	return ""
}
