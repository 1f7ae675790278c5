package doctor

import (
	"strings"
	"testing"
)

func TestExamineFonts(t *testing.T) {
	t.Parallel()
	if f := examineFonts(nil); f.State != "ok" || f.Fix != "" {
		t.Errorf("with fonts for all: %+v", f)
	}
	f := examineFonts([]string{"Japanese", "Korean"})
	if f.State != "warning" || !strings.Contains(f.Message, "Japanese, Korean") || !strings.Contains(f.Fix, "fonts-droid-fallback") {
		t.Errorf("without: %+v", f)
	}
}
