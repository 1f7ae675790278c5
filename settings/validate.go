package settings

import (
	"cmp"
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

// validate checks what concerns several values, or what tags cannot express.
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
	if memory := s.Engine.Memory; memory > 0 && memory < leastMemory {
		fault(s, r, "engine.memory", CodeValue, "write 512 MB or more, or 0 for as much as the machine allows",
			"engine.memory: %s is too little for vaultflow and one worker; at least %s are needed", memory, Bytes(leastMemory))
	}
	if zone := s.Engine.Timezone; zone != "" {
		if _, err := time.LoadLocation(zone); err != nil || zone == "Local" {
			fault(s, r, "engine.timezone", CodeValue, "write a name such as Europe/Oslo or UTC", "engine.timezone: there is no time zone %q", zone)
		}
	}
}

// leastMemory is the smallest engine.memory. With less, no worker opens a document.
const leastMemory = 128 << 20

// fault reports an error where a key is set.
func fault(s *Settings, r *reporter, key, code, suggestion, format string, args ...any) {
	r.report(placeOf(s, key), diag.SeverityError, code, suggestion, format, args...)
}

// placeOf returns where a key or its section is set.
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

// Location returns the time zone of workflows that name none.
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
			fault(s, r, key, CodeValue, "", "%s: no alias can have this name, because `@model none` means no model", key)
		}
		p := s.Providers[a.Provider]
		switch {
		case a.Provider == "":
			fault(s, r, key, CodeValue, "an alias of yours replaces the built-in one completely", "%s names no provider", key)
		case !s.knowsProvider(a.Provider):
			fault(s, r, key+".provider", CodeReference, guess(a.Provider, slices.Compact(slices.Sorted(slices.Values(append(sortedKeys(s.Providers), Kinds()...))))),
				"%s.provider: %q is neither an entry of providers nor a kind", key, a.Provider)
		case a.Model == "" && p.Kind != Offline:
			fault(s, r, key, CodeValue, "add model:", "%s names no model", key)
		case name == Offline && p.Kind != Offline:
			fault(s, r, key+".provider", CodeConflict, "choose another name for your model", "%s is the name of the built-in offline model", key)
		}
		if !thinking(a.Thinking) {
			fault(s, r, key+".thinking", CodeValue, "", "%s.thinking is off, low, medium, high or a number of tokens, not %q", key, a.Thinking)
		}
		if a.Price != (Price{}) && !a.Price.Known() {
			fault(s, r, key+".price", CodeValue, "", "%s.price needs both input and output", key)
		}
	}
	if !s.knowsAlias(s.Models.Default) {
		fault(s, r, "models.default", CodeReference, guess(s.Models.Default, s.AliasNames()), "models.default: there is no alias %q", s.Models.Default)
	}
}

func thinking(word string) bool {
	if word == "" || slices.Contains([]string{"off", "low", "medium", "high"}, word) {
		return true
	}
	n, err := strconv.Atoi(word)
	return err == nil && n > 0 && n <= 10_000_000
}

// validateFolders keeps the three folders apart: a bundle inside the import folder would be imported again, and an imported
// note inside the workflows folder would run.
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
					"%s (%s) and %s (%s) overlap: files written to one would be picked up by the other", a.key, a.name, b.key, b.name)
			}
		}
	}
}

// validateStatusNote keeps the note out of the folders of workflows and imports.
func validateStatusNote(s *Settings, r *reporter) {
	const key = "engine.status_note"
	name := s.Engine.StatusNote
	if name == "" {
		return
	}
	if badFolder(name) != "" || path.Ext(name) != ".md" {
		fault(s, r, key, CodeValue, "write a name such as Status.md", "%s: %q is not the name of a note in the vault", key, name)
	}
	for _, folder := range []string{s.Vault.WorkflowsDir, s.Vault.ImportDir, s.Vault.ImportedDir} {
		if within(name, folder) {
			fault(s, r, key, CodeConflict, "choose another folder", "%s: %s is in %s, whose files are workflows or imports", key, name, folder)
		}
	}
}

