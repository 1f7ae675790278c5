package step

import (
	"encoding/json"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
)

// formatted is an answer in the output's format. For JSON and YAML a code fence around it is taken off; an answer that is
// JSON becomes YAML where YAML is wanted.
func formatted(answer, format string) (string, error) {
	var text string
	var err error
	switch format {
	case directives.FormatJSON:
		text = unfenced(answer)
		_, err = readJSON(text)
	case directives.FormatYAML:
		text, err = asYAML(unfenced(answer))
	default:
		return answer, nil
	}
	if err != nil {
		return "", engine.Fail(engine.CodeInvalidAnswer, "ask for "+format+" only, without words around it", "the answer was to be %s: %v", format, err)
	}
	return text, nil
}

// asYAML is a text that is YAML already, or the YAML of a JSON value.
func asYAML(text string) (string, error) {
	if value, err := readJSON(text); err == nil && json.Valid([]byte(text)) {
		return strings.TrimLeft(outdented(yamlText(value, "  ")), "\n "), nil
	}
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil {
		return "", plainYAMLError(err)
	}
	if len(node.Content) == 0 {
		return "", fmt.Errorf("there is nothing in it")
	}
	return text, nil
}

// outdented takes the indentation off that yamlText gives to lists and mappings.
func outdented(text string) string { return strings.ReplaceAll(text, "\n    ", "\n") }
