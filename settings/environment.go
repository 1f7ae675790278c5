package settings

import (
	"reflect"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"

	"gopkg.in/yaml.v3"
)

// prefix starts the name of every environment variable that is a setting.
const prefix = "VAULTFLOW_"

// elsewhere holds variables with the prefix that are not settings: the command line reads them.
var elsewhere = map[string]bool{"VAULTFLOW_VAULT": true, "VAULTFLOW_STATE_DIR": true, "VAULTFLOW_SETTINGS": true}

// Variable returns the environment variable of a key, such as VAULTFLOW_ENGINE_MAX_PARALLEL_RUNS for
// engine.max_parallel_runs. Keys inside maps have none.
func Variable(path string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// environment applies the variables to the settings. Empty variables count as unset.
func environment(s *Settings, environ map[string]string, r *reporter) {
	known := map[string]bool{}
	var names []string
	walk(reflect.ValueOf(s).Elem(), "", func(path string, f field, v reflect.Value) {
		if v.Kind() == reflect.Map {
			return
		}
		for _, name := range []string{f.env, Variable(path)} {
			if name == "" {
				continue
			}
			known[name] = true
			names = append(names, name)
			if value := environ[name]; value != "" {
				d := &decoder{reporter: r, source: SourceEnvironment, name: name, origins: s.origins}
				d.value(path, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}, v, f)
			}
		}
	})
	for _, name := range sortedKeys(environ) {
		if strings.HasPrefix(name, prefix) && !known[name] && !elsewhere[name] {
			suggestion := ""
			if near := diag.Nearest(name, names); near != "" {
				suggestion = "did you mean " + near + "?"
			}
			r.report(Origin{Source: SourceEnvironment, Name: name}, diag.SeverityWarning, CodeUnknownKey, suggestion, "no setting has this name")
		}
	}
}

// overrides applies flags: values by dotted path. Paths into maps are allowed, such as providers.ollama.base_url.
func overrides(s *Settings, values map[string]string, r *reporter) {
	for _, path := range sortedKeys(values) {
		node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: values[path]}
		parts := strings.Split(path, ".")
		for i := len(parts) - 1; i >= 0; i-- {
			key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: parts[i]}
			node = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{key, node}}
		}
		d := &decoder{reporter: r, source: SourceFlag, name: path, origins: s.origins}
		d.section("", node, reflect.ValueOf(s).Elem())
	}
}

// environMap turns os.Environ's form into a map; the last one wins.
func environMap(environ []string) map[string]string {
	m := make(map[string]string, len(environ))
	for _, line := range environ {
		if name, value, ok := strings.Cut(line, "="); ok {
			m[name] = value
		}
	}
	return m
}
