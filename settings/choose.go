package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// chooseDefault sets models.default if nobody did. It chooses the offline model only if no other model is configured, and
// adds a note.
func chooseDefault(s *Settings, environ map[string]string, r *reporter) {
	if _, set := s.origins["models.default"]; set && s.Models.Default != "" {
		return
	}
	s.Models.Default = Offline
	if waiting := sortedKeys(s.withheld.aliases); len(waiting) > 0 {
		s.Models.Default = waiting[0] // it may be the only configured model: nothing replaces it
		return
	}
	own := ownAliases(s)
	at := Origin{Name: s.File}
	switch len(own) {
	case 0:
		r.report(at, diag.SeverityNote, CodeDefault, offer(s, environ),
			"no model is configured, so the built-in offline model is used: it quotes text and does not think")
	case 1:
		s.Models.Default = own[0]
		r.report(s.Origin("models.aliases."+own[0]), diag.SeverityNote, CodeDefault, "", "models.default is %s, the only model you configured", own[0])
	default:
		r.report(s.Origin("models.aliases."+own[0]), diag.SeverityError, CodeConflict, fmt.Sprintf("add `default: %s` below models", own[0]),
			"several models are configured (%s), but none is the default", strings.Join(own, ", "))
	}
}

// ownAliases lists the configured aliases of real models.
func ownAliases(s *Settings) []string {
	var own []string
	for _, name := range s.AliasNames() {
		if _, written := s.origins["models.aliases."+name]; written && s.Models.Aliases[name].Provider != Offline {
			own = append(own, name)
		}
	}
	return own
}

// offer suggests a built-in alias whose key is in the environment.
func offer(s *Settings, environ map[string]string) string {
	names := s.AliasNames()
	slices.Reverse(names) // sonnet, offline, local, gpt
	for _, name := range names {
		p := s.Providers[s.Models.Aliases[name].Provider]
		if p.APIKeyEnv != "" && environ[p.APIKeyEnv] != "" {
			return fmt.Sprintf("%s is set: `models: {default: %s}` in %s uses it", p.APIKeyEnv, name, FileName)
		}
	}
	return fmt.Sprintf("`models: {default: sonnet}` in %s uses another", FileName)
}
