package choose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsePages(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		short string
		of7   []int
	}{
		"":            {"", []int{1, 2, 3, 4, 5, 6, 7}},
		"2":           {"2", []int{2}},
		" 1 - 3, 6 ":  {"1-3,6", []int{1, 2, 3, 6}},
		"5-":          {"5-", []int{5, 6, 7}},
		"6,2,2-3,3-3": {"6,2,2-3,3", []int{2, 3, 6}},
		"9-12":        {"9-12", nil},
	} {
		set, err := ParsePages(text)
		if err != nil || set.String() != want.short || !cmp.Equal(set.Of(7), want.of7) {
			t.Errorf("%q: %q, pages %v of 7, %v; want %+v", text, set, set.Of(7), err, want)
		}
	}
	for _, text := range []string{"0", "-3", "3-1", "a", "1-b", "1,,2", "1;2", "99999999999", "1-2-3", ",", "٣", strings.Repeat("1,", 1000) + "1"} {
		if set, err := ParsePages(text); err == nil {
			t.Errorf("%.40q passes as %v", text, set)
		}
	}
}
