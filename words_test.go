package vaultflow

import (
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// translated are phrases that read like a translation, each with what to write instead.
var translated = []struct{ phrase, instead string }{
	{`gives?|gave`, `returns, reports, has, sends: the verb for what happens`},
	{`tells|told`, `reports, says, shows`},
	{`says (whether|what|which|how|that|where|why|if|who)`, `reports, returns, or the fact itself`},
	{`stands? (for|in|on|at|behind|there|here|beside|above|below)|stood`, `is, represents`},
	{`takes? up|taken up|took up`, `resume, adopt, start`},
	{`(is|are|was|were) at work`, `is running`},
	{`goes on|go on|went on`, `continues, resumes`},
	{`of a person|a person's yes`, `a user's, yours, approval`},
	{`in its stead|thereof|therein|whereof`, `instead, of it`},
	{`(is|are|was|were) over|time is over`, `has ended, has expired`},
	{`looked for`, `searched for, checked`},
	{`put off|puts off`, `postponed, postpones`},
	{`anew`, `again`},
	{`not begun|nothing is begun`, `not started, starting again`},
	{`(cannot|could|can|is|are|be) (not )?taken back`, `undone`},
	{`each by itself|free for more`, `separately, unused`},
	{`asked of|asks of`, `asks`},
}

// TestWords_plainEnglish reads every comment, every message and every page for phrases that no native speaker would write.
func TestWords_plainEnglish(t *testing.T) {
	t.Parallel()
	var phrases []string
	for _, entry := range translated {
		phrases = append(phrases, entry.phrase)
	}
	all := regexp.MustCompile(`(?i)\b(?:` + strings.Join(phrases, "|") + `)\b`)
	report := func(name string, line int, text string) {
		// What is quoted is an example, a name or somebody else's word; "stand in for" is English.
		for _, phrase := range all.FindAllString(quoted.ReplaceAllString(text, ""), -1) {
			for _, entry := range translated {
				if regexp.MustCompile(`(?i)^(?:` + entry.phrase + `)$`).MatchString(phrase) {
					t.Errorf("%s:%d: %q reads like a translation; write %s", name, line, phrase, entry.instead)
					break
				}
			}
		}
	}
	fset, files := productFiles(t)
	for _, s := range files {
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				report(s.name, fset.Position(c.Pos()).Line, c.Text)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && strings.Contains(lit.Value, " ") {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					report(s.name, fset.Position(lit.Pos()).Line, text)
				}
			}
			return true
		})
	}
	for name, text := range pages(t) {
		if path.Ext(name) == ".json" {
			text = strings.ReplaceAll(text, `"`, "") // all of a schema is in quotes
		}
		for i, line := range strings.Split(text, "\n") {
			report(name, i+1, line)
		}
	}
}

var quoted = regexp.MustCompile("`[^`]*`" + `|"[^"]*"|(?i:stands? in for)`)

// pages are the texts for people that are not code: docs, examples, published schemas, by name.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if base := path.Base(name); name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "bin" || base == "demo") {
				return fs.SkipDir
			}
			return nil
		case path.Ext(name) != ".md" && path.Dir(name) != "settings/schemas":
			return nil
		}
		text, err := os.ReadFile(name)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
