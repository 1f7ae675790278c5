package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestTrust_origins(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		trust Trust
		read  []Read
		want  []string
	}{
		"nothing":                    {},
		"a note":                     {read: []Read{{Kind: ReadFile, Name: "Notes/a.md"}}},
		"an import":                  {read: []Read{{Kind: ReadFile, Name: "Imported/a/index.md"}}, want: []string{"file Imported/a/index.md"}},
		"an import in another case":  {read: []Read{{Kind: ReadFile, Name: "imported/A/index.md"}}, want: []string{"file imported/A/index.md"}},
		"a mail's attachment":        {read: []Read{{Kind: ReadFile, Name: "Imported/mail/children/a.md"}}, want: []string{"file Imported/mail/children/a.md"}},
		"a name that only begins so": {read: []Read{{Kind: ReadFile, Name: "Imported by me/a.md"}}},
		"another folder of imports":  {trust: Trust{ImportedDir: "In/box/"}, read: []Read{{Kind: ReadFile, Name: "In/box/a.md"}, {Kind: ReadFile, Name: "Imported/a.md"}}, want: []string{"file In/box/a.md"}},
		"an import that is trusted":  {read: []Read{{Kind: ReadFile, Name: "Imported/a.md", Trust: "trusted"}}},
		"a note that is not":         {read: []Read{{Kind: ReadFile, Name: "a.md", Trust: "untrusted"}}, want: []string{"file a.md"}},
		"a note made from a page":    {read: []Read{{Kind: ReadFile, Name: "a.md", Origins: []string{"web w"}}}, want: []string{"file a.md", "web w"}},
		"a note on record": {
			trust: Trust{Known: func(name string) (bool, []string) { return name == "b.md", []string{"import 01J (r.pdf)"} }},
			read:  []Read{{Kind: ReadFile, Name: "a.md"}, {Kind: ReadFile, Name: "b.md"}, {Kind: ReadFile, Name: "Imported/trusted.md"}},
			want:  []string{"file b.md", "import 01J (r.pdf)"},
		},
		"a variable":                    {read: []Read{{Kind: ReadVariable, Name: "v"}}},
		"a variable said to be foreign": {read: []Read{{Kind: ReadVariable, Name: "v", Trust: "untrusted"}}, want: []string{"variable v"}},
		"a variable made from a page":   {read: []Read{{Kind: ReadVariable, Name: "v", Origins: []string{"web https://example.org/"}}}, want: []string{"web https://example.org/"}},
		"such a one that is trusted":    {read: []Read{{Kind: ReadVariable, Name: "v", Trust: "trusted", Origins: []string{"web x"}}}},
		"what is not of this machine": {
			read: []Read{{Kind: ReadPicture, Name: "p"}, {Kind: ReadPage, Name: "w"}, {Kind: ReadSearch, Name: "s"}, {Kind: ReadMCP, Name: "a.b"}, {Kind: ReadArtifact, Name: "art_1"}},
			want: []string{"picture p", "web w", "search s", "mcp a.b", "artifact art_1"},
		},
		"each once": {read: []Read{{Kind: ReadPage, Name: "w"}, {Kind: ReadPage, Name: "w"}, {Kind: ReadVariable, Origins: []string{"web w"}}}, want: []string{"web w"}},
	} {
		if got := tt.trust.Origins(tt.read); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestAddOrigins_staysShort(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 500 {
		list = AddOrigins(list, fmt.Sprint(i))
	}
	if len(list) != maxOrigins+1 || list[0] != "0" || list[maxOrigins] != moreOrigins {
		t.Errorf("%d origins, %q", len(list), list)
	}
	before := []string{"a", "b"}[:1]
	if AddOrigins(before, "c"); before[:2][1] != "b" {
		t.Error("the list was changed in place")
	}
}

func TestUse_refused(t *testing.T) {
	t.Parallel()
	foreign := []string{"web w"}
	for name, tt := range map[string]struct {
		use     Use
		origins []string
		want    string
	}{
		"nothing foreign, network": {use: Use{Network: true}},
		"nothing foreign, write":   {use: Use{Writes: true, Changes: []string{"a.md"}}},
		"reading":                  {use: Use{}, origins: foreign},
		"network":                  {use: Use{Network: true}, origins: foreign, want: "network"},
		"network that is granted":  {use: Use{Network: true, Granted: true}, origins: foreign},
		"an output":                {use: Use{Writes: true, Changes: []string{"a.md"}, Outputs: []string{"b.md", "a.md"}}, origins: foreign},
		"another file":             {use: Use{Writes: true, Changes: []string{"a.md", "c.md"}, Outputs: []string{"a.md"}}, origins: foreign, want: "c.md"},
		"any file":                 {use: Use{Writes: true, Outputs: []string{"a.md"}}, origins: foreign, want: "not among"},
		"any file that is granted": {use: Use{Writes: true, Granted: true}, origins: foreign},
		"network and an output":    {use: Use{Network: true, Writes: true, Changes: []string{"a.md"}, Outputs: []string{"a.md"}}, origins: foreign, want: "network"},
	} {
		if got := tt.use.Refused(tt.origins); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
