package metadata

import (
	"strings"
	"testing"
)

func TestMeta_readsWhatFilesSay(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"D:20260102030405Z": "2026-01-02T03:04:05Z", "D:20260102030405+01'00'": "2026-01-02T03:04:05+01:00", "D:20260102": "2026-01-02T00:00:00Z", "May": "May", "": "",
	} {
		if got := Time(in); got != want {
			t.Errorf("time %q: %q, want %q", in, got, want)
		}
	}
	if got := Text(" T\xc3\xaf \xc3" + strings.Repeat("\x00", 9)); got != "Tï" {
		t.Errorf("text: %q", got)
	}
}
