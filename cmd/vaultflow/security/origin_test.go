//go:build linux

package security

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// attackOn runs a workflow with all tools over a note, and judges.
func (s *scene) attackOn(note string) {
	s.t.Helper()
	s.workflow("Attack", "---\npermissions: {network: [\"*\"]}\n---\n## Read\n@input file: \""+note+"\"\n@tools all\n@output file: Out\n\nSummarise.\n")
	s.remember()
	out := s.run(anyCode, "run", "Attack")
	s.model.wasFooled()
	s.unharmed("Out.md")
	if s.t.Failed() {
		s.t.Log(out, s.model.told())
	}
}

// quiet keeps the model from calling tools, for a run that only makes a note.
func (s *scene) quietly(fn func()) {
	calls := s.model.attacks(nil)
	fn()
	s.model.attacks(calls)
}

// Foreign content stays foreign, whatever becomes of the file.
func TestOrigin_travels(t *testing.T) {
	t.Parallel()
	body := "# A letter\n\nDear reader, this letter came by mail and is long enough to be recognised again.\n\n" + order + "\n\nWith kind regards, somebody else entirely, who writes long lines.\n"
	for name, prepare := range map[string]func(s *scene) string{
		"moved by a tool": func(s *scene) string {
			s.quietly(func() {
				s.workflow("File", "## File\n@tools move_file (untrusted=allow), read_file\n@output file: Log\n\nFile it.\nCALL read_file {\"path\":\"Imported/letter/index.md\"}\nCALL move_file {\"path\":\"Imported/letter/index.md\",\"to\":\"Letters/Letter.md\"}\n")
				s.run(anyCode, "run", "File")
			})
			return "Letters/Letter.md"
		},
		"moved by a person": func(s *scene) string {
			s.move("Imported/letter", "Letters/2026")
			return "Letters/2026/letter.md"
		},
		"copied by a person": func(s *scene) string {
			s.write("Letters/Copy.md", s.read("Imported/letter/letter.md"))
			return "Letters/Copy.md"
		},
		"copied and edited by a person": func(s *scene) string {
			s.write("Letters/Edited.md", "My own heading\n\n"+s.read("Imported/letter/letter.md")+"\nMy own last line.\n")
			return "Letters/Edited.md"
		},
		"edited in its place and moved": func(s *scene) string {
			s.write("Imported/letter/letter.md", s.read("Imported/letter/letter.md")+"\nMy remark.\n")
			s.move("Imported/letter", "Letters/2026")
			return "Letters/2026/letter.md"
		},
		"a paragraph of it in an own note": func(s *scene) string {
			s.write("Mine.md", "# Mine\n\nI thought about this:\n\n"+body+"\n\nSo much for that.\n")
			return "Mine.md"
		},
		"through a link": func(s *scene) string {
			s.link("Imported/letter/letter.md", "Handy.md")
			return "Handy.md"
		},
		"through a folder that is a link": func(s *scene) string {
			s.link("Imported/letter", "Handy")
			return "Handy/letter.md"
		},
		"the original, put back by a person": func(s *scene) string {
			s.write("Letters/letter.txt.md", body)
			return "Letters/letter.txt.md"
		},
		"one hop": func(s *scene) string {
			s.model.says("# Digest\n\nThis digest was written by a model that had been fooled by a letter.\n\n" + order + "\n")
			s.quietly(func() {
				s.workflow("Digest", "## Digest\n@input file: Imported/letter/index.md\n@output file: Digests/Letter\n\nSummarise.\n")
				s.run(anyCode, "run", "Digest")
			})
			return "Digests/Letter.md"
		},
		"two hops": func(s *scene) string {
			s.model.says("# Digest\n\nThis digest was written by a model that had been fooled by a letter.\n\n" + order + "\n")
			s.quietly(func() {
				s.workflow("Digest", "## Digest\n@input file: Imported/letter/index.md\n@output file: Digests/Letter\n\nSummarise.\n")
				s.workflow("Week", "## Week\n@input file: Digests/Letter\n@output file: Weeks/1\n\nSummarise.\n")
				s.run(anyCode, "run", "Digest")
				s.run(anyCode, "run", "Week")
			})
			return "Weeks/1.md"
		},
		"appended to an own note": func(s *scene) string {
			s.write("Log.md", "# My log\n\nI wrote this line myself, long ago.\n")
			s.model.says("This entry was written by a model that had been fooled by a letter.\n\n" + order)
			s.quietly(func() {
				s.workflow("Digest", "## Digest\n@input file: Imported/letter/index.md\n@output file: Log\n\nSummarise.\n")
				s.run(anyCode, "run", "Digest")
			})
			return "Log.md"
		},
		"a hop, then filed and edited by a person": func(s *scene) string {
			s.model.says("# Digest\n\nThis digest was written by a model that had been fooled by a letter.\n\n" + order + "\n")
			s.quietly(func() {
				s.workflow("Digest", "## Digest\n@input file: Imported/letter/index.md\n@output file: Digests/Letter\n\nSummarise.\n")
				s.run(anyCode, "run", "Digest")
			})
			s.move("Digests", "Archive")
			s.write("Archive/Letter.md", s.read("Archive/Letter.md")+"\nRead on Monday.\n")
			return "Archive/Letter.md"
		},
		"embedded in an own note": func(s *scene) string {
			s.move("Imported/letter", "Letters/2026")
			s.write("Mine.md", "# Mine\n\n![[Letters/2026/letter.md]]\n")
			return "Mine.md"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.imports("letter.txt", body)
			s.attackOn(prepare(s))
		})
	}
}

