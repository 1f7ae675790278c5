package reload

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/settings"
)

// Given returns the values that a process has besides those of the files that all processes read: from its environment and its flags and,
// with file, from a settings file in place of the vault's. Keys of services, logs and the dashboard's address are each process's own.
func Given(s *settings.Settings, file bool) map[string]control.Given {
	given := map[string]control.Given{}
	for _, v := range s.Values() {
		from := v.Origin.Source
		if own(v.Path) || !file && from != settings.SourceEnvironment && from != settings.SourceFlag {
			continue
		}
		given[v.Path] = control.Given{Value: v.Value, From: v.Origin.String()}
	}
	return given
}

func own(key string) bool {
	return strings.HasPrefix(key, "web.") || strings.HasPrefix(key, "logging.") || strings.HasPrefix(key, "providers.") && strings.HasSuffix(key, ".key")
}

// Differ returns the keys whose given value is not that of the settings, in order, each with where its value is from. Secrets are not
// compared.
func Differ(given map[string]control.Given, s *settings.Settings) []string {
	if len(given) == 0 {
		return nil
	}
	values := map[string]string{}
	for _, v := range s.Values() {
		values[v.Path] = v.Value
	}
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if values[key] != given[key].Value {
			keys = append(keys, fmt.Sprintf("%s (%s)", key, given[key].From))
		}
	}
	return keys
}

// Refuse returns an error if a command was given values that serve does not work with: what the command shows would not happen.
func Refuse(given map[string]control.Given, s *settings.Settings) error {
	keys := Differ(given, s)
	if len(keys) == 0 {
		return nil
	}
	return control.Invalid.Wrap(failure.New(failure.State, "leave the values out here, or start `vaultflow serve` with the same ones",
		"the running serve has other values for what this command was given: %s", strings.Join(keys, ", ")))
}

// Other explains that serve was given values that a command does not have; empty if it was not.
func Other(given map[string]control.Given, s *settings.Settings) string {
	keys := Differ(given, s)
	if len(keys) == 0 {
		return ""
	}
	return "the running serve was started with other values, which count for what it does: " + strings.Join(keys, ", ")
}
