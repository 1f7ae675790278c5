package settings

import (
	"fmt"
	"maps"
	"reflect"
)

// Source is the layer that a value comes from.
type Source string

// The sources, weakest first.
const (
	SourceDefault     Source = "default"
	SourceUser        Source = "user"     // the user's own file
	SourceFile        Source = "settings" // the vault's file, or the one that replaces it
	SourceEnvironment Source = "environment"
	SourceFlag        Source = "flag"
)

// isFile reports whether values of this source have a line.
func (s Source) isFile() bool { return s == SourceUser || s == SourceFile }

// Origin is where a value comes from.
type Origin struct {
	Source Source `json:"source"`
	Name   string `json:"name,omitempty"` // file path, or name of the variable
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String returns a text for people: "default", "settings.yaml:3", "environment VAULTFLOW_WEB_LISTEN".
func (o Origin) String() string {
	switch o.Source {
	case SourceUser, SourceFile:
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	case SourceEnvironment:
		return "environment " + o.Name
	case "":
		return string(SourceDefault)
	}
	return string(o.Source)
}

// place returns what a diagnostic names as its file.
func (o Origin) place() string {
	if o.Source == SourceEnvironment || o.Source == SourceFlag {
		return string(o.Source) + " " + o.Name
	}
	if o.Name == "" {
		return "settings"
	}
	return o.Name
}

// Origin returns where the value of a key such as "ingestion.pdf.dpi" comes from.
func (s *Settings) Origin(path string) Origin {
	if o, ok := s.origins[path]; ok {
		return o
	}
	return Origin{Source: SourceDefault}
}

// Same reports whether two settings are equal in all that has an effect: values, keys, the layer that each value is from, and what
// waits for a grant. Comments, lines and warnings have none.
func (s *Settings) Same(o *Settings) bool {
	return reflect.DeepEqual(s.effective(), o.effective())
}

// effective returns a copy without what has no effect of its own.
func (s *Settings) effective() Settings {
	c := *s
	c.Diagnostics, c.withheld = nil, withheld{} // follows from what waits
	c.Waiting, c.Granted = placeless(s.Waiting), placeless(s.Granted)
	c.origins = maps.Clone(s.origins)
	for key, at := range c.origins {
		at.Line, at.Column = 0, 0
		c.origins[key] = at
	}
	return c
}

func placeless(list []Waiting) []Waiting {
	out := make([]Waiting, len(list))
	for i, w := range list {
		w.At = Origin{}
		out[i] = w
	}
	return out
}
