package note

import (
	"strings"
	"testing"
)

func unitesTags(name string) bool {
	return isTags(name) || isAliases(name) || strings.EqualFold(name, "people")
}

func TestSetProperties_united(t *testing.T) {
	t.Parallel()
	front := func(lines string) string { return "---\n" + lines + "---\nBody\n" }
	for _, tt := range []struct{ name, note, add, want string }{
		{"a block list gets what it lacks", front("tags:\n  - 'b'   # mine\n  - a\nx: 1\n"), `{"tags": ["a","c"]}`, front("tags:\n  - 'b'   # mine\n  - a\n  - c\nx: 1\n")},
		{"a list without indent", front("tags:\n- b\n\n# of x\nx: 1\n"), `{"tags": ["c","d e"]}`, front("tags:\n- b\n- c\n- d e\n\n# of x\nx: 1\n")},
		{"a deep indent", front("tags:\n      - b\n"), `{"tags": ["c"]}`, front("tags:\n      - b\n      - c\n")},
		{"an indented mapping", front("  x: 1\n  tags:\n    - b\n"), `{"tags": ["c"]}`, front("  x: 1\n  tags:\n    - b\n    - c\n")},
		{"a flow list", front("tags: [b,  'a b'] # mine\n"), `{"tags": ["c","x, y"]}`, front("tags: [b,  'a b', c, \"x, y\"] # mine\n")},
		{"a flow list with a last comma", front("tags: [b, a, ]\n"), `{"tags": ["c"]}`, front("tags: [b, a, c, ]\n")},
		{"a flow list of lines", front("tags: [b,\n  a # mine\n  ]\nx: 1\n"), `{"tags": ["c"]}`, front("tags: [b,\n  a # mine\n  , c\n  ]\nx: 1\n")},
		{"an empty flow list", front("tags: []\n"), `{"tags": ["c"]}`, front("tags: [c]\n")},
		{"an empty property", front("tags:\nx: 1\n"), `{"tags": ["c"]}`, front("tags:\n  - c\nx: 1\n")},
		{"null", front("tags: ~ # none yet\n"), `{"tags": ["c"]}`, front("tags: # none yet\n  - c\n")},
		{"a comment that looks like tags", front("tags: #b #a\n"), `{"tags": ["c"]}`, front("tags: #b #a\n  - c\n")},
		{"an empty item", front("tags:\n  - \nx: 1\n"), `{"tags": ["c"]}`, front("tags:\n  - \n  - c\nx: 1\n")},
		{"one word", front("tags: b # mine\n"), `{"tags": ["c"]}`, front("tags: [b, c] # mine\n")},
		{"words divided by commas", front("tags: b, a/x\n"), `{"tags": ["c","A/X"]}`, front("tags: [b, a/x, c]\n")},
		{"words divided by blanks", front("tags: b a\n"), `{"tags": ["c"]}`, front("tags: [b, a, c]\n")},
		{"words in quotes", front("tags: \"#b, #a\"\n"), `{"tags": ["c"]}`, front("tags: [\"#b\", \"#a\", c]\n")},
		{"one word in quotes", front("tags: '2026'\n"), `{"tags": ["c"]}`, front("tags: ['2026', c]\n")},
		{"a number", front("tags: 2026\n"), `{"tags": ["c", "2026"]}`, front("tags: [2026, c]\n")},
		{"words in lines", front("tags: |\n  b\n  a\nx: 1\n"), `{"tags": ["c"]}`, front("tags:\n  - b\n  - a\n  - c\nx: 1\n")},
		{"an alias with a comma in quotes", front("aliases: \"Smith, John\"\n"), `{"aliases": ["J. S."]}`, front("aliases: [\"Smith, John\", J. S.]\n")},
		{"aliases divided by commas", front("aliases: My Note, Other\n"), `{"aliases": ["Third", "Other"]}`, front("aliases: [My Note, Other, Third]\n")},
		{"another property is one item", front("people: Smith, John\n"), `{"people": ["Ann"]}`, front("people: [\"Smith, John\", Ann]\n")},
		{"without # and case", front("tags:\n  - Ship\n  - \"#Été\"\n"), `{"tags": ["#ship", "été", "E\u0301te\u0301", "new", "#NEW"]}`, front("tags:\n  - Ship\n  - \"#Été\"\n  - new\n")},
		{"aliases with case", front("aliases: [Ship]\n"), `{"aliases": ["ship", "Ship"]}`, front("aliases: [Ship, ship]\n")},
		{"the name without case", front("Tags: [b]\n"), `{"tags": ["c"]}`, front("Tags: [b, c]\n")},
		{"the singular stays", front("tag: b\n"), `{"tags": ["c"]}`, front("tag: b\ntags:\n  - c\n")},
		{"the singular is united", front("tag: b\n"), `{"tag": "c"}`, front("tag: [b, c]\n")},
		{"an answer in words", front("tags: [b]\n"), `{"tags": "c, #d b"}`, front("tags: [b, c, d]\n")},
		{"an empty answer takes nothing", front("tags: [b]\n"), `{"tags": []}`, front("tags: [b]\n")},
		{"null takes nothing", front("tags: [b]\n"), `{"tags": null, "aliases": null}`, front("tags: [b]\n")},
		{"nothing new", front("tags:  [ b,a ]\n"), `{"tags": ["A", "b"]}`, front("tags:  [ b,a ]\n")},
		{"JSON between the marks, nothing new", "---\n{\"tags\":[\"b\"]}\n---\n", `{"tags": ["b"]}`, "---\n{\"tags\":[\"b\"]}\n---\n"},
		{"JSON between the marks", "---\n{\"tags\": [\"b\"]}\n---\n", `{"tags": ["c"]}`, "---\n\"tags\": [\"b\", c]\n---\n"},
		{"no properties yet", "Body\n", `{"tags": ["#c", "C", "d"]}`, "---\ntags:\n  - c\n  - d\n---\nBody\n"},
		{"others are replaced", front("tags: [b]\nkind: [x]\n"), `{"tags": ["c"], "kind": ["y"]}`, front("tags: [b, c]\nkind:\n  - y\n")},
		{"items that are no texts", front("people:\n  - name: Ann\n    age: 3\n  - 12\n"), `{"people": [{"name":"Ann","age":3}, {"name":"Bo"}, 12, true]}`, front("people:\n  - name: Ann\n    age: 3\n  - 12\n  - name: Bo\n  - true\n")},
		{"links", front("people: [\"[[Ann]]\"]\n"), `{"people": ["[[Ann]]", "[[Bo]]"]}`, front("people: [\"[[Ann]]\", \"[[Bo]]\"]\n")},
		{"CRLF", "---\r\ntags:\r\n  - b\r\nx: 1\r\n---\r\n", `{"tags": ["c", "d"]}`, "---\r\ntags:\r\n  - b\r\n  - c\r\n  - d\r\nx: 1\r\n---\r\n"},
		{"an anchor that nobody uses", front("tags: &t [b]\n"), `{"tags": ["c"]}`, front("tags: &t [b, c]\n")},
		{"an alias", front("x: &t [b]\ntags: *t\n"), `{"tags": ["c"]}`, front("x: &t [b]\ntags:\n  - b\n  - c\n")},
		{"a text at the end of a list", front("people:\n  - |\n    a\n    # b\nx: 1\n"), `{"people": ["c"]}`, front("people:\n  - |\n    a\n    # b\n  - c\nx: 1\n")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := SetProperties([]byte(tt.note), tt.add, unitesTags)
			if err != nil || string(got) != tt.want {
				t.Errorf("SetProperties(%q, %s):\n%q, %v, want\n%q", tt.note, tt.add, got, err, tt.want)
			}
			if again, err := SetProperties(got, tt.add, unitesTags); err != nil || string(again) != string(got) {
				t.Errorf("the second time it is %q, %v, want no change", again, err)
			}
		})
	}
}

func TestSetProperties_notUnited(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, note, add, want string }{
		{"a mapping", "---\ntags: {a: 1}\n---\n", `{"tags": ["b"]}`, "make it a list, or write union=none"},
		{"a mapping in the answer", "---\ntags: [a]\n---\n", `{"tags": {"a": 1}}`, "ask for a list"},
		{"an anchor in use", "---\ntags: &t [a]\nx: *t\n---\n", `{"tags": ["b"]}`, "cannot be changed in place"},
		{"twice in the note", "---\ntags: a\ntags: b\n---\n", `{"tags": ["c"]}`, "already defined at line 2"},
	} {
		if got, err := SetProperties([]byte(tt.note), tt.add, unitesTags); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %q, %v, want an error with %q", tt.name, got, err, tt.want)
		}
	}
}