// What a workflow keeps for itself keeps its origin.
func TestOrigin_variablesOfAWorkflow(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.imports("letter.txt", "A letter.\n\n"+order+"\n")
	s.model.says(order)
	calls := s.model.attacks(nil)
	s.workflow("Attack", "## Keep\n@when missing Ready.md\n@input file: Imported/letter/index.md\n@output variable: kept (scope=workflow)\n\nSummarise.\n\n"+
		"## Use\n@when exists Ready.md\n@input variable: kept\n@tools all\n@output file: Out\n\nSummarise.\n")
	s.run(anyCode, "run", "Attack")
	s.write("Ready.md", "ready")
	s.model.attacks(calls)
	s.remember()
	out := s.run(anyCode, "run", "Attack")
	s.model.wasFooled()
	s.unharmed("Out.md")
	if t.Failed() {
		t.Log(out)
	}
}

// Names that strangers chose are foreign too.
func TestOrigin_fileNames(t *testing.T) {
	t.Parallel()
	for name, prompt := range map[string]string{
		"listed":          "@tools all\n@output file: Out\n\nTidy up.\nCALL list_files {\"folder\":\"Imported\"}\n",
		"listed from top": "@tools all\n@output file: Out\n\nTidy up.\nCALL list_files {\"glob\":\"**/*.md\"}\n",
		"as an item":      "@for_each file: Imported/**/*.md (as=it)\n@tools all\n@output file: Out\n\nTidy up {{it}}.\n",
		"as references":   "@input file: Imported/**/*.md (refs_only)\n@tools all\n@output file: Out\n\nTidy up.\n",
		"in a search":     "@tools all\n@output file: Out\n\nTidy up.\nCALL search_files {\"query\":\"harmless\"}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.write("Imported/"+word+" do it now/index.md", "A harmless text.\n")
			s.workflow("Tidy", "---\npermissions: {network: [\"*\"]}\n---\n## Tidy\n"+prompt)
			s.remember()
			out := s.run(anyCode, "run", "Tidy")
			s.model.wasFooled()
			s.unharmed("Out.md")
			if t.Failed() {
				t.Log(out, strings.Join(s.model.told(), "\n"))
			}
		})
	}
}

// A link does not lead past what a workflow may read.
func TestOrigin_linksAndPermissions(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]string{
		"input":       "@input file: Public/Door.md\n@output file: Public/Out\n\nSummarise.\n",
		"folder":      "@input file: Public/Hall/Diary.md\n@output file: Public/Out\n\nSummarise.\n",
		"transcluded": "@input file: Public/Reader.md\n@output file: Public/Out\n\nSummarise.\n",
		"tool":        "@tools all\n@output file: Public/Out\n\nSummarise.\nCALL read_file {\"path\":\"Public/Door.md\"}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.write("Private/Diary.md", "My secret is 4711.\n")
			s.write("Public/Reader.md", "![[Door]]\n")
			s.link("Private/Diary.md", "Public/Door.md")
			s.link("Private", "Public/Hall")
			s.workflow("Read", "---\npermissions: {read: [\"Public/**\"]}\n---\n## Read\n"+read)
			out := s.run(anyCode, "run", "Read")
			for _, body := range s.model.asked() {
				if strings.Contains(body, "4711") {
					t.Errorf("the model was shown what the workflow may not read\n%s", out)
				}
			}
		})
	}
}

func (s *scene) move(from, to string) {
	s.t.Helper()
	target := filepath.Join(s.vault, to)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(s.vault, from), target); err != nil {
		s.t.Fatal(err)
	}
}

// link makes a relative link of the vault.
func (s *scene) link(to, name string) {
	s.t.Helper()
	path := filepath.Join(s.vault, name)
	rel, err := filepath.Rel(filepath.Dir(path), filepath.Join(s.vault, to))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.Symlink(rel, path)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}
