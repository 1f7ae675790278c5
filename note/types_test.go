package note

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestTypes(t *testing.T) {
	t.Parallel()
	types := ReadTypes(fstest.MapFS{TypesFile: {Data: []byte(`{"types":{"list":"multitext","Tags":"tags","aliases":"aliases","text":"text","number":"number","done":"checkbox","date":"date","due":"datetime","odd":"later"}}`)}})
	for answer, want := range map[string]string{
		`{"list": "a"}`:                                   "list:\n  - a\n",
		`{"list": [1, true, "x"]}`:                        "list:\n  - \"1\"\n  - \"true\"\n  - x\n",
		`{"TAGS": "a"}`:                                   "TAGS:\n  - a\n",
		`{"aliases": 7}`:                                  "aliases:\n  - \"7\"\n",
		`{"text": 12}`:                                    "text: \"12\"\n",
		`{"text": ["only"]}`:                              "text: only\n",
		`{"number": "3.50"}`:                              "number: 3.50\n",
		`{"number": 4}`:                                   "number: 4\n",
		`{"done": "true"}`:                                "done: true\n",
		`{"date": "2026-11-22T00:00:00"}`:                 "date: 2026-11-22\n",
		`{"date": "2026-11-22"}`:                          "date: 2026-11-22\n",
		`{"due": "2026-11-22 10:30"}`:                     "due: 2026-11-22T10:30:00\n",
		`{"due": "2026-11-22"}`:                           "due: 2026-11-22T00:00:00\n",
		`{"odd": 1, "other": ["x"]}`:                      "odd: 1\nother:\n  - x\n",
		"```json\n{\"text\": 1}\n```":                     "text: \"1\"\n",
		`{"text": ["a", "b"]}`:                            "!text:\n  - a\n  - b\n",
		`{"number": "about 3"}`:                           "!number: about 3\n",
		`{"number": "007"}`:                               "!number: \"007\"\n",
		`{"done": "maybe"}`:                               "!done: maybe\n",
		`{"date": "2026-11-22T10:00"}`:                    "!date: 2026-11-22T10:00\n",
		`{"date": "tomorrow"}`:                            "!date: tomorrow\n",
		`{"due": "2026-11-22T10:00:00+02:00"}`:            "!due: 2026-11-22T10:00:00+02:00\n",
		`{"list": [{"a": 1}]}`:                            "!list:\n  - a: 1\n",
		`{"date": null, "text": null, "number": "1e400"}`: "number: 1e400\n",
	} {
		typed, unfit := types.Typed(answer)
		got, err := SetProperties(nil, typed, nil)
		text := strings.TrimSuffix(strings.TrimPrefix(string(got), "---\n"), "---\n")
		if len(unfit) > 0 {
			text = "!" + text
		}
		if err != nil || text != want {
			t.Errorf("%s: %q, %v, want %q", answer, text, err, want)
		}
	}
	if _, unfit := types.Typed(`{"date": "x", "text": 1, "number": {}}`); !slices.Equal(unfit, []string{"date", "number"}) {
		t.Errorf("unfit %q", unfit)
	}
	if got, _ := types.Typed("no JSON"); got != "no JSON" {
		t.Errorf("%q", got)
	}
}

// Without the file, or with one that cannot be read, nothing changes.
func TestReadTypes_tolerant(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"none": "", "broken": `{"types": {"a":`, "another": `[]`, "other kinds": `{"types": {"a": {"b": 1}}}`, "large": `{"types": {"a": "` + strings.Repeat("x", maxTypes) + `"}}`} {
		files := fstest.MapFS{}
		if text != "" {
			files[TypesFile] = &fstest.MapFile{Data: []byte(text)}
		}
		if got, unfit := ReadTypes(files).Typed(`{"a": 1}`); got != `{"a": 1}` || len(unfit) > 0 {
			t.Errorf("%s: %q, %q", name, got, unfit)
		}
	}
}
