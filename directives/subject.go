package directives

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// A pattern about a file is `trigger` or `item`, alone or with one of these suffixes.
var fileSuffixes = []string{"name", "folder", "ext", "title", "label"}

// ofFile splits a pattern about a file, such as {trigger-title}. whole is trigger or item; suffix is empty for the file's
// vault name.
func ofFile(name string) (whole, suffix string, ok bool) {
	whole, suffix, _ = strings.Cut(name, "-")
	ok = (whole == "trigger" || whole == "item") && (name == whole || slices.Contains(fileSuffixes, suffix))
	return whole, suffix, ok
}

// filePatterns lists the patterns about a file.
func filePatterns(whole string) []string {
	list := []string{whole}
	for _, suffix := range fileSuffixes {
		list = append(list, whole+"-"+suffix)
	}
	return list
}

// ofTrigger reports whether a pattern is about the file that started the run.
func ofTrigger(name string) bool {
	whole, _, ok := ofFile(name)
	return ok && whole == "trigger"
}

// ofItem reports whether a pattern is about the item of an @for_each.
func ofItem(name string) bool {
	whole, _, ok := ofFile(name)
	return ok && whole == "item"
}

// MentionsItem reports whether a path or text has a pattern about the item of an @for_each.
func MentionsItem(text string) bool { return mentions(text, ofItem) }

// MentionsWholeItem reports whether a path or text has {item} itself. Where the items are parts of documents, that is the part's
// content.
func MentionsWholeItem(text string) bool {
	return mentions(text, func(name string) bool { return name == "item" })
}

// MentionsTrigger reports whether a path or text has a pattern about the file that started the run.
func MentionsTrigger(text string) bool { return mentions(text, ofTrigger) }

func mentions(text string, about func(name string) bool) bool {
	for _, t := range textPatterns(text) {
		if about(t.name) {
			return true
		}
	}
	return false
}

// textPattern is a pattern about a file in a text; text[from:to] includes its braces.
type textPattern struct {
	name     string
	from, to int
}

// textPatterns finds the patterns about files in any text. All other braces are part of the text, and `{{…}}` is a place.
func textPatterns(text string) []textPattern {
	var list []textPattern
	for i := 0; i < len(text); i++ {
		if text[i] != '{' {
			continue
		}
		if strings.HasPrefix(text[i:], "{{") {
			i++
			continue
		}
		end := strings.IndexByte(text[i:], '}')
		if end < 0 {
			break
		}
		if _, _, ok := ofFile(text[i+1 : i+end]); ok {
			list = append(list, textPattern{text[i+1 : i+end], i, i + end + 1})
			i += end
		}
	}
	return list
}

// ReplaceInText replaces the patterns about files in prompt text with what show returns for them. A pattern about an item
// is left alone outside an @for_each.
func ReplaceInText(text string, f Facts, show func(name, value string) string) (string, error) {
	var b strings.Builder
	at := 0
	for _, t := range textPatterns(text) {
		if ofItem(t.name) && f.Item == "" {
			continue
		}
		value, ok := f.value(t.name, "")
		if !ok {
			return "", f.lacks(piece{name: t.name, offset: t.from})
		}
		b.WriteString(text[at:t.from])
		b.WriteString(show(t.name, value))
		at = t.to
	}
	b.WriteString(text[at:])
	return b.String(), nil
}

// NameOf returns the name of a file or document for people: without folder and extension. It is never `index`: the note of
// a bundle has the name of its folder.
func NameOf(file string) string {
	base := path.Base(file)
	stem := strings.TrimSuffix(base, path.Ext(base))
	switch {
	case stem == "":
		return base
	case strings.EqualFold(stem, "index") && path.Dir(file) != ".":
		return path.Base(path.Dir(file))
	}
	return stem
}

// fileValue returns the value of a pattern about a file.
func (f Facts) fileValue(file, suffix string) string {
	switch suffix {
	case "name", "label":
		return NameOf(file)
	case "folder":
		return strings.TrimPrefix(path.Dir(file), ".")
	case "ext":
		return strings.TrimPrefix(path.Ext(file), ".")
	case "title":
		if f.Title != nil {
			if title := strings.TrimSpace(f.Title(file)); title != "" {
				return title
			}
		}
		return NameOf(file)
	}
	return file
}

// itemValue returns the value of a pattern about the item. An entry of a list has neither folder nor extension.
func (f Facts) itemValue(suffix string) (text string, ok bool) {
	switch suffix {
	case "":
		return f.Item, f.Item != ""
	case "name":
		return f.ItemName, f.ItemName != ""
	case "label":
		if f.ItemLabel != "" {
			return f.ItemLabel, true
		}
		return f.ItemName, f.ItemName != ""
	}
	switch {
	case f.Item == "":
		return "", false
	case f.ItemValue && suffix == "title":
		return f.ItemName, true
	case f.ItemValue:
		return "", true
	case suffix == "title" && f.ItemTitle != "":
		return f.ItemTitle, true
	}
	return f.fileValue(f.Item, suffix), true
}

// lacks is the error of a pattern that has no value in these facts.
func (f Facts) lacks(p piece) *PatternError {
	if ofAnswer(p.name) != "" {
		return f.lacksAnswer(p)
	}
	e := &PatternError{p.offset, CodePatternPlace, "{" + p.name + "} has no value here", "remove it"}
	if ofTrigger(p.name) {
		switch n := len(f.Files); n {
		case 0:
			e.Message, e.Suggestion = "no file started this run, so {"+p.name+"} has no value", "name one: vaultflow run WORKFLOW FILE"
		default:
			e.Message = fmt.Sprintf("%d files started this run, so {%s} means none of them", n, p.name)
			e.Suggestion = "write runs: each in the frontmatter, or @for_each trigger and {item}; then retry the run with --current"
		}
	}
	return e
}
