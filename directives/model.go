package directives

import (
	"math"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// Model is a step's choice of model.
type Model struct {
	Alias           string        `json:"alias,omitempty"`
	None            bool          `json:"none,omitempty"`     // no model call: the inputs go straight to the outputs
	Thinking        string        `json:"thinking,omitempty"` // off, low, medium, high, on (the model's default) or a number of tokens
	Temperature     *float64      `json:"temperature,omitempty"`
	MaxOutputTokens int           `json:"max_output_tokens,omitempty"`
	Fallback        string        `json:"fallback,omitempty"` // alias
	At              diag.Position `json:"at"`                 // of the alias
	FallbackAt      diag.Position `json:"fallback_at,omitzero"`
}

func readModel(d Directive, r *report) *Model {
	s := source{text: d.Text, at: d.TextAt}
	if inner, quoted := unquote(s); quoted {
		s = inner
	}
	m := &Model{Alias: s.text, At: d.TextAt}
	if !ValidAlias(m.Alias) {
		r.add(s.at, CodeDirectiveValue, "", "%q is not a model alias, which is one word without spaces or parentheses", clip(m.Alias))
		m.Alias = ""
	}
	if strings.EqualFold(m.Alias, "none") {
		m.Alias, m.None = "", true
		for _, p := range d.Params {
			r.add(p.At, CodeParamElsewhere, "", "%s has no meaning for @model none", p.Key)
		}
		return m
	}
	for _, p := range d.Params {
		m.set(p, r)
	}
	return m
}

func (m *Model) set(p Param, r *report) {
	switch p.Key {
	case "thinking":
		m.Thinking = thinking(p, r)
	case "temperature":
		t, err := strconv.ParseFloat(p.Value, 64)
		if err != nil || math.IsNaN(t) || t < 0 || t > 2 {
			r.add(p.ValueAt, CodeParamValue, "write temperature=0.2", "temperature is a number from 0 to 2, not %q", clip(p.Value))
			return
		}
		m.Temperature = &t
	case "max_output_tokens":
		m.MaxOutputTokens = p.count(r)
	case "fallback":
		if !ValidAlias(p.Value) || strings.EqualFold(p.Value, "none") {
			r.add(p.ValueAt, CodeParamValue, "", "fallback is a model alias, not %q", clip(p.Value))
			return
		}
		m.Fallback, m.FallbackAt = p.Value, p.ValueAt
	}
}

func thinking(p Param, r *report) string {
	if p.Bare {
		return "on"
	}
	v := strings.ToLower(p.Value)
	switch v {
	case "off", "false", "no", "0":
		return "off"
	case "on", "true", "yes":
		return "on"
	case "low", "medium", "high":
		return v
	}
	if n, err := strconv.Atoi(v); err == nil && n > 0 && n <= math.MaxInt32 {
		return strconv.Itoa(n)
	}
	r.add(p.ValueAt, CodeParamValue, diag.DidYouMean(v, []string{"off", "low", "medium", "high"}, ""),
		"thinking is off, low, medium, high or a number of tokens, not %q", clip(p.Value))
	return ""
}

// ValidAlias reports whether a text can be a model alias: one word of letters, digits and `. _ - : / @ +`, at most 100 bytes.
func ValidAlias(s string) bool {
	if s == "" || len(s) > 100 {
		return false
	}
	for _, c := range s {
		if !isLetter(c) && (c < '0' || c > '9') && !strings.ContainsRune("._-:/@+", c) {
			return false
		}
	}
	return true
}
