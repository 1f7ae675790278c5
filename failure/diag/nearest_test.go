package diag

import "testing"

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"input", "output", "model", "run_on", "write_mode", "now"}
	for word, want := range map[string]string{"inptu": "input", "outptu": "output", "Modell": "model", "xyz": "", "runon": "run_on", "a": "", "nope": "", "nwo": "now"} {
		if got := Nearest(word, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestCertain(t *testing.T) {
	t.Parallel()
	names := []string{"head", "tail", "heading", "limit", "log1", "log2"}
	for word, want := range map[string]string{"hed": "head", "HEAD": "head", "taild": "tail", "ta": "", "log3": "", "limits": "limit", "": "", "nope": ""} {
		if got, ok := Certain(word, names); got != want || ok != (want != "") {
			t.Errorf("Certain(%q) = %q, %v; want %q", word, got, ok, want)
		}
	}
}
