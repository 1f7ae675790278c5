package directives

import (
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// answerPrefix begins the pattern of a property of the step's answer, such as {answer-title}.
const answerPrefix = "answer-"

// ofAnswer returns the property of the answer that a pattern means, or "".
func ofAnswer(pattern string) string {
	field, ok := strings.CutPrefix(pattern, answerPrefix)
	if !ok || !IsVariableName(field) {
		return ""
	}
	return field
}

// AnswerPattern is a pattern of the answer in a path.
type AnswerPattern struct {
	Field string
	At    diag.Position
}

// AnswerPatterns returns the patterns of the answer in a path. A quoted path has none.
func (t Target) AnswerPatterns() []AnswerPattern {
	if t.Literal {
		return nil
	}
	var list []AnswerPattern
	pieces, _ := scan(t.Path, modePath)
	for _, p := range pieces {
		if field := ofAnswer(p.name); field != "" {
			list = append(list, AnswerPattern{field, t.source().pos(p.offset)})
		}
	}
	return list
}

// answerValue returns the value of a pattern of the answer, cleaned, as one part of a name.
func (f Facts) answerValue(field string) (text string, ok bool) {
	if f.Unanswered {
		return "‹" + field + "›", true
	}
	value, ok := f.Answer[field]
	if !ok {
		return "", false
	}
	text = cleanSegment(value)
	return text, text != ""
}

// lacksAnswer is the error of a pattern of the answer without a value that can be a name.
func (f Facts) lacksAnswer(p piece) *PatternError {
	field := ofAnswer(p.name)
	e := &PatternError{p.offset, CodePatternPlace, "the answer has no " + field + ", so {" + p.name + "} has no value", "make it required in the @schema"}
	if _, known := f.Answer[field]; known {
		e.Message = "the answer's " + field + " has nothing that could be a name, so {" + p.name + "} has no value"
		e.Suggestion = "demand one in the @schema, such as with minLength: 1, and say in the prompt what to answer if it is unknown"
	}
	return e
}

// namedByAnswer reports whether a part of an answer determines the first part of a path.
func namedByAnswer(pieces []piece) bool {
	for _, p := range pieces {
		if ofAnswer(p.name) != "" {
			return true
		}
		if strings.Contains(p.text, "/") || isFolder(p.name) {
			return false
		}
	}
	return false
}

func hasAnswer(pieces []piece) bool {
	for _, p := range pieces {
		if ofAnswer(p.name) != "" {
			return true
		}
	}
	return false
}
