package directives

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Who chose the name of an output's [Place].
const (
	NamedByAuthor  = ""        // the author's text and the values of the vault's owner
	NamedInSegment = "segment" // the author wrote folder and extension; a cleaned foreign value is the file name
	NamedByForeign = "place"   // a foreign value determined anything else
)

// Place is where an output goes.
type Place struct {
	Name  string // vault name, before numbering by write mode new
	Named string // one of the Named constants
}

// Place returns the file that an output writes to. See [Output.Name] for the rules. A foreign value (see [Facts.Foreign])
// becomes one cleaned part of the name, in the author's folder and with the author's extension, or .md.
func (o Output) Place(env OutputEnv) (Place, error) {
	if o.Target.Scheme == SchemeFile && !o.Target.Literal && (env.Facts.named() || len(o.Target.AnswerPatterns()) > 0) {
		return o.foreignPlace(env)
	}
	name, err := o.Name(env)
	return Place{Name: name}, err
}

// named reports whether somebody else named the item, or the files that started the run.
func (f Facts) named() bool { return f.Foreign || f.ForeignFiles || f.ChosenFiles }

// foreign reports whether the value of a pattern was named by somebody else.
func (f Facts) foreign(p piece) bool {
	return ofItem(p.name) && f.Foreign || ofTrigger(p.name) && (f.ForeignFiles || f.ChosenFiles)
}

// started reports whether a name is that of a file that the author's trigger, path or command chose: the one file that started
// the run, or the item that a glob selected.
func (f Facts) started(name string) bool {
	return f.FromGlob && name == f.Item || !f.ChosenFiles && len(f.Files) == 1 && name == f.Files[0]
}

// foreignPlace is Place for files and items that somebody else named.
func (o Output) foreignPlace(env OutputEnv) (Place, error) {
	pieces, faults := scan(o.Target.Path, modePath)
	answered := hasAnswer(pieces)
	if len(faults) > 0 || !answered && !slices.ContainsFunc(pieces, env.Facts.foreign) {
		name, err := o.Name(env)
		return Place{Name: name}, err
	}
	whole, err := o.Name(env)
	if answered && (err != nil || !slices.ContainsFunc(pieces, env.Facts.foreign)) {
		if namedByAnswer(pieces) && env.Facts.ForeignAnswer {
			return Place{Name: whole, Named: NamedByForeign}, err
		}
		return Place{Name: whole, Named: NamedInSegment}, err
	}
	if err == nil && env.Facts.started(whole) && !o.Target.Link {
		return Place{Name: whole}, nil // the step writes back to the file that it is about
	}
	segment, ok := o.segment(pieces, env.Facts)
	if !ok {
		return Place{Name: whole, Named: NamedByForeign}, err
	}
	o.Target.Path, o.Target.Literal = segment, true
	whole, err = o.Name(env)
	return Place{Name: whole, Named: NamedInSegment}, err
}

// Subject returns the files and entries that the patterns in an output's path name, or the folders if it names no more of them; nil
// if it names none. What an answer names is about the item, or else the file that started the run. document returns the document that a file belongs to.
func (o Output) Subject(f Facts, document func(name string) string) (list []string) {
	found := o.Target.Patterns()
	item := f.Item
	switch {
	case f.ItemValue || item == "":
	case f.ItemName != NameOf(item): // a part of it
		item = document(item) + ", " + f.ItemName
	default:
		item = document(item)
	}
	for _, whole := range []string{"trigger", "item"} {
		file, folder := item, path.Dir(f.Item)
		if whole == "trigger" {
			if len(f.Files) != 1 {
				continue
			}
			file, folder = document(f.Files[0]), path.Dir(f.Files[0])
		}
		named := ""
		if len(o.Target.AnswerPatterns()) > 0 && (whole == "item" || f.Item == "") {
			named = file
		}
		for _, suffix := range []string{"", "-name", "-title", "-label"} {
			if _, has := found[whole+suffix]; has {
				named = file
			}
		}
		if _, has := found[whole+"-folder"]; has && named == "" && !f.ItemValue {
			named = folder + "/"
		}
		if named != "" && !slices.Contains(list, named) {
			list = append(list, named)
		}
	}
	return list
}

