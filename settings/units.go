package settings

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Duration is a time span, written like 90s, 2h, 1h30m, 3d or 2w.
type Duration time.Duration

// Std returns the duration as a time.Duration.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String returns the duration as settings write it; ParseDuration reads it back.
func (d Duration) String() string {
	std := time.Duration(d)
	const day = 24 * time.Hour
	switch {
	case std != 0 && std%(7*day) == 0:
		return strconv.FormatInt(int64(std/(7*day)), 10) + "w"
	case std != 0 && std%day == 0:
		return strconv.FormatInt(int64(std/day), 10) + "d"
	}
	s := std.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

var longUnits = regexp.MustCompile(`^(-?)(?:(\d+(?:\.\d+)?)w)?(?:(\d+(?:\.\d+)?)d)?(.*)$`)

// ParseDuration accepts Go's form plus d (24 h) and w (7 d), in descending order: 1w2d3h. A number without a unit is an error.
func ParseDuration(text string) (Duration, error) {
	m := longUnits.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil || text == "" || m[0] == m[1] {
		return 0, fmt.Errorf("%q is not a duration; write 90s, 2h, 3d or 1w", mask(text))
	}
	var hours float64
	for i, unit := range []float64{7 * 24, 24} {
		if m[i+2] != "" {
			n, err := strconv.ParseFloat(m[i+2], 64)
			if err != nil {
				return 0, fmt.Errorf("%q is not a duration: %w", text, err)
			}
			hours += n * unit
		}
	}
	var rest time.Duration
	if m[4] != "" {
		var err error
		if rest, err = time.ParseDuration(m[4]); err != nil {
			if _, numeric := strconv.ParseFloat(text, 64); numeric == nil {
				return 0, fmt.Errorf("%s needs a unit, such as %ss or %sm", text, text, text)
			}
			return 0, fmt.Errorf("%q is not a duration; write 90s, 2h, 3d or 1w", mask(text))
		}
	}
	total := hours*float64(time.Hour) + float64(rest)
	if math.Abs(total) > float64(math.MaxInt64)/2 {
		return 0, fmt.Errorf("%s is too long", text)
	}
	d := Duration(hours*float64(time.Hour)) + Duration(rest)
	if m[1] == "-" {
		d = -d
	}
	return d, nil
}

// Bytes is a size, written like 512MB or 1.5GiB.
type Bytes int64

var byteUnits = []struct {
	name string
	size float64
}{
	{"tib", 1 << 40},
	{"gib", 1 << 30},
	{"mib", 1 << 20},
	{"kib", 1 << 10},
	{"tb", 1e12},
	{"gb", 1e9},
	{"mb", 1e6},
	{"kb", 1e3},
	{"b", 1},
}

// String writes a size with the largest binary unit that needs at most two decimals, without rounding.
func (b Bytes) String() string {
	for _, u := range byteUnits[:4] {
		if n := float64(b) / u.size; n >= 1 && n*4 == math.Trunc(n*4) {
			name := strings.ToUpper(u.name[:1]) + "iB"
			return strconv.FormatFloat(n, 'f', -1, 64) + name
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

// MarshalText implements encoding.TextMarshaler.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// ParseBytes reads a size. A number without a unit is an error, except zero.
func ParseBytes(text string) (Bytes, error) {
	low := strings.ToLower(strings.TrimSpace(text))
	if low == "0" {
		return 0, nil
	}
	for _, u := range byteUnits {
		digits, ok := strings.CutSuffix(low, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err != nil || n < 0 || n*u.size > math.MaxInt64/2 || math.IsNaN(n) {
			break
		}
		return Bytes(n * u.size), nil
	}
	if _, err := strconv.ParseFloat(low, 64); err == nil {
		return 0, fmt.Errorf("%s needs a unit, such as %sMB or %sGiB", text, text, text)
	}
	return 0, fmt.Errorf("%q is not a size; write 512MB or 1.5GiB", mask(text))
}
