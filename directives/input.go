package directives

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// How images of an input are treated.
const (
	ImagesAuto     = "auto"
	ImagesIgnore   = "ignore"
	ImagesRequired = "required"
)

// Input is one `@input`. Unset fields have their zero value; the methods return the defaults.
type Input struct {
	At     diag.Position `json:"at"`    // of the `@`
	Index  int           `json:"index"` // counts the step's inputs from 0; part of the key of pending state
	Target Target        `json:"target"`

	Selection Selection `json:"selection,omitzero"`

	Required   bool        `json:"required,omitempty"`
	Changes    bool        `json:"changes,omitempty"` // what changed since the step last finished, instead of the whole
	RefsOnly   bool        `json:"refs_only,omitempty"`
	Head       int         `json:"head,omitempty"` // characters
	Tail       int         `json:"tail,omitempty"` // characters
	Lines      *Range      `json:"lines,omitempty"`
	Properties *Properties `json:"properties,omitempty"`
	Pages      []Range     `json:"pages,omitempty"`
	PagesText  string      `json:"pages_text,omitempty"` // with patterns, in place of Pages; see [Input.PagesFor]
	Images     string      `json:"images,omitempty"`     // auto, ignore or required; empty means auto
	Comments   string      `json:"comments,omitempty"`   // drop or keep; empty means drop
	Embeds     string      `json:"embeds,omitempty"`     // inline or ref; empty means inline
	Trust      string      `json:"trust,omitempty"`      // trusted or untrusted; empty means by location
	As         string      `json:"as,omitempty"`         // the place {{As}} in the prompt
	Scope      string      `json:"scope,omitempty"`      // of a variable to read: run or workflow; empty means run

	Route *Route `json:"route,omitempty"` // where its content goes instead of the prompt
}

// Range is an inclusive range of lines or pages, counted from 1. Last 0 means to the end.
type Range struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// Properties selects frontmatter only: all of it if Keys is empty.
type Properties struct {
	Keys []string `json:"keys,omitempty"`
}

// ImagesMode returns auto, ignore or required.
func (in Input) ImagesMode() string {
	if in.Images == "" {
		return ImagesAuto
	}
	return in.Images
}

// Trusted reports whether a file's text counts as the author's: the input's choice, or else by location, because imported
// files come from somewhere else.
func (in Input) Trusted(name, importedDir string) bool {
	if in.Trust != "" {
		return in.Trust == "trusted"
	}
	return !Inside(name, importedDir)
}

// ParseInput parses the value of one `@input` without the directive's name, as used on the command line: `file: notes/today
// (head=200)`. A value without a scheme is a file.
func ParseInput(text string) (Input, []diag.Diagnostic) {
	if end := schemeEnd(text); end == 0 && !strings.HasPrefix(text, `"`) && !strings.HasPrefix(text, "'") {
		text = "file: " + text
	}
	list, faults := Parse([]string{"@input " + strings.NewReplacer("\n", " ", "\r", " ").Replace(text)}, diag.Position{Line: 1, Column: 1})
	set, more := Interpret(list)
	faults = append(faults, more...)
	if len(set.Inputs) == 0 {
		return Input{}, faults
	}
	return set.Inputs[0], faults
}

func readInput(d Directive, r *report) Input {
	in := Input{At: d.At}
	t, ok := parseSource("@input", source{text: d.Text, at: d.TextAt}, r)
	in.Target = t
	var routing []Param
	for _, p := range d.Params {
		switch p.Key {
		case "output", "write_mode", "heading", "merge", "union", "scope":
			routing = append(routing, p)
		case "pending", "latest", "limit", "order", "dir":
			in.Selection.read(t, p, r)
		default:
			in.set(p, r)
		}
	}
	var scope *Param
	if in.Route, scope = readRouting("input", routing, r); scope != nil {
		in.scope(*scope, r)
	}
	if ok && t.Scheme == SchemeFile {
		checkInputPath(t, &in.Selection, r)
	}
	in.Selection.check(d, r)
	in.checkChanges(d, r)
	return in
}

func (in *Input) set(p Param, r *report) {
	switch p.Key {
	case "required":
		in.Required = p.boolean(r)
	case "changes":
		in.Changes = p.boolean(r)
	case "refs_only":
		in.RefsOnly = p.boolean(r)
	case "head":
		in.Head = p.count(r)
	case "tail":
		in.Tail = p.count(r)
	case "lines":
		in.Lines = readLines(p, r)
	case "properties":
		in.Properties = readProperties(p, r)
	case "pages":
		in.readPages(p, r)
	case "images":
		in.Images = p.word(r, ImagesAuto, ImagesIgnore, ImagesRequired)
	case "comments":
		in.Comments = p.word(r, "drop", "keep")
	case "embeds":
		in.Embeds = p.word(r, "inline", "ref")
	case "trust":
		in.Trust = p.word(r, "trusted", "untrusted")
	case "as":
		in.As = p.place(r)
	}
}

