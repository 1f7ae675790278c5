package prompt_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/vault"
)

// editedBook is a long document as an import makes it, with the digests of its notes, and then the user's edits of a chapter.
func editedBook(t *testing.T, edits ...string) vaultFiles {
	t.Helper()
	v := longBook()
	note := func(title string, pages ...int) string {
		var b strings.Builder
		b.WriteString(vault.GeneratedBegin + "\n# " + title + "\n\n[[../Book|Book]] · Pages\n")
		for _, n := range pages {
			fmt.Fprintf(&b, "\n## Page %d\n\n![[../pages/page_%04d.png]]\n[[../Book.pdf#page=%d|Book.pdf, page %d]] ^p%d\n\nWords of page %d.\n", n, n, n, n, n, n)
		}
		return b.String() + "\n" + vault.GeneratedEnd + "\n"
	}
	v["Imported/Book/chapters/01 A.md"], v["Imported/Book/chapters/02 B.md"] = note("A", 1, 2), note("B", 3, 4)
	generated := map[string]map[int]string{}
	for _, name := range []string{"Book.md", "chapters/01 A.md", "chapters/02 B.md"} {
		generated[name] = vault.PageDigests(v["Imported/Book/"+name])
	}
	data, err := json.Marshal(generated)
	if err != nil {
		t.Fatal(err)
	}
	v["Imported/Book/manifest.json"] = strings.TrimSuffix(v["Imported/Book/manifest.json"], "}") + `,"generated":` + string(data) + "}"
	v["Imported/Book/mine.png"] = "image 300x300 png 90009"
	for i := 0; i+2 < len(edits); i += 3 {
		name := "Imported/Book/" + edits[i]
		if !strings.Contains(v[name], edits[i+1]) {
			t.Fatalf("%s has no %q", name, edits[i+1])
		}
		v[name] = strings.Replace(v[name], edits[i+1], edits[i+2], 1)
	}
	return v
}

// shownWords are the lines of a prompt about pages and what people wrote, without our own.
func shownWords(p *prompt.Prompt) string {
	var list []string
	for _, block := range p.Blocks {
		switch block := block.(type) {
		case content.Text:
			for line := range strings.Lines(block.Value) {
				line = strings.TrimSpace(line)
				if strings.HasPrefix(line, "Words") || strings.Contains(line, "MY") || strings.HasPrefix(line, "[in the note") || strings.HasPrefix(line, "[[../") {
					list = append(list, line)
				}
			}
		case content.Image:
			list = append(list, "<"+strings.TrimSuffix(block.Name[strings.LastIndex(block.Name, "/")+1:], ".png")+">")
		}
	}
	return strings.Join(list, " ")
}

