package settings

import (
	"cmp"
	"maps"
	"slices"

	"github.com/vaultflow/vaultflow/content/visible"
)

// withheld holds the waiting values of the vault's files about where prompts and pages go. The layers below do not fill the
// gap: another service would get what was meant for this one.
type withheld struct {
	file      string                     // key of the whole settings file, if it waits
	aliases   map[string]Alias           // those whose provider waits
	providers map[string]func() Provider // what they would use; functions, because fmt prints keys in unexported fields
	keys      map[string]bool            // others: a price, the keys of ingestion.ocr
}

func nothingWithheld() withheld {
	return withheld{aliases: map[string]Alias{}, providers: map[string]func() Provider{}, keys: map[string]bool{}}
}

// Provider returns the provider with this name. Every kind is also a name.
func (s *Settings) Provider(name string) (Provider, bool) {
	p, ok := s.Providers[name]
	return p, ok
}

// Alias returns an alias and its provider; ok is false if there is none or it waits. An empty name means the default.
func (s *Settings) Alias(name string) (a Alias, p Provider, ok bool) {
	if a, p, ok = s.Meant(name); !ok || len(s.serviceWaits(name)) > 0 {
		return Alias{}, Provider{}, false
	}
	return a, p, true
}

// Meant returns an alias and its provider even if they wait. Use it only to inform people; to call a service, use Alias.
func (s *Settings) Meant(name string) (a Alias, p Provider, ok bool) {
	name = cmp.Or(name, s.Models.Default)
	if a, ok = s.withheld.aliases[name]; !ok {
		a, ok = s.Models.Aliases[name]
	}
	if !ok {
		return a, p, false
	}
	if waits := s.withheld.providers[a.Provider]; waits != nil && name != Offline {
		return a, waits(), true
	}
	p, ok = s.Providers[a.Provider]
	return a, p, ok
}

// ModelWaits returns the waiting keys that decide where prompts for an alias go or what they cost; none means that it can be
// used. An empty name means the default alias. The offline model sends nothing and never waits.
func (s *Settings) ModelWaits(name string) []string {
	keys := s.serviceWaits(name)
	if price := "models.aliases." + cmp.Or(name, s.Models.Default) + ".price"; s.withheld.keys[price] {
		keys = append(keys, visible.Name(price))
	}
	return keys
}

func (s *Settings) serviceWaits(name string) []string {
	var keys []string
	if name = cmp.Or(name, s.Models.Default); name == Offline {
		return nil
	}
	if s.withheld.file != "" {
		keys = append(keys, s.withheld.file)
	}
	if a, _, _ := s.Meant(name); s.withheld.providers[a.Provider] != nil {
		keys = append(keys, visible.Name("providers."+a.Provider))
	}
	return keys
}

// RecognitionWaits returns the waiting keys that decide where an engine of text recognition sends pages.
func (s *Settings) RecognitionWaits(engine string) []string {
	const model, mistral = "ingestion.ocr.model", "ingestion.ocr.mistral"
	if engine == "model" {
		if s.keyWaits(model) {
			return []string{model}
		}
		return s.ModelWaits(s.Ingestion.OCR.Model)
	}
	var keys []string
	if s.withheld.file != "" {
		keys = append(keys, s.withheld.file)
	}
	if s.withheld.keys[mistral] {
		keys = append(keys, mistral)
	}
	if s.withheld.providers[engine] != nil {
		keys = append(keys, visible.Name("providers."+engine))
	}
	return keys
}

// TranscriptionWaits are the keys that wait and that decide where recordings are sent.
func (s *Settings) TranscriptionWaits() []string {
	const audio = "ingestion.audio"
	var keys []string
	if s.withheld.file != "" {
		keys = append(keys, s.withheld.file)
	}
	if s.withheld.keys[audio] {
		keys = append(keys, audio)
	}
	if name := s.Ingestion.Audio.Provider; s.withheld.providers[name] != nil {
		keys = append(keys, visible.Name("providers."+name))
	}
	return keys
}

// keyWaits reports whether a value waits and neither the environment nor a flag overrides it.
func (s *Settings) keyWaits(path string) bool {
	at := s.Origin(path).Source
	return s.withheld.keys[path] && at != SourceEnvironment && at != SourceFlag
}

// AliasNames lists the aliases in force, sorted.
func (s *Settings) AliasNames() []string { return slices.Sorted(maps.Keys(s.Models.Aliases)) }

// MeantNames lists all aliases, waiting ones included, sorted.
func (s *Settings) MeantNames() []string {
	names := maps.Clone(s.Models.Aliases)
	maps.Copy(names, s.withheld.aliases)
	return slices.Sorted(maps.Keys(names))
}

// WaitingNames lists the waiting aliases, sorted.
func (s *Settings) WaitingNames() []string {
	return slices.DeleteFunc(s.MeantNames(), func(name string) bool { return len(s.ModelWaits(name)) == 0 })
}

// knowsAlias reports whether an alias exists, or may exist in a file that waits.
func (s *Settings) knowsAlias(name string) bool {
	_, there := s.Models.Aliases[name]
	_, waits := s.withheld.aliases[name]
	return there || waits || s.withheld.file != ""
}

// knowsProvider is knowsAlias for providers.
func (s *Settings) knowsProvider(name string) bool {
	_, there := s.Providers[name]
	return there || s.withheld.providers[name] != nil || s.withheld.file != ""
}