// checkChanges reports what has no meaning beside `changes`: the changes of a file are shown as a whole.
func (in *Input) checkChanges(d Directive, r *report) {
	if !in.Changes {
		return
	}
	for _, p := range d.Params {
		switch {
		case p.Key == "changes" && in.Target.Scheme == SchemeVariable:
			r.add(p.At, CodeParamElsewhere, "", "changes= compares files and has no meaning for a variable")
		case slices.Contains([]string{"refs_only", "head", "tail", "lines", "properties", "pages"}, p.Key):
			r.add(p.At, CodeExclusive, "keep one of them", "changes and %s exclude each other", p.Key)
		}
	}
	if in.Target.Link && in.Target.Fragment != "" {
		r.add(in.Target.At, CodeFragment, "write [["+in.Target.Path+"]]", "changes compares whole files: #%s has no meaning", clip(in.Target.Fragment))
	}
	if r.items && !MentionsItem(in.Target.Path) {
		r.add(in.At, CodeExclusive, "read {item}, or use a step without @for_each", "changes names a file of its own for each item: the first batch would use up the changes of %s", in.Target)
	}
}

// place reads the name of a place in the prompt.
func (p Param) place(r *report) string {
	if !isPlace(p.Value) {
		r.add(p.ValueAt, CodeParamValue, "", "as= takes a name of letters, digits and _, not %q", clip(p.Value))
	}
	return p.Value
}

func isPlace(s string) bool {
	for i, c := range s {
		if !unicode.IsLetter(c) && c != '_' && (i == 0 || !unicode.IsDigit(c) && c != '-') {
			return false
		}
	}
	return s != ""
}

func readLines(p Param, r *report) *Range {
	rg, err := readRange(p.Value)
	if p.Bare || err != nil {
		r.add(p.ValueAt, CodeParamValue, "write lines=10-80", "lines takes a range such as 10-80, not %q", clip(p.Value))
		return nil
	}
	return &rg
}

// readPages reads the pages, or the patterns that will be replaced with them.
func (in *Input) readPages(p Param, r *report) {
	if strings.Contains(p.Value, "{") {
		in.PagesText = p.Value
		checkPattern(source{text: p.Value, at: p.ValueAt}, modeText, r)
		return
	}
	var err error
	if in.Pages, err = parsePages(p.Value); err != nil {
		advice := "write pages=1-20,25"
		if p.Bare && in.Properties != nil {
			advice = `to name the property, quote the list: properties="title, pages"`
		}
		r.add(p.ValueAt, CodeParamValue, advice, "%v", err)
	}
}

func parsePages(text string) ([]Range, error) {
	var list []Range
	for part := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		rg, err := readRange(part)
		if err != nil {
			return nil, fmt.Errorf("pages: %w", err)
		}
		list = append(list, rg)
	}
	if len(list) == 0 {
		return nil, errors.New("pages names no page")
	}
	return list, nil
}

// pageWords are what people and models write around page numbers.
var pageWords = strings.NewReplacer("pages", "", "Pages", "", "page", "", "Page", "", "pp.", "", "p.", "", "–", "-", "—", "-", " to ", "-", " and ", ",", ";", ",")

// PagesFor returns the pages of an input, with the patterns of pages= replaced. The values may be written as people write pages.
func (in Input) PagesFor(f Facts) ([]Range, error) {
	if in.PagesText == "" {
		return in.Pages, nil
	}
	text, err := Expand(in.PagesText, f)
	if err != nil {
		return nil, err
	}
	pages, err := parsePages(pageWords.Replace(text))
	if err != nil {
		return nil, At(in.At, CodePagesText, "let it be page numbers such as 1-20,25", "pages=%s is %q: %v", in.PagesText, clip(text), err)
	}
	return pages, nil
}

// readRange reads `7`, `3-9` and `3-`.
func readRange(s string) (Range, error) {
	fault := fmt.Errorf("%q is not a range such as 3-9", clip(s))
	from, to, dash := strings.Cut(strings.TrimSpace(s), "-")
	first, err := strconv.Atoi(strings.TrimSpace(from))
	if err != nil || first < 1 {
		return Range{}, fault
	}
	if !dash {
		return Range{first, first}, nil
	}
	if strings.TrimSpace(to) == "" {
		return Range{First: first}, nil
	}
	last, err := strconv.Atoi(strings.TrimSpace(to))
	if err != nil || last < first {
		return Range{}, fault
	}
	return Range{first, last}, nil
}

func readProperties(p Param, r *report) *Properties {
	if p.Bare {
		return &Properties{}
	}
	if b, err := ParseBool(p.Value); err == nil && !p.Quoted {
		if b {
			return &Properties{}
		}
		return nil
	}
	props := &Properties{Keys: readNames(p.Value)}
	if len(props.Keys) == 0 {
		r.add(p.ValueAt, CodeParamValue, `write properties, or properties="a, b"`, "properties names no key")
	}
	return props
}

// scope reads the scope of the variable to read.
func (in *Input) scope(p Param, r *report) {
	if in.Target.Scheme != SchemeVariable {
		r.add(p.At, CodeScopeUnused, "", "scope= belongs to a variable")
		return
	}
	in.Scope = p.word(r, "run", "workflow")
}

// readNames reads names of properties, divided by commas. One that is named twice counts once.
func readNames(value string) []string {
	var names []string
	for part := range strings.SplitSeq(value, ",") {
		if name := strings.TrimSpace(part); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