// mark is a placeholder for a foreign value in the author's path. No path can contain it.
const mark = "\x00"

// segment returns the path with cleaned foreign values; ok is false unless all of them are in the last part of a path with a folder.
func (o Output) segment(pieces []piece, f Facts) (name string, ok bool) {
	var b strings.Builder
	var values []string
	for i, p := range pieces {
		beside := isFolder(p.name) && i == 0 && len(pieces) > 1 && strings.HasPrefix(pieces[1].text, "/") // the file's own folder
		switch {
		case p.name == "":
			b.WriteString(p.text)
		case f.foreign(p) && beside && (ofItem(p.name) && f.FromGlob || ofTrigger(p.name) && !f.ChosenFiles):
			v, known := f.value(p.name, "")
			if !known || v == "" {
				return "", false
			}
			b.WriteString(v)
		case f.foreign(p):
			v, _ := f.value(p.name, p.format)
			b.WriteString(mark)
			values = append(values, CleanSegment(v))
		default:
			v, known := f.value(p.name, p.format)
			if !known {
				return "", false
			}
			if isPart(p.name) {
				v = plain(v)
			}
			b.WriteString(v)
		}
	}
	folder, file := path.Split(b.String())
	if o.Target.Link || folder == "" || strings.Contains(folder, mark) {
		return "", false
	}
	authors := path.Ext(file)
	if strings.Contains(authors, mark) {
		authors = "" // the extension comes from the value, at least in part
	}
	for _, v := range values {
		file = strings.Replace(file, mark, v, 1)
	}
	if KindOf(authors) == "" {
		file = strings.TrimRight(file, ". ") + ".md"
	}
	return folder + file, true
}

// maxSegmentBytes bounds a foreign value's part of a name.
const maxSegmentBytes = 120

// CleanSegment turns a stranger's text into one part of a file name: no separators, no control or invisible characters, none
// that Obsidian, links or Windows refuse, no dot at the start, no known extension, and not too long.
func CleanSegment(text string) string {
	return cmp.Or(cleanSegment(text), "item")
}

// cleanSegment is CleanSegment for a text of which something must be left.
func cleanSegment(text string) string {
	text = norm.NFC.String(strings.ToValidUTF8(text, ""))
	for KindOf(text) != "" {
		text = strings.TrimSuffix(text, path.Ext(text))
	}
	text = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c), strings.ContainsRune(`/\:*?"<>|#^[]{}~`, c):
			return ' '
		case unicode.IsControl(c), unicode.Is(unicode.Cf, c), unicode.Is(unicode.Co, c), unicode.Is(unicode.Variation_Selector, c),
			unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c), c == utf8.RuneError:
			return -1
		}
		return c
	}, text)
	text = trimSegment(text)
	if len(text) > maxSegmentBytes {
		text = trimSegment(strings.ToValidUTF8(text[:maxSegmentBytes], ""))
	}
	if reservedName(text) {
		text += "_"
	}
	return text
}

func trimSegment(text string) string {
	return strings.Trim(strings.Join(strings.Fields(text), " "), ". ")
}

// reservedName reports whether the name, with or without extension, is a device on Windows.
func reservedName(text string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(text), ".")
	stem = strings.TrimRight(stem, " ")
	if slices.Contains([]string{"CON", "PRN", "AUX", "NUL", "CLOCK$", "CONIN$", "CONOUT$"}, stem) {
		return true
	}
	for _, device := range []string{"COM", "LPT"} {
		if n, ok := strings.CutPrefix(stem, device); ok && utf8.RuneCountInString(n) == 1 && strings.Contains("0123456789¹²³", n) {
			return true
		}
	}
	return false
}
