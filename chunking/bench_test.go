package chunking_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"go.abhg.dev/goldmark/wikilink"

	"github.com/vaultflow/vaultflow/chunking"
)

// bigNote is a note of 20 MB with 2,000 images, as a workbook of many scanned pages makes one.
func bigNote() []byte {
	var b strings.Builder
	line := "A line of prose in a very large note, with a [[link]] and some *emphasis* in it.\n"
	for i := range 2000 {
		fmt.Fprintf(&b, "## Part %d\n\n![[p%d.png|the page]]\n\n", i, i)
		for range 130 {
			b.WriteString(line)
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// hostile are notes of about n bytes that lead parsers into repeated work, each once as it is and once behind a line that
// keeps the whole paragraph from being passed over.
func hostile(n int) map[string]string {
	notes := repetitive(n)
	for name, src := range maps.Clone(notes) {
		notes[name+", not passed over"] = "[z]: z.png\n\n[y ![a](b.png)\n" + src
	}
	return notes
}

func repetitive(n int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, n/len(s)+1) }
	return map[string]string{
		"prose":               fill("Some words, with *emphasis*, a [[link]] and `code` in a line.\n"),
		"task boxes":          fill("[x]\n"),
		"task list":           fill("- [x] a\n"),
		"brackets":            fill("["),
		"closed brackets":     fill("[a]"),
		"nested brackets":     strings.Repeat("[", n/2) + strings.Repeat("]", n/2),
		"bracket pairs":       fill("[]"),
		"open wikilinks":      fill("[["),
		"one closed":          strings.Repeat("[[", n/2) + "]]",
		"embeds":              fill("![[a.png]]\n"),
		"embeds in a line":    fill("![[a.png]]"),
		"bangs":               fill("!"),
		"bang brackets":       fill("!["),
		"open images":         fill("![a]("),
		"nested images":       strings.Repeat("![", n/4) + strings.Repeat("](a)", n/4),
		"nested links":        strings.Repeat("[", n/4) + strings.Repeat("](a)", n/4),
		"definitions":         fill("[a]: b\n"),
		"own definitions":     definitions(n),
		"open definitions":    fill("[a]:\n"),
		"open titles":         fill("[a]: b 'c\n"),
		"footnotes":           fill("[^1]: a\n"),
		"footnote marks":      fill("[^1]"),
		"comment marks":       fill("%% a\n"),
		"comment storm":       fill("%%"),
		"odd comments":        "x %%\n" + fill("y %%\n%%\n"),
		"comment marks split": fill("a%%b "),
		"dollars":             fill("$1 "),
		"dollar storm":        fill("$"),
		"dollars and letters": fill("$a "),
		"double dollars":      fill("$$ a\n"),
		"dollar lines":        fill("$$\na\n$$\nb\n"),
		"less than":           fill("<"),
		"less than lines":     fill("<\n"),
		"open tags":           "<div>" + fill("<img src='a "),
		"tags":                "<div>" + fill("<a x=<"),
		"inline tags":         fill("a <b c='"),
		"inline images":       fill("a <img src=a.png>"),
		"html comments":       "<div>\n" + fill("<!--"),
		"inline comments":     fill("a <!-- b "),
		"declarations":        fill("a <!A "),
		"cdata":               fill("a <![CDATA["),
		"instructions":        fill("a <?"),
		"scripts":             "<div>\n" + fill("<script>"),
		"html blocks":         fill("<div>\n\n"),
		"emphasis":            fill("*a_ "),
		"backticks":           ticks(n),
		"backtick pairs":      fill("`a"),
		"fences":              fill("```\n"),
		"quotes":              fill(">"),
		"quotes in lines":     fill(strings.Repeat(">", 99) + "\n"),
		"stairs of quotes":    stairs(n, ">"),
		"list items":          fill("- "),
		"items in lines":      fill(strings.Repeat("- ", 99) + "x\n"),
		"stairs of items":     stairs(n, "- "),
		"indented items":      indented(n),
		"lazy quote":          strings.Repeat(">", 99) + fill("a\n"),
		"tables":              fill("|a|b|\n|-|-|\n|c|d|\n\n"),
		"wide table":          strings.Repeat("|a", n/4) + "\n" + strings.Repeat("|-", n/4) + "\n",
		"long table":          "|a|\n|-|\n" + fill("|![[a.png\\|5]]|\n"),
		"bars":                fill("|"),
		"entities":            fill("&amp"),
		"backslashes":         fill("\\"),
		"autolinks":           fill("<a:"),
		"setext":              fill("a\n="),
		"rules":               fill("---\n"),
		"headings":            fill("# a\n"),
		"blank lines":         fill("\n"),
		"spaces":              fill(" "),
		"tabs":                fill("\t"),
		"zeros":               fill("\x00"),
		"bad bytes":           fill("\xff"),
		"one line":            fill("a"),
		"carriage returns":    fill("a\r"),
	}
}

// definitions are references, each defined once and used once.
func definitions(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n/2; i++ {
		fmt.Fprintf(&b, "[a%d]: b.png\n", i)
	}
	b.WriteByte('\n')
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "![a%d] ", i)
	}
	return b.String()
}

