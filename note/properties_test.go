package note

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/chunking"
)

func TestMergeProperties(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, note, add, want string }{
		{"a value is replaced in place", "---\na: 1 # one\nb: x\n---\nBody\n", `{"a": 2}`, "---\na: 2 # one\nb: x\n---\nBody\n"},
		{"the rest keeps its looks", "---\n# top\na:   'x'   # c\n\nb: [1,2]  # list\n---\n\nText", `{"c": true}`, "---\n# top\na:   'x'   # c\n\nb: [1,2]  # list\nc: true\n---\n\nText"},
		{"a new key comes last", "---\na: 1\n# end\n---\n", `{"z": "q", "b": 1.50}`, "---\na: 1\n# end\nz: q\nb: 1.50\n---\n"},
		{"null removes", "---\na: 1\nb:\n  - x\n  - y\n\n# of c\nc: 3\n---\n", `{"b": null, "nope": null}`, "---\na: 1\n\n# of c\nc: 3\n---\n"},
		{"the last one is removed", "---\na: 1\n---\nB\n", `{"a": null}`, "---\n---\nB\n"},
		{"list for a scalar", "---\ntags: old # why\nb: 1\n---\n", `{"tags": ["a", "b c"]}`, "---\ntags: # why\n  - a\n  - b c\nb: 1\n---\n"},
		{"scalar for a list", "---\ntags: # why\n  - a\n  - b\nb: 1\n---\n", `{"tags": "x"}`, "---\ntags: x # why\nb: 1\n---\n"},
		{"list for a list without indent", "---\ntags:\n- a\n- b\nb: 1\n---\n", `{"tags": ["c"]}`, "---\ntags:\n  - c\nb: 1\n---\n"},
		{"list for a flow list", "---\ntags: [a, \"b]\",\n  c]  # d\nb: 1\n---\n", `{"tags": ["x"]}`, "---\ntags:  # d\n  - x\nb: 1\n---\n"},
		{"block text", "---\na: |-\n  one\n\n  # two\n\n# of b\nb: 1\n---\n", `{"a": "x"}`, "---\na: x\n\n# of b\nb: 1\n---\n"},
		{"plain text over lines", "---\na: one\n  two\n\n  three # c\nb: 1\n---\n", `{"a": "x"}`, "---\na: x # c\nb: 1\n---\n"},
		{"no value yet", "---\na:\nb: # soon\n---\n", `{"a": "x", "b": "y"}`, "---\na: x\nb: y # soon\n---\n"},
		{"quotes with marks in them", "---\na: 'it''s # no' # c\nb: \"q\\\" # no\" # d\n---\n", `{"a": "x", "b": "y"}`, "---\na: x # c\nb: y # d\n---\n"},
		{"keys in quotes and with colons", "---\n\"a: b\": 1\nhttp://x: 2\n---\n", `{"a: b": 3, "http://x": 4}`, "---\n\"a: b\": 3\nhttp://x: 4\n---\n"},
		{"the same value changes nothing", "---\ntags: [a,  b]\ndate: 2026-03-01\nn: 'x'\n---\n", `{"tags": ["a","b"], "date": "2026-03-01", "n": "x"}`, "---\ntags: [a,  b]\ndate: 2026-03-01\nn: 'x'\n---\n"},
		{"names without case", "---\nTags: x\n---\n", `{"tags": "y"}`, "---\nTags: y\n---\n"},
		{"the exact name first", "---\nTags: x\ntags: y\n---\n", `{"tags": "z"}`, "---\nTags: x\ntags: z\n---\n"},
		{"CRLF", "---\r\na: 1\r\nb: [x]\r\n---\r\nText\r\n", `{"a": ["q"], "c": "two\nlines"}`, "---\r\na:\r\n  - q\r\nb: [x]\r\nc: |-\r\n  two\r\n  lines\r\n---\r\nText\r\n"},
		{"no frontmatter", "Text\n", `{"a": 1}`, "---\na: 1\n---\nText\n"},
		{"no frontmatter, CRLF", "Text\r\nmore", `{"a": 1}`, "---\r\na: 1\r\n---\r\nText\r\nmore"},
		{"a byte order mark stays first", "\xef\xbb\xbfText\n", `{"a": 1}`, "\xef\xbb\xbf---\na: 1\n---\nText\n"},
		{"byte order mark before properties", "\xef\xbb\xbf---\na: 1\n---\n", `{"a": 2}`, "\xef\xbb\xbf---\na: 2\n---\n"},
		{"new file", "", `{"a": null, "b": []}`, "---\nb: []\n---\n"},
		{"nothing to remove", "Text\n", `{"a": null}`, "Text\n"},
		{"an unclosed mark is a rule", "---\nText\n", `{"a": 1}`, "---\na: 1\n---\n---\nText\n"},
		{"empty frontmatter", "---\n---\nText\n", `{"a": 1}`, "---\na: 1\n---\nText\n"},
		{"only a comment", "---\n# hi\n---\n", `{"a": 1}`, "---\n# hi\na: 1\n---\n"},
		{"JSON between the marks", "---\n{\"a\": 1, \"b\": [\"x\"]}\n---\nText\n", `{"a": 2}`, "---\n\"a\": 2\n\"b\": [\"x\"]\n---\nText\n"},
		{"indented mapping", "---\n  a: 1\n  b:\n    - x\n---\n", `{"b": ["y"], "c": 3}`, "---\n  a: 1\n  b:\n    - y\n  c: 3\n---\n"},
		{"wikilinks are quoted", "", `{"up": "[[Plan|the plan]]", "all": ["[[A]]"]}`, "---\nup: \"[[Plan|the plan]]\"\nall:\n  - \"[[A]]\"\n---\n"},
		{
			"quotes only when needed", "", `{"a":"12","b":"true","c":"x: y","d":"#t","e":"2026-03-01","f":"a-b","g":"","h":" x","i":"12:30","j":"null","k":"yes","l":"C#"}`,
			"---\na: \"12\"\nb: \"true\"\nc: \"x: y\"\nd: \"#t\"\ne: 2026-03-01\nf: a-b\ng: \"\"\nh: \" x\"\ni: 12:30\nj: \"null\"\nk: \"yes\"\nl: C#\n---\n",
		},
		{"deep values", "", `{"m": {"a": [{"x": 1, "y": [2]}, [3]], "b": {}}}`, "---\nm:\n  a:\n    - x: 1\n      y:\n        - 2\n    -\n      - 3\n  b: {}\n---\n"},
		{"an anchor that nobody uses", "---\na: &x 1 # c\nb: 2\n---\n", `{"a": 3}`, "---\na: 3 # c\nb: 2\n---\n"},
		{"characters of more bytes", "---\nзаметка: да # c\n名: [ü, ö] # d\n---\n", `{"заметка": "нет", "名": "x"}`, "---\nзаметка: нет # c\n名: x # d\n---\n"},
		{"in a fence", "---\na: 1\n---\n", "```json\n{\"a\": 2}\n```", "---\na: 2\n---\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := SetProperties([]byte(tt.note), tt.add, nil)
			if err != nil || string(got) != tt.want {
				t.Errorf("SetProperties(%q, %s):\n%q, %v, want\n%q", tt.note, tt.add, got, err, tt.want)
			}
			again, err := SetProperties(got, tt.add, nil)
			if err != nil || string(again) != string(got) {
				t.Errorf("the second merge of %s gives %q, %v, want no change of %q", tt.add, again, err, got)
			}
		})
	}
}

