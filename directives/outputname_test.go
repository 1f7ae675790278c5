package directives

import (
	"errors"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// The remedy for a wikilink that leads nowhere is one that is then accepted.
func TestOutputName_proposesOnlyWhatIsAllowed(t *testing.T) {
	t.Parallel()
	for link, want := range map[string]string{
		"Log": "write file: Log to create a new note", "Plans/x": "write file: Plans/x to create a new note",
		"Import/x": "the name of an existing note", ".hidden/x": "the name of an existing note", "../x": "the name of an existing note",
		"a:b": "the name of an existing note", "Secret/x": "the name of an existing note", "x.png": "the name of an existing note",
	} {
		out := Output{Target: Target{Scheme: SchemeFile, Path: link, Link: true}}
		_, err := out.Name(OutputEnv{Facts: facts(), MayWrite: func(name string) bool { return !strings.HasPrefix(name, "Secret/") }})
		var d diag.Diagnostic
		if !errors.As(err, &d) || d.Code != CodeLinkMissing || !strings.Contains(d.Suggestion, want) {
			t.Errorf("[[%s]]: %v, want %q", link, err, want)
		}
	}
}

func TestParse_longLine(t *testing.T) {
	t.Parallel()
	long := "@input file: " + strings.Repeat("a", maxLine-len("@input file: "))
	if list, faults := Parse([]string{long}, here); len(faults) > 0 || len(list) != 1 {
		t.Errorf("a line of %d bytes: %v", len(long), faults)
	}
	list, faults := Parse([]string{long + "a", "@header " + strings.Repeat("x", maxLine), "@model b"}, here)
	if len(faults) != 2 || faults[0].Code != CodeLineTooLong || faults[0].Line != 1 || faults[0].Column != 1 || !strings.Contains(faults[0].Message, "4097") || faults[1].Line != 2 {
		t.Errorf("got %v", faults)
	}
	if len(list) != 3 || !list[0].Faulty || list[0].Text != "" || list[2].Faulty {
		t.Errorf("got %+v", list)
	}
	if _, faults := Cut([]string{"Prompt", strings.Repeat("a", maxLine+1)}, here); len(faults) > 0 {
		t.Errorf("prompt text may be long: %v", faults)
	}
}
