package note

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"
)

// Types are the types of properties that a vault declares, by the names in small letters.
type Types map[string]string

// TypesFile is where Obsidian keeps the types of properties.
const TypesFile = ".obsidian/types.json"

// maxTypes bounds that file, in bytes.
const maxTypes = 1 << 20

// ReadTypes returns the types that a vault declares. Without the file, or if it cannot be read, there are none.
func ReadTypes(fsys fs.FS) Types {
	file, err := fsys.Open(TypesFile)
	if err != nil {
		return nil
	}
	defer file.Close()
	var declared struct {
		Types map[string]string `json:"types"`
	}
	if json.NewDecoder(io.LimitReader(file, maxTypes)).Decode(&declared) != nil {
		return nil
	}
	types := Types{}
	for name, kind := range declared.Types {
		types[strings.ToLower(name)] = kind
	}
	return types
}

// Fit returns a value of a property in the form of the property's type. It reports false for a value that would lose something.
func (t Types) Fit(name string, value any) (any, bool) {
	if value == nil {
		return nil, true // the property is removed
	}
	list, isList := value.([]any)
	switch t[strings.ToLower(name)] {
	case "multitext", "tags", "aliases":
		if !isList {
			list = []any{value}
		}
		texts := make([]any, len(list))
		for i, item := range list {
			text, ok := scalarText(item)
			if !ok {
				return value, false
			}
			texts[i] = text
		}
		return texts, true
	case "text":
		if isList && len(list) == 1 {
			value = list[0]
		}
		if text, ok := scalarText(value); ok {
			return text, true
		}
		return value, false
	case "number":
		text, isText := value.(string)
		_, isNumber := value.(json.Number)
		if isText && plainNumber(text) {
			return json.Number(text), true
		}
		return value, isNumber
	case "checkbox":
		switch value {
		case "true", true:
			return true, true
		case "false", false:
			return false, true
		}
		return value, false
	case "date":
		return fitTime(value, time.DateOnly)
	case "datetime":
		return fitTime(value, "2006-01-02T15:04:05")
	}
	return value, true
}

// scalarText returns a value that is no list and no object as text.
func scalarText(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool, json.Number:
		return fmt.Sprint(v), true
	}
	return "", false
}

// plainNumber reports whether a text is a number as JSON writes it, so that it reads the same as one.
func plainNumber(text string) bool {
	var n json.Number
	return strings.TrimSpace(text) == text && json.Unmarshal([]byte(text), &n) == nil && n.String() == text
}

// fitTime returns a date or a time in a layout. A time that is not midnight is no date.
func fitTime(value any, layout string) (any, bool) {
	text, _ := value.(string)
	for _, written := range []string{time.DateOnly, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"} {
		at, err := time.Parse(written, text)
		if err != nil {
			continue
		}
		if layout == time.DateOnly && !at.Equal(at.Truncate(24*time.Hour)) {
			return value, false
		}
		return at.Format(layout), true
	}
	return value, false
}

// Typed returns an answer with properties in the forms of their types, and the names of those that do not fit. An answer that is no
// JSON object is returned as it is.
func (t Types) Typed(answer string) (typed string, unfit []string) {
	value, err := ReadJSON(Unfenced(answer))
	members, ok := value.(Object)
	if err != nil || !ok || len(t) == 0 {
		return answer, nil
	}
	for i, m := range members {
		fitting, ok := t.Fit(m.key, m.value)
		if !ok {
			unfit = append(unfit, m.key)
		}
		members[i].value = fitting
	}
	data, err := MarshalJSON(members)
	if err != nil {
		return answer, nil
	}
	return string(data), unfit
}