func badFolder(name string) string {
	switch {
	case !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\:*?\"<>|"):
		return "is not a folder inside the vault; write it with / and without .."
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

// validateVision refuses to send pages to a model without a limit of cost, or to none.
func validateVision(s *Settings, r *reporter) {
	const key = "ingestion.vision"
	in := s.Ingestion
	if in.Vision == "off" || in.Vision == "" {
		return
	}
	if in.MaxCostUSDPerImport <= 0 {
		fault(s, r, key, CodeValue, "add ingestion.max_cost_usd_per_import: 0.50", "ingestion.vision: %s needs a limit of cost", in.Vision)
	}
	if name := cmp.Or(in.OCR.Model, s.Models.Default); name == Offline || name == "" {
		fault(s, r, key, CodeValue, "add ingestion.ocr.model with a model that sees", "ingestion.vision: %s needs a model", in.Vision)
	}
}

func validateLists(s *Settings, r *reporter) {
	for _, glob := range s.Vault.Ignore {
		if !doublestar.ValidatePattern(glob) {
			fault(s, r, "vault.ignore", CodeValue, "", "vault.ignore: %q is not a glob", glob)
		}
	}
	for _, glob := range s.Policy.Untrusted {
		switch {
		case !doublestar.ValidatePattern(glob):
			fault(s, r, "policy.untrusted", CodeValue, "write it as Clippings/**", "policy.untrusted: %q is not a glob", glob)
		case path.IsAbs(glob) || strings.HasPrefix(glob, "./") || slices.Contains(strings.Split(glob, "/"), ".."):
			fault(s, r, "policy.untrusted", CodeValue, "write it as Clippings/**", "policy.untrusted: %q is not a path inside the vault", glob)
		}
	}
	for _, name := range s.Policy.UntrustedProperties {
		if strings.TrimSpace(name) != name || strings.ContainsAny(name, "\n\r:") {
			fault(s, r, "policy.untrusted_properties", CodeValue, "write it as source", "policy.untrusted_properties: %q is not a property name", name)
		}
	}
	if name := s.Ingestion.Template; name != "" && !fs.ValidPath(name) {
		fault(s, r, "ingestion.template", CodeValue, "write a name such as Templates/Import.md", "ingestion.template: %q is not a path inside the vault", name)
	}
	if alias := s.Ingestion.OCR.Model; alias != "" && !s.knowsAlias(alias) {
		fault(s, r, "ingestion.ocr.model", CodeValue, "name one of "+strings.Join(s.AliasNames(), ", "), "ingestion.ocr.model: there is no model %q", alias)
	}
	validateVision(s, r)
	if u, err := url.Parse(string(s.Ingestion.OCR.Mistral.Endpoint)); err != nil || u.String() != "" && (u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		fault(s, r, "ingestion.ocr.mistral.endpoint", CodeValue, "write it as https://api.mistral.ai/v1", "ingestion.ocr.mistral.endpoint is not a web address")
	}
	if a := s.Ingestion.Audio; a.Provider != "" {
		p, there := s.Providers[a.Provider]
		switch {
		case !s.knowsProvider(a.Provider):
			fault(s, r, "ingestion.audio.provider", CodeValue, "name one below providers, or groq", "ingestion.audio.provider: there is no provider %q", a.Provider)
		case there && !p.Transcribes():
			fault(s, r, "ingestion.audio.provider", CodeValue, "name one of kind openai_chat, openai_responses, openai_compatible, groq or mistral", "ingestion.audio.provider: the kind %q has no /audio/transcriptions", p.Kind)
		case a.Model == "":
			fault(s, r, "ingestion.audio.model", CodeValue, "write whisper-1, or the name that the service uses", "ingestion.audio.model is empty")
		}
	}
	for _, language := range s.Ingestion.OCR.Languages {
		if !languageForm.MatchString(language) {
			fault(s, r, "ingestion.ocr.languages", CodeValue, "write [eng, deu]", "ingestion.ocr.languages: %q is not a Tesseract language", language)
		}
	}
	if languages := s.Ingestion.OCR.Languages; len(languages) > 1 && slices.Contains(languages, "auto") {
		fault(s, r, "ingestion.ocr.languages", CodeValue, "write auto alone, or only the languages", "ingestion.ocr.languages: auto and other languages exclude each other")
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
				fault(s, r, key, CodeValue, "write it without http:// and port", "%s: %q is not a host name", key, host)
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