// ticks are runs of backticks of different lengths, none of which closes another.
func ticks(n int) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		b.WriteString(strings.Repeat("`", i) + "a")
	}
	return b.String()
}

// stairs are lines that open one container more each, up to the bound.
func stairs(n int, mark string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(strings.Repeat(mark, i%100) + "a\n")
	}
	return b.String()
}

// indented are list items, each below the one before.
func indented(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(strings.Repeat("  ", i%200) + "- a\n")
	}
	return b.String()
}

func BenchmarkSplit(b *testing.B) {
	paragraph := "Some *text* with a [[link|alias]], a [url](https://example.org) and `code`.\n\n"
	notes := map[string][]byte{
		"1MB":         []byte(strings.Repeat(strings.Repeat(paragraph, 10)+"![[Pasted image 1.png|300]]\n\n", (1<<20)/(10*len(paragraph)+30))),
		"2000images":  []byte(strings.Repeat("Text.\n\n![[a.png]] and ![b](<c d.png>)\n\n", 1000)),
		"20MB":        bigNote(),
		"40000 boxes": []byte(strings.Repeat("[x]\n", 40_000)),
	}
	if all := joined(b, os.Getenv("VAULTFLOW_NOTES")); len(all) > 0 {
		notes["notes of the folder"] = all
	}
	for name, src := range notes {
		for what, work := range map[string]func(){
			"split":             func() { chunking.Split(src) },
			"parse by goldmark": func() { peer.Parse(text.NewReader(src)) },
		} {
			b.Run(name+"/"+what, func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				for b.Loop() {
					work()
				}
			})
		}
	}
}

// joined returns the notes of a folder as one, of 1 MB or a little more if there are enough.
func joined(b *testing.B, folder string) []byte {
	if folder == "" {
		return nil
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.md"))
	var all []byte
	for _, path := range paths {
		if len(all) >= 1<<20 {
			break
		}
		note, errRead := os.ReadFile(path)
		err = errors.Join(err, errRead)
		all = append(append(all, note...), "\n\n"...)
	}
	if err != nil {
		b.Fatal(err)
	}
	return all
}

// peer parses as goldmark does with its usual extensions and wikilinks.
var peer = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote, &wikilink.Extender{})).Parser()

// BenchmarkSplit_hostile shows for each hostile note the time for a quarter of a megabyte and for half of one.
func BenchmarkSplit_hostile(b *testing.B) {
	small, large := hostile(1<<18), hostile(1<<19)
	for _, name := range slices.Sorted(maps.Keys(small)) {
		for _, src := range []string{small[name], large[name]} {
			b.Run(fmt.Sprintf("%s/%dKB", name, len(src)>>10), func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				for b.Loop() {
					chunking.Split([]byte(src))
				}
			})
		}
	}
}
