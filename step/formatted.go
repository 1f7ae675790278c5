package step

import (
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/note"
)

// formatted returns an answer in the output's format. It removes a code fence around JSON and YAML, and converts JSON to YAML if YAML
// is wanted.
func formatted(answer, format string) (string, error) {
	var text string
	var err error
	switch format {
	case directives.FormatJSON:
		text = note.Unfenced(answer)
		_, err = note.ReadJSON(text)
	case directives.FormatYAML:
		text, err = note.ToYAML(note.Unfenced(answer))
	default:
		return answer, nil
	}
	if err != nil {
		return "", failure.New(failure.InvalidAnswer, "ask for "+format+" only, without words around it", "the answer was to be %s: %v", format, err)
	}
	return text, nil
}
