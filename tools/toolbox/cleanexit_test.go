package toolbox

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
)

func TestUseTools_defusesWhatTheyWrite(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"Log.md": "# Log\n\n![mine](https://mine.example/logo.png)\n"}, "append_file (untrusted=allow)")
	turn := d.turn(tool("append_file", in{"path": "Log.md", "content": obeyed}))
	turn.Origins = []string{"file Imported/a/index.md"}
	turn.Turns = d.foreign("See https://shown.example/a.").Turns
	out, err := d.box().Use(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	got := d.vault.Texts()["Log.md"]
	want := "# Log\n\n![mine](https://mine.example/logo.png)\n" + strings.NewReplacer("![x](http:", "!⟦⟧[x]⟦⟧(http⟦⟧:").Replace(obeyed)
	if got != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
	if len(out.Defused) != 3 || out.Defused[0].Line != 6 || out.Defused[0].Name != "Log.md" {
		t.Errorf("findings: %+v", out.Defused)
	}
	if r := d.results(out); !strings.Contains(content.Join(r[0].Blocks), "Made inert") {
		t.Errorf("the model is told %q", content.Join(r[0].Blocks))
	}
}

// What a server says of its tools stands in every request, so that a step that offers them is untrusted from the start: it
// may still call that server, and nobody else.
func TestAssemble_describedToolsTaint(t *testing.T) {
	t.Parallel()
	d, a, _ := reaching(t, nil, "web_search, srv.say")
	out := d.assembled(d.ref())
	if !slices.Contains(out.Origins, "mcp srv") {
		t.Fatalf("origins: %q", out.Origins)
	}
	turn := d.turn(tool("srv__say", in{}), tool("web_search", in{"query": "x"}))
	turn.Origins = out.Origins
	if _, err := d.box().Use(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"srv.say"}, a.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	turn.Origins = append(turn.Origins, "mcp srv.say") // it has answered
	a.asked = nil
	if _, err := d.box().Use(t.Context(), turn); err != nil || len(a.asked) > 0 {
		t.Errorf("after an answer %q is asked, %v", a.asked, err)
	}
}
