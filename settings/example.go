package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/policy"

	"gopkg.in/yaml.v3"
)

// width is where comments of the example wrap, in characters.
const width = 110

const exampleHead = `# Settings of vaultflow, all of them, with their defaults. A vault needs no settings file: copy what you change to
# settings.yaml in the vault's folder, or to your own settings for all vaults, ~/.config/vaultflow/settings.yaml. A line such
# as "#dpi: 150" becomes a setting when its # is taken away.
#
# Keys, programs and services belong in your own settings. In a vault's file, which sync and other people may write, what is
# marked "In a vault it waits" takes no effect until you allow it with ` + "`vaultflow trust`" + `; docs/settings.md says more.
# Durations are written 90s, 5m, 2h, 3d or 1w; sizes 512MB or 1.5GiB.
#
# Every key outside models, providers and mcp_servers has an environment variable too, which goes before this file:
# engine.timezone is VAULTFLOW_ENGINE_TIMEZONE. Keys of providers belong in the environment, or in a file .env with mode
# 600 beside a settings file outside the vault or in the state directory; never in the vault.
#
# Written by the tests of package settings (go test ./settings -update); do not edit.
`

// Example is settings.example.yaml: every key with its description and default, commented out.
func Example() string {
	var b strings.Builder
	b.WriteString(exampleHead)
	s := unfinished()
	for _, f := range fieldsOf(reflect.TypeFor[Settings]()) {
		b.WriteByte('\n')
		comment(&b, "", f)
		v := reflect.ValueOf(s).Elem().Field(f.index)
		if v.Kind() == reflect.Slice {
			fmt.Fprintf(&b, "#%s: %s\n", f.key, flow(v))
			continue
		}
		fmt.Fprintf(&b, "%s:\n", f.key)
		if v.Kind() == reflect.Map {
			exampleEntries(&b, f.key)
			continue
		}
		exampleKeys(&b, "  ", "#", v, "", f.key)
	}
	return b.String()
}

// exampleKeys writes the keys of a section. hash comments a line out and comes after indent.
func exampleKeys(b *strings.Builder, indent, hash string, v reflect.Value, path, at string) {
	for _, f := range fieldsOf(v.Type()) {
		if slices.Contains([]string{"api_key", "access_key_id", "secret_access_key", "session_token"}, f.key) {
			continue // it works, but is not recommended
		}
		if reaches[join(at, f.key)] == waits {
			f.doc += " In a vault it waits."
		}
		comment(b, indent, f)
		child := v.Field(f.index)
		switch {
		case isSection(child.Type()) && hash == "#" && path == "":
			fmt.Fprintf(b, "%s%s:\n", indent, f.key)
			exampleKeys(b, indent+"  ", hash, child, "", join(at, f.key))
		case child.Kind() == reflect.Map && f.key == "aliases":
			fmt.Fprintf(b, "%s%s%s:\n", indent, hash, f.key)
			exampleAliases(b, indent+hash+"  ", child)
		default:
			value := flow(child)
			if shown, ok := child.Interface().(Secret); ok { // the example's secret is made up
				value = string(shown)
			}
			fmt.Fprintf(b, "%s%s%s: %s\n", indent, hash, f.key, value)
		}
	}
}

func exampleAliases(b *strings.Builder, indent string, aliases reflect.Value) {
	for _, name := range sortedNames(aliases) {
		fmt.Fprintf(b, "%s%s: %s\n", indent, name, flow(aliases.MapIndex(reflect.ValueOf(name))))
	}
	fmt.Fprintf(b, "%slab: # every key of an alias\n", indent)
	zero := 0.0
	warm := 0.2
	exampleKeys(b, indent+"  ", "", reflect.ValueOf(Alias{
		Provider: "lab", Model: "some-model", Capabilities: Capabilities{Flags: map[string]bool{"vision": true}}, ContextWindow: 32768,
		MaxOutputTokens: 4096, Price: Price{Input: &zero, Output: &zero}, Temperature: &warm, Thinking: "off", Limits: policy.OwnLimits{MaxImages: 20},
	}), "lab", "")
}

// exampleEntries writes entries of a table.
func exampleEntries(b *strings.Builder, key string) {
	if key == "providers" {
		exampleProviders(b, "  #")
		return
	}
	b.WriteString("  #tracker: {url: \"https://mcp.example.org/mcp\", headers: {Authorization: \"Bearer …\"}}\n")
	b.WriteString("  #notes: # every key of a server\n")
	exampleKeys(b, "  #  ", "", reflect.ValueOf(MCPServer{
		Command: []string{"notes-mcp", "--stdio"}, Env: map[string]Secret{}, EnvFrom: []string{"NOTES_TOKEN"},
		Headers: map[string]Secret{}, Allow: []string{}, Deny: []string{"delete_note"},
	}), "notes", "")
}

func exampleProviders(b *strings.Builder, indent string) {
	fmt.Fprintf(b, "%santhropic: {api_key_env: ANTHROPIC_API_KEY}\n", indent)
	fmt.Fprintf(b, "%sollama: {base_url: \"http://127.0.0.1:11434\"}\n", indent)
	fmt.Fprintf(b, "%slab: # every key of a provider; kinds: %s\n", indent, strings.Join(Kinds(), " "))
	exampleKeys(b, indent+"  ", "", reflect.ValueOf(Provider{
		Kind: "openai_compatible", BaseURL: "http://127.0.0.1:8000/v1", APIKeyEnv: "LAB_KEY", MaxConcurrency: 2,
		Headers: map[string]Secret{}, Proxy: "direct",
	}), "lab", "")
}

// comment writes a key's description and allowed values.
func comment(b *strings.Builder, indent string, f field) {
	words := f.doc
	switch {
	case len(f.oneof) > 0 && f.key != "strategies":
		words += " One of: " + strings.Join(f.oneof, ", ") + "."
	case len(f.oneof) > 0:
		words += " Of: " + strings.Join(f.oneof, ", ") + "."
	case f.min != "":
		words += fmt.Sprintf(" From %s to %s.", f.min, f.max)
	}
	if f.later != "" {
		words += " Not in this version: " + f.later + "."
	}
	line := indent + "#"
	for word := range strings.FieldsSeq(words) {
		if len(line)+1+len(word) > width {
			b.WriteString(line + "\n")
			line = indent + "#"
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

// flow writes a value on one line.
func flow(v reflect.Value) string {
	n := node(v)
	if v.Kind() == reflect.Struct && v.Type() != capabilitiesType {
		n = structNode(v, true)
	}
	setFlow(n)
	line, err := yaml.Marshal(n)
	if err != nil {
		panic(fmt.Sprintf("settings: write a default: %v", err)) // a default that is not YAML
	}
	return strings.TrimSpace(string(line))
}

func setFlow(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode {
		n.Style = yaml.FlowStyle
	}
	for _, child := range n.Content {
		setFlow(child)
	}
}

// Starter returns the settings file of a new vault: the few lines that people change first, all without effect.
func Starter() string {
	return `# Settings of this vault. Every key is described in settings.example.yaml and by ` + "`vaultflow config`" + `.
# Keys, programs and services belong in your own settings, ~/.config/vaultflow/settings.yaml, or in the environment, such as
# ANTHROPIC_API_KEY; what a vault's file says about them waits for ` + "`vaultflow trust`" + `.

# The model for steps that name none. Built in: sonnet (Anthropic), gpt (OpenAI), local (Ollama), offline (no model).
# Without a line here your own settings decide, and offline is used when they name none.
#models:
#  default: offline

#engine:
#  timezone: Europe/Oslo

#ingestion:
#  ocr:
#    languages: [eng]
`
}