func TestMergeProperties_refused(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, note, add, want string }{
		{"template", "---\ncreated: {{date}}\n---\n", `{"a": 1}`, "not valid YAML: line "},
		{"at sign", "---\nwho: @me\n---\n", `{"a": 1}`, "not valid YAML"},
		{"twice", "---\na: 1\na: 2\n---\n", `{"b": 1}`, "already defined at line 2"},
		{"a list", "---\n- a\n---\n", `{"b": 1}`, "not valid YAML"},
		{"tabs", "---\na:\n\t- b\n---\n", `{"b": 1}`, "not valid YAML"},
		{"an anchor in use", "---\na: &x 1\nb: *x\n---\n", `{"a": 2}`, "cannot be changed in place"},
		{"a question mark key", "---\n? a\n: 1\n---\n", `{"a": 2}`, "cannot be changed in place"},
		{"a list is no object", "", `["a"]`, "no JSON object"},
		{"words", "", `Sure, here it is`, "no JSON"},
		{"two values", "", `{"a":1} {"b":2}`, "no JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := SetProperties([]byte(tt.note), tt.add, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "yaml:") || got != nil {
				t.Errorf("SetProperties(%q, %s) = %q, %v, want an error with %q", tt.note, tt.add, got, err, tt.want)
			}
		})
	}
}

// The entries of the random frontmatters: each is a property in one of the ways that people write them.
var entryForms = []string{
	"K: plain\n", "K: 'it''s'  # c\n", "K: \"a \\\" # b\"\n", "K:\n", "K: # later\n", "K:\n  - a\n  - b: 1\n    c: [x]\n", "K:\n- a\n# in\n- b\n",
	"K: [a, 'b,]', \"c\"] # d\n", "K: {a: 1, b: 'x}'}\n", "K: |\n  text\n  # no comment\n\n  more\n", "K: >-\n  folded\n  text\n", "K: one\n  two\n\n  three\n",
	"K:\n  a: 1\n  b:\n    - c\n", "K: 2026-03-01\n", "K: !!str 12\n", "K: \"[[Note]]\"\n", "K: [a,\n  b, # e\n  c]\n", "K:   spaced   \n", "K: ünï\n", "\"K\": 'x'\n",
}

var otherLines = []string{"", "", "# comment\n", "\n", "  # indented\n", "\n# a\n\n"}

