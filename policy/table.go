package policy

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

//go:embed data/*.yaml
var data embed.FS

// words is a text or a list of texts.
type words []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (w *words) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*w = words{n.Value}
		return nil
	}
	return n.Decode((*[]string)(w))
}

// match holds the columns that every row starts and ends with.
type match struct {
	Provider words  `yaml:"provider"`
	Model    words  `yaml:"model"`
	Source   string `yaml:"source"`
	Checked  string `yaml:"checked"`
}

// fits reports whether the row applies to a provider and a model. Patterns are those of path.Match, on the model's last path part.
func (m match) fits(provider, model string) bool {
	if !slices.Contains(m.Provider, provider) && !slices.Contains(m.Provider, "any") {
		return false
	}
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	return slices.ContainsFunc(m.Model, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// check refuses rows without a source.
func (m match) check() error {
	if len(m.Provider) == 0 || len(m.Model) == 0 || m.Source == "" || len(m.Checked) != len("2026-08") {
		return fmt.Errorf("row %v %v lacks provider, model, source or checked", m.Provider, m.Model)
	}
	for _, pattern := range m.Model {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("row %v: pattern %q: %w", m.Provider, pattern, err)
		}
	}
	return nil
}

// modelRow is a row of capabilities.yaml.
type modelRow struct {
	match  `yaml:",inline"`
	Flags  []Capability `yaml:"flags"`
	Window int          `yaml:"window"` // tokens; 0 if it depends on the server
	Adds   bool         `yaml:"adds"`   // the flags are the server's, in addition to the model's
}

// limitRow is a row of limits.yaml.
type limitRow struct {
	match        `yaml:",inline"`
	MaxImages    int      `yaml:"max_images"`
	MaxImageMB   float64  `yaml:"max_image_mb"`
	Base64       bool     `yaml:"base64"`
	MaxSide      int      `yaml:"max_side"`
	MinSide      int      `yaml:"min_side"`
	ManyImages   int      `yaml:"many_images"`
	ManySide     int      `yaml:"many_side"`
	MaxPixels    int64    `yaml:"max_pixels"`
	MaxRequestMB float64  `yaml:"max_request_mb"`
	MaxPDFPages  int      `yaml:"max_pdf_pages"`
	MaxPDFMB     float64  `yaml:"max_pdf_mb"`
	Formats      []string `yaml:"formats"`
	Still        bool     `yaml:"still"`
	Tokens       Formula  `yaml:"tokens"`
}

// The tables are part of the program; a malformed row is a programmer's mistake that the tests catch.
var (
	modelRows = sync.OnceValue(func() []modelRow { return read[modelRow]("capabilities") })
	limitRows = sync.OnceValue(func() []limitRow { return read[limitRow]("limits") })

	deliveryRows = sync.OnceValue(func() []deliveryRow { return read[deliveryRow]("delivery") })
)

func read[R any](name string) []R {
	src, err := data.ReadFile("data/" + name + ".yaml")
	if err != nil {
		panic(fmt.Sprintf("policy table %s: %v", name, err))
	}
	var table struct {
		Rows []R `yaml:"rows"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	dec.KnownFields(true)
	if err := dec.Decode(&table); err != nil {
		panic(fmt.Sprintf("policy table %s: %v", name, err))
	}
	return table.Rows
}

// capabilityRow returns the first row that matches a model, or nil.
func capabilityRow(provider, model string) *modelRow {
	return firstRow(provider, model, func(r modelRow) bool { return !r.Adds })
}

// addingRow returns the row that adds a capability to every model of a server, or nil.
func addingRow(provider, model string, c Capability) *modelRow {
	return firstRow(provider, model, func(r modelRow) bool { return r.Adds && slices.Contains(r.Flags, c) })
}

func firstRow(provider, model string, wanted func(modelRow) bool) *modelRow {
	rows := modelRows()
	for i := range rows {
		if wanted(rows[i]) && rows[i].fits(provider, model) {
			return &rows[i]
		}
	}
	return nil
}