func TestBuild_showsEditsOfChapters(t *testing.T) {
	t.Parallel()
	const page1, page2, page3, page4 = "Words of page 1. <page_0001> ", "Words of page 2. <page_0002> ", "Words of page 3. <page_0003> ", "Words of page 4. <page_0004> "
	const whole = "file: Imported/Book/Book.md"
	const end = "[in the note Book.md]"
	for name, c := range map[string]struct {
		value string
		edits []string
		want  string
	}{
		"nothing edited":      {whole, nil, page1 + page2 + page3 + page4 + end},
		"a word corrected":    {whole, []string{"chapters/01 A.md", "Words of page 2.", "Words of MY page 2."}, page1 + "Words of MY page 2. <page_0002> " + page3 + page4 + end},
		"between pages":       {whole, []string{"chapters/01 A.md", "\n## Page 2", "\nMY REMARK\n\n## Page 2"}, "Words of page 1. MY REMARK <page_0001> " + page2 + page3 + page4 + end},
		"below a heading":     {whole, []string{"chapters/01 A.md", "## Page 2\n", "## Page 2\nMY REMARK\n"}, page1 + "MY REMARK Words of page 2. <page_0002> " + page3 + page4 + end},
		"heading renamed":     {whole, []string{"chapters/01 A.md", "## Page 2\n", "## Page 2, MY OWN\n"}, page1 + "## Page 2, MY OWN Words of page 2. <page_0002> " + page3 + page4 + end},
		"above the chapter":   {whole, []string{"chapters/02 B.md", vault.GeneratedBegin, "MY TOP\n" + vault.GeneratedBegin}, page1 + page2 + "[in the note chapters/02 B.md] MY TOP " + page3 + page4 + end},
		"below the title":     {whole, []string{"chapters/02 B.md", "# B\n", "# B\n\nMY AIM\n"}, page1 + page2 + "[in the note chapters/02 B.md] MY AIM [[../Book|Book]] · Pages " + page3 + page4 + end},
		"below the chapter":   {whole, []string{"chapters/01 A.md", vault.GeneratedEnd + "\n", vault.GeneratedEnd + "\nMY END\n"}, page1 + page2 + "[in the note chapters/01 A.md] MY END " + page3 + page4 + end},
		"in the overview":     {whole, []string{"Book.md", "# Book\n", "# Book\n\nMY PLAN\n"}, "MY PLAN " + page1 + page2 + page3 + page4 + end},
		"a picture":           {whole, []string{"chapters/01 A.md", "Words of page 1.", "MY PHOTO\n\n![[../mine.png]]\n\nWords after"}, "MY PHOTO <mine> Words after <page_0001> " + page2 + page3 + page4 + end},
		"some pages":          {`file: Imported/Book/Book.md (pages="2-3")`, []string{"chapters/01 A.md", "Words of page 2.", "MY page 2.", "chapters/02 B.md", vault.GeneratedBegin, "MY TOP\n" + vault.GeneratedBegin}, "MY page 2. <page_0002> [in the note chapters/02 B.md] MY TOP Words of page 3. <page_0003>"},
		"a page by its id":    {"file: Notes/Page.md", []string{"chapters/02 B.md", "Words of page 3.", "MY page 3.", "chapters/02 B.md", vault.GeneratedBegin, "MY TOP\n" + vault.GeneratedBegin}, "MY page 3. <page_0003>"},
		"an id removed":       {whole, []string{"chapters/01 A.md", " ^p2", ""}, "Words of page 1. <page_0002> [[../Book.pdf#page=2|Book.pdf, page 2]] Words of page 2. <page_0001> " + page3 + page4 + end},
		"all ids removed":     {whole, []string{"chapters/01 A.md", " ^p2", "", "chapters/01 A.md", " ^p1", ""}, "[in the note chapters/01 A.md] [[../Book|Book]] · Pages <page_0001> [[../Book.pdf#page=1|Book.pdf, page 1]] Words of page 1. <page_0002> [[../Book.pdf#page=2|Book.pdf, page 2]] Words of page 2. " + page3 + page4 + end},
		"that page alone":     {`file: Imported/Book/Book.md (pages="2")`, []string{"chapters/01 A.md", " ^p2", ""}, "Words of page 2. <page_0002>"},
		"a page deleted":      {whole, []string{"chapters/01 A.md", "\n## Page 2\n\n![[../pages/page_0002.png]]\n[[../Book.pdf#page=2|Book.pdf, page 2]] ^p2\n\nWords of page 2.\n", ""}, page1 + page2 + page3 + page4 + end},
		"Windows line ends":   {whole, []string{"chapters/01 A.md", "\n\nWords of page 2.\n\n", "\r\n\r\nWords of page 2.\r\n\r\n"}, page1 + page2 + page3 + page4 + end},
		"the chapter removed": {whole, []string{"chapters/01 A.md", vault.GeneratedBegin, ""}, page1 + page2 + page3 + page4 + end},
	} {
		p := build(t, editedBook(t, c.edits...), spec(input(t, c.value)))
		if got := strings.TrimSpace(shownWords(p)); got != strings.TrimSpace(c.want) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// An edited page is one page for the budgets, and its picture gives way before its text.
func TestBuild_editedPagesCount(t *testing.T) {
	t.Parallel()
	s := spec(input(t, "file: Imported/Book/Book.md"))
	s.Bounds.MaxImages = 1
	got := shownWords(build(t, editedBook(t, "chapters/01 A.md", "Words of page 2.", "Words of MY page 2."), s))
	want := "Words of page 1. <page_0001> Words of MY page 2. Words of page 3. Words of page 4. [in the note Book.md]"
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// A model is told what is doubtful about the text of a page, unless somebody has edited the page.
func TestBuild_saysWhatIsDoubtful(t *testing.T) {
	t.Parallel()
	const doubtful = `"doubts":[{"code":"order","words":"MYSELF unsure"}],"status"`
	const said = "[the text of this page is doubtful: MYSELF unsure; the page's picture decides] "
	callout := "> [!warning] The text of this page is doubtful: MYSELF unsure. Compare it with the picture.\n\nWords of page 2."
	for name, c := range map[string]struct {
		edits []string
		want  string
	}{
		"as it was read": {nil, said + "Words of page 2. <page_0002>"},
		"edited":         {[]string{"chapters/01 A.md", "Words of page 2.", "Words of MY page 2."}, "Words of MY page 2. <page_0002>"},
		"edited, and the callout is left": {
			[]string{"chapters/01 A.md", "Words of page 2.", callout, "chapters/01 A.md", "Words of page 2.", "Words of MY page 2."}, "Words of MY page 2. <page_0002>",
		},
	} {
		v := editedBook(t, c.edits...)
		v["Imported/Book/manifest.json"] = strings.Replace(v["Imported/Book/manifest.json"], `"source":"layer"},"status":"done"},{"n":3`, `"source":"layer"},`+doubtful+`:"done"},{"n":3`, 1)
		if got := shownWords(build(t, v, spec(input(t, `file: Imported/Book/Book.md (pages="2")`)))); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}
