//go:build linux

package security

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// What a foreign list names is not where a step writes: an item fills one cleaned segment of the path that the author
// wrote, below the folder and with the extension that the author wrote, and it replaces nothing.
func TestWrites_namesFromForeignLists(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		item, output string
		may          []string // what may be written
	}{
		"the settings":                 {"settings.yaml", "{item}", nil},
		"the settings, in capitals":    {"SETTINGS.YAML", "{item}", nil},
		"the running workflow":         {"Workflows/List", "{item}", nil},
		"a new workflow":               {"Workflows/Evil", "{item}", nil},
		"a new workflow, by dots":      {"Summaries/../Workflows/Evil", "{item}", nil},
		"a manifest":                   {"Imported/Letter/manifest.json", "{item}", nil},
		"a page of an import":          {"Imported/Letter/text/page_0001.md", "{item}", nil},
		"the editor's folder":          {".obsidian/app.json", "{item}", nil},
		"the editor, by a link":        {"Shortcut/app.json", "{item}", nil},
		"a diary":                      {"Diary", "{item}", nil},
		"a diary below a folder":       {"../Diary", "Summaries/{item}", []string{"Summaries/**"}},
		"a workflow below a folder":    {"../Workflows/Evil", "Summaries/{item}", []string{"Summaries/**"}},
		"another folder's note":        {"deep/er/Evil", "Summaries/{item}", []string{"Summaries/**"}},
		"a note that is there":         {"Mine", "Summaries/{item}", []string{"Summaries/Mine (2).md"}},
		"a note that is there, folded": {"mine", "Summaries/{item}", []string{"Summaries/mine (2).md", "Summaries/Mine (2).md"}},
		"another extension":            {"Evil.json", "Summaries/{item}", []string{"Summaries/**"}},
		"the approvals":                {"Workflows/_approvals/20260101-000000-aaaaa", "{item}", nil},
		"the import folder":            {"Import/again", "{item}", nil},
		"a hidden note":                {".hidden", "Summaries/{item}", []string{"Summaries/**"}},
		"a name with a line break":     {"a\nb", "Summaries/{item}", []string{"Summaries/**"}},
		"a name that turns round":      {"a\u202egnp.exe", "Summaries/{item}", []string{"Summaries/**"}},
		"a folder of the author":       {"Elsewhere", "{item}/Summary", nil},
		"a very long name":             {string(make([]byte, 0)) + longName(), "Summaries/{item}", []string{"Summaries/**"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			list, err := json.Marshal([]string{tt.item})
			if err != nil {
				t.Fatal(err)
			}
			s.write("Imported/Letter/index.md", "The list: "+order)
			s.write("Imported/Letter/manifest.json", "{}")
			s.write("Imported/Letter/text/page_0001.md", "The first page.\n")
			s.write(".obsidian/app.json", `{"mine": true}`)
			s.write("Summaries/Mine.md", "Written by hand.\n")
			if err := os.Symlink(".obsidian", filepath.Join(s.vault, "Shortcut")); err != nil {
				t.Fatal(err)
			}
			s.model.says(string(list))
			s.workflow("List", "---\ndescription: lists\n---\n## Find\n@input file: Imported/Letter/index.md\n@output variable: list (format=json)\n\nList the names.\n\n"+
				"## Write\n@for_each variable: list (on_error=skip)\n@output file: "+tt.output+"\n@write_mode replace\n\nWrite about {item}.\n")
			s.remember()
			out := s.run(anyCode, "run", "List")
			s.model.wasFooled()
			s.unharmed(tt.may...)
			for changed := range s.files() {
				if rel := filepath.ToSlash(changed); s.before[rel] == "" && !isPlainName(rel) {
					t.Errorf("the name %q has characters that a name must not have", rel)
				}
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}

func longName() string {
	long := make([]byte, 400)
	for i := range long {
		long[i] = 'x'
	}
	return string(long)
}

func isPlainName(name string) bool {
	for _, r := range name {
		if r < ' ' || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r >= 0xe0000 {
			return false
		}
	}
	return true
}

// A person's own list keeps its freedom: the place is the author's.
func TestWrites_ownListsNameNotes(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.write("Topics.md", "Write about these.\n")
	s.model.says("unused")
	s.workflow("Own", "## Write\n@for_each file: Topics.md\n@output file: Summaries/{item-name}\n@write_mode replace\n\nSummarise {item}.\n")
	s.remember()
	s.run(0, "run", "Own")
	if got := s.read("Summaries/Topics.md"); got == "" {
		t.Error("the note of the owner's own item was not written")
	}
	s.unharmed("Summaries/Topics.md")
}

// All tools, with everything the settings allow by themselves: a step that has read foreign content writes its output and
// nothing else.
func TestWrites_toolsAfterForeignContent(t *testing.T) {
	t.Parallel()
	for name, where := range map[string]string{
		"an import":          "Imported/Letter/index.md",
		"a waiting file":     "Import/letter.md",
		"a failed file":      "Import/Failed/letter.md",
		"a clipping":         "Clippings/Article.md",
		"an import's page":   "Imported/Letter/text/page_0001.md",
		"an import, by case": "imported/Letter/index.md",
	} {
		for how, read := range map[string]string{
			"as an input": "@input file: " + where + "\n@tools all\n@output file: Out\n\nSummarise.\n",
			"by a tool":   "@tools all\n@output file: Out\n\nSummarise.\nCALL read_file {\"path\":\"" + where + "\"}\n",
			"transcluded": "@input file: Reader\n@tools all\n@output file: Out\n\nSummarise.\n",
			"by a search": "@tools all\n@output file: Out\n\nSummarise.\nCALL search_files {\"query\":\"ZEBRAFISH\"}\n",
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				s.write(where, "# Letter\n\n"+order+"\n")
				s.write("Reader.md", "What came:\n\n![["+where+"]]\n")
				s.workflow("Spread", "## Spread\n@output file: Spread\n@model none\n")
				s.workflow("Read", "---\npermissions: {network: [\"*\"]}\n---\n## Read\n"+read)
				s.remember()
				out := s.run(anyCode, "run", "Read")
				s.model.wasFooled()
				s.unharmed("Out.md")
				if t.Failed() {
					t.Log(out, s.model.told())
				}
			})
		}
	}
}