// TestMergeProperties_touchesNothingElse builds random notes and changes random properties: what was not asked for is
// there byte for byte, in order, and the result reads as wanted.
func TestMergeProperties_touchesNothingElse(t *testing.T) {
	t.Parallel()
	values := []any{"x", "[[A]]", true, []any{"a", "b"}, []any{}, "two\nlines", Object{{"k", "v"}}, nil}
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 7))
		keys := []string{"alpha", "b-2", "Gamma", "d d", "e_5"}[:1+r.IntN(5)]
		pieces := make([][2]string, len(keys)) // entry, and what stands behind it
		front := ""
		for i, key := range keys {
			pieces[i] = [2]string{strings.Replace(entryForms[r.IntN(len(entryForms))], "K", key, 1), otherLines[r.IntN(len(otherLines))]}
			if strings.ContainsAny(pieces[i][0], "|>") && strings.Contains(pieces[i][1], " ") {
				pieces[i][1] = "\n" // an indented line would be text of the block
			}
			front += pieces[i][0] + pieces[i][1]
		}
		at, value := r.IntN(len(keys)), values[r.IntN(len(values))]
		note := "---\n" + front + "---\nBody: text\n# not a comment\n"
		if r.IntN(3) == 0 {
			note = strings.ReplaceAll(note, "\n", "\r\n")
		}
		got, err := mergeProperties([]byte(note), Object{{keys[at], value}}, nothing)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, note)
		}
		before, after := "---\n", "---\nBody: text\n# not a comment\n"
		for i, p := range pieces {
			switch {
			case i < at:
				before += p[0] + p[1]
			case i == at:
				if value == nil { // an indented comment goes with its property
					p[1] = strings.Replace(p[1], "  # indented\n", "", 1)
				}
				after = p[1] + partAfter(pieces[i+1:]) + after
			}
		}
		if LineEnd([]byte(note)) == "\r\n" {
			before, after = strings.ReplaceAll(before, "\n", "\r\n"), strings.ReplaceAll(after, "\n", "\r\n")
		}
		if !strings.HasPrefix(string(got), before) || !strings.HasSuffix(string(got), after) || len(got) < len(before)+len(after) {
			t.Fatalf("seed %d, %s = %v:\n%q\nbecame\n%q\nwant it to begin with\n%q\nand to end with\n%q", seed, keys[at], value, note, got, before, after)
		}
		if strings.Contains(strings.ReplaceAll(string(got), "\r\n", ""), "\r") || LineEnd([]byte(note)) == "\r\n" && strings.Contains(strings.ReplaceAll(string(got), "\r\n", ""), "\n") {
			t.Fatalf("seed %d: mixed line ends in %q", seed, got)
		}
	}
}

func partAfter(pieces [][2]string) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p[0] + p[1])
	}
	return b.String()
}

// TestYAMLText_readsBack writes random strings and reads them with the YAML library.
func TestYAMLText_readsBack(t *testing.T) {
	t.Parallel()
	alphabet := []rune("aZ0 \n\t:#-'\"[]{}&*!|>%@`?,~=.\\/_é漢😀\u0085\u2028\u00a0\ufeff\x01")
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 3))
		word := make([]rune, r.IntN(9))
		for i := range word {
			word[i] = alphabet[r.IntN(len(alphabet))]
		}
		for _, value := range []any{string(word), []any{string(word), "x"}, Object{{string(word), string(word)}, {"z", json1}}} {
			var got any
			text := "k:" + yamlText(value, "") + "\n"
			if err := yaml.Unmarshal([]byte(text), &got); err != nil {
				t.Fatalf("%q: %v\n%s", word, err, text)
			}
			var list []string
			collectStrings(got, &list)
			if n := count(list, string(word)); n == 0 && !strings.Contains(string(word), "\ufeff") {
				t.Fatalf("%q was written as\n%sand read as %q", string(word), text, list)
			}
		}
	}
}

const json1 = "1"

func collectStrings(v any, into *[]string) {
	switch v := v.(type) {
	case string:
		*into = append(*into, v)
	case []any:
		for _, item := range v {
			collectStrings(item, into)
		}
	case map[string]any:
		for _, item := range v {
			collectStrings(item, into)
		}
	}
}

func count(list []string, want string) int {
	n := 0
	for _, s := range list {
		if s == want {
			n++
		}
	}
	return n
}

// TestMergeProperties_realNotes changes a property of every note of the test vault and back.
func TestMergeProperties_realNotes(t *testing.T) {
	t.Parallel()
	notes := 0
	err := filepath.WalkDir(filepath.Join("..", "testdata", "vault"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		note, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		notes++
		size, front := chunking.Frontmatter(note)
		var all map[string]any
		if yaml.Unmarshal(front, &all) != nil {
			return nil // a template: merging must refuse it, which another test shows
		}
		got, err := mergeProperties(note, Object{{"vaultflow-test", "x"}}, nothing)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		back, err := mergeProperties(got, Object{{"vaultflow-test", nil}}, nothing)
		if err != nil || size > 0 && !reflect.DeepEqual(back, note) {
			t.Errorf("%s: adding and removing a property changes the note (%v)", path, err)
		}
		return nil
	})
	if err != nil || notes < 5 {
		t.Fatalf("%d notes, %v", notes, err)
	}
}

// nothing is united.
func nothing(string) bool { return false }
