package directives

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// ParseBool parses true/false, yes/no, on/off and 1/0 in any case.
func ParseBool(s string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0":
		return false, nil
	}
	return false, fmt.Errorf("%q is not true or false", clip(s))
}

// ParseDuration parses Go's durations (`90s`, `2h30m`), after an optional number of weeks (`w`) and days of 24 hours (`d`):
// `1w2d`, `1d12h`. A duration is above zero.
func ParseDuration(s string) (time.Duration, error) {
	fault := fmt.Errorf("%q is not a duration such as 90s, 2h, 3d or 1w", clip(s))
	rest := strings.ToLower(strings.TrimSpace(s))
	var total time.Duration
	for _, unit := range []struct {
		letter string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		number, after, found := strings.Cut(rest, unit.letter)
		if !found {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || n < 0 || n*float64(unit.length) > math.MaxInt64/4 || strings.Trim(number, "0123456789.") != "" {
			return 0, fault
		}
		total, rest = total+time.Duration(n*float64(unit.length)), after
	}
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 || d > math.MaxInt64/4 {
			return 0, fault
		}
		total += d
	}
	if total <= 0 {
		return 0, fault
	}
	return total, nil
}

// Weekday parses the full name of a day or its first three letters, in any case.
func Weekday(s string) (time.Weekday, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	for d := time.Sunday; d <= time.Saturday; d++ {
		if name := strings.ToLower(d.String()); s == name || s == name[:3] {
			return d, true
		}
	}
	return 0, false
}

// boolean reads a parameter that is bare or has a boolean value.
func (p Param) boolean(r *report) bool {
	if p.Bare {
		return true
	}
	b, err := ParseBool(p.Value)
	if err != nil {
		r.add(p.ValueAt, CodeParamValue, "write "+p.Key+", or "+p.Key+"=false", "%s: %v", p.Key, err)
	}
	return b
}

// count reads a whole number above zero.
func (p Param) count(r *report) int {
	n, err := strconv.Atoi(strings.TrimSpace(p.Value))
	if p.Bare || err != nil || n < 1 || n > math.MaxInt32 {
		r.add(p.ValueAt, CodeParamValue, "write "+p.Key+"=10", "%s takes a whole number above zero, not %q", p.Key, clip(p.Value))
		return 0
	}
	return n
}

// upTo reads a whole number from 0 to a bound.
func (p Param) upTo(r *report, most int) int {
	n, err := strconv.Atoi(strings.TrimSpace(p.Value))
	if p.Bare || err != nil || n < 0 || n > most {
		r.add(p.ValueAt, CodeParamValue, "write "+p.Key+"=2", "%s takes a whole number from 0 to %d, not %q", p.Key, most, clip(p.Value))
		return 0
	}
	return n
}

// atMost reads a whole number from 1 to a bound.
func (p Param) atMost(r *report, most int) int {
	n, err := strconv.Atoi(strings.TrimSpace(p.Value))
	if p.Bare || err != nil || n < 1 || n > most {
		r.add(p.ValueAt, CodeParamValue, "write "+p.Key+"=2", "%s takes a whole number from 1 to %d, not %q", p.Key, most, clip(p.Value))
		return 0
	}
	return n
}

// duration reads a duration.
func (p Param) duration(r *report) time.Duration {
	d, err := ParseDuration(p.Value)
	if p.Bare || err != nil {
		r.add(p.ValueAt, CodeParamValue, "write "+p.Key+"=30s", "%s takes a duration such as 90s, 2h, 3d or 1w, not %q", p.Key, clip(p.Value))
		return 0
	}
	return d
}

// word reads one of the allowed words, in any case.
func (p Param) word(r *report, allowed ...string) string {
	v := strings.ToLower(strings.TrimSpace(p.Value))
	for _, a := range allowed {
		if v == a {
			return a
		}
	}
	r.add(p.ValueAt, CodeParamValue, diag.DidYouMean(v, allowed, "write "+p.Key+"="+allowed[0]), "%s is %s, not %q", p.Key, diag.OneOf(allowed), clip(p.Value))
	p.mendValue(r, allowed)
	return ""
}

// mendValue replaces the value with the allowed word that it must mean.
func (p Param) mendValue(r *report, allowed []string) {
	if near, ok := diag.Certain(p.Value, allowed); ok && !p.Bare && !p.Quoted {
		r.mend(diag.Replace(p.ValueAt, utf8.RuneCountInString(p.Value), near))
	}
}
