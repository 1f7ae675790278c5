package settings

import (
	"cmp"
	"maps"
	"slices"

	"github.com/vaultflow/vaultflow/content/visible"
)

// withheld is what the vault's files say about where prompts and pages go, as far as it waits for a yes. Nothing that the
// layers below say takes its place: another service would get what was meant for this one.
type withheld struct {
	file      string                     // key of the whole settings file, when it waits
	aliases   map[string]Alias           // those whose provider waits
	providers map[string]func() Provider // whom they would ask; functions, because fmt prints the keys in fields that are not exported
	keys      map[string]bool            // further ones: a price, the keys of ingestion.ocr
}

func nothingWithheld() withheld {
	return withheld{aliases: map[string]Alias{}, providers: map[string]func() Provider{}, keys: map[string]bool{}}
}

// Provider returns the provider with this name. A name that is a kind is always there.
func (s *Settings) Provider(name string) (Provider, bool) {
	p, ok := s.Providers[name]
	return p, ok
}

// Alias is the alias with a name and its provider; ok is false when there is none, or when it waits for a yes. An empty name is
// the default one.
func (s *Settings) Alias(name string) (a Alias, p Provider, ok bool) {
	if a, p, ok = s.Meant(name); !ok || len(s.serviceWaits(name)) > 0 {
		return Alias{}, Provider{}, false
	}
	return a, p, true
}

// Meant is the alias with a name and its provider, though they may wait for a yes. It is for telling people about them; what
// asks a service uses Alias.
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

// ModelWaits are the keys of the vault's settings that wait for a yes and that decide where prompts for an alias go, or what
// they cost: none when it can be asked. An empty name is the default alias. The offline model sends nothing and never waits.
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

// RecognitionWaits are the keys that wait and that decide where an engine of text recognition sends pages.
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

// keyWaits reports whether a value waits that neither the environment nor a flag has replaced.
func (s *Settings) keyWaits(path string) bool {
	at := s.Origin(path).Source
	return s.withheld.keys[path] && at != SourceEnvironment && at != SourceFlag
}

// AliasNames lists the aliases in force, sorted.
func (s *Settings) AliasNames() []string { return slices.Sorted(maps.Keys(s.Models.Aliases)) }

// MeantNames lists the aliases with those that wait, sorted.
func (s *Settings) MeantNames() []string {
	names := maps.Clone(s.Models.Aliases)
	maps.Copy(names, s.withheld.aliases)
	return slices.Sorted(maps.Keys(names))
}

// WaitingNames lists the aliases that wait, sorted.
func (s *Settings) WaitingNames() []string {
	return slices.DeleteFunc(s.MeantNames(), func(name string) bool { return len(s.ModelWaits(name)) == 0 })
}

// knowsAlias reports whether somebody has written an alias, or may have: in a file that waits.
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
