package settings

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"

	"gopkg.in/yaml.v3"
)

// scalar decodes one word or number, checks it against the field's tags and reports whether v was set.
func (d *decoder) scalar(path string, n *yaml.Node, v reflect.Value, f field) bool {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		d.fault(n, CodeType, "", "%s is one value, not %s", path, article(n))
		return false
	}
	parsed := reflect.New(v.Type()).Elem()
	if err := parse(n, parsed); err != nil {
		d.fault(n, CodeValue, "", "%s: %v", path, err)
		return false
	}
	if len(f.oneof) > 0 && !slices.Contains(f.oneof, parsed.String()) {
		suggestion := ""
		if near := diag.Nearest(parsed.String(), f.oneof); near != "" {
			suggestion = fmt.Sprintf("did you mean %q?", near)
		}
		d.fault(n, CodeValue, suggestion, "%s is %s, not %q", path, diag.OneOf(f.oneof), parsed.String())
		return false
	}
	if why := outside(parsed, f); why != "" {
		d.fault(n, CodeRange, "", "%s must be %s, not %s", path, why, text(parsed))
		return false
	}
	if f.later != "" && !parsed.IsZero() {
		d.report(d.at(n), diag.SeverityWarning, CodeNoEffect, "", "%s has no effect in this version: %s", path, f.later)
	}
	v.Set(parsed)
	d.origins[path] = d.at(n)
	return true
}

// parse reads the text of a node by the type of v.
func parse(n *yaml.Node, v reflect.Value) error {
	word := strings.TrimSpace(n.Value)
	switch t := v.Type(); {
	case t == durationType:
		duration, err := ParseDuration(word)
		v.SetInt(int64(duration))
		return err
	case t == bytesType:
		size, err := ParseBytes(word)
		v.SetInt(int64(size))
		return err
	case t.Kind() == reflect.String:
		if strings.ContainsRune(n.Value, 0) {
			return fmt.Errorf("a NUL byte is not allowed")
		}
		v.SetString(n.Value)
		return nil
	case t.Kind() == reflect.Bool:
		on, err := parseBool(word)
		v.SetBool(on)
		return err
	case t.Kind() == reflect.Float64:
		number, err := strconv.ParseFloat(strings.ReplaceAll(word, "_", ""), 64)
		if err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
			return fmt.Errorf("%q is not a number", word)
		}
		v.SetFloat(number)
		return nil
	}
	whole, err := strconv.ParseInt(strings.ReplaceAll(word, "_", ""), 10, 64)
	if err != nil || v.OverflowInt(whole) {
		return fmt.Errorf("%q is not a whole number", word)
	}
	v.SetInt(whole)
	return nil
}

func parseBool(word string) (bool, error) {
	switch strings.ToLower(word) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", word)
}

// outside describes what a number must be if it is out of the field's bounds.
func outside(v reflect.Value, f field) string {
	if f.min == "" {
		return ""
	}
	low, high := bound(f.min, v.Type()), bound(f.max, v.Type())
	var x float64
	if v.Kind() == reflect.Float64 {
		x = v.Float()
	} else {
		x = float64(v.Int())
	}
	if x >= low && x <= high {
		return ""
	}
	return "from " + f.min + " to " + f.max
}

// bound reads a tag. A tag that cannot be read is a programmer's mistake, which a test finds.
func bound(tag string, t reflect.Type) float64 {
	v := reflect.New(t).Elem()
	if err := parse(&yaml.Node{Kind: yaml.ScalarNode, Value: tag}, v); err != nil {
		panic(fmt.Sprintf("settings: bound %q: %v", tag, err))
	}
	if v.Kind() == reflect.Float64 {
		return v.Float()
	}
	return float64(v.Int())
}

// text writes a leaf the way settings are written, secrets hidden.
func text(v reflect.Value) string {
	switch value := v.Interface().(type) {
	case fmt.Stringer:
		return value.String()
	case []string:
		return "[" + strings.Join(value, ", ") + "]"
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	return fmt.Sprint(v.Interface())
}
