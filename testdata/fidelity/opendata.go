package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	xhtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// The three measures of opendataloader-bench, by its own definition (src/evaluator_*.py): NID is the likeness of the whole
// texts, TEDS the likeness of the trees of the tables, MHS that of the trees of headings and what is below them. They are
// defined for different documents: TEDS for those that have tables, MHS for those that have headings. A value of -1 means that a
// measure is not defined.
type markdownScore struct{ nid, teds, mhs float64 }

const undefined = -1

// overall is the mean of the measures that are defined.
func (s markdownScore) overall() float64 {
	sum, n := 0.0, 0
	for _, v := range []float64{s.nid, s.teds, s.mhs} {
		if v != undefined {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return undefined
	}
	return sum / float64(n)
}

func scoreMarkdown(want, got string) markdownScore {
	want, got = htmlTables(want), htmlTables(got)
	s := markdownScore{nid: undefined, teds: teds(want, got), mhs: mhs(want, got)}
	if w := spaced(want); w != "" {
		s.nid = alike(w, spaced(got))
	}
	return s
}

// spaced has one space for each run of white space.
func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }

// htmlTables writes the tables of a Markdown text as HTML.
func htmlTables(markdown string) string {
	lines := strings.SplitAfter(markdown, "\n")
	var b strings.Builder
	for i := 0; i < len(lines); {
		head := pipeRow(lines[i])
		if head == nil || i+1 >= len(lines) || !ruleRow(pipeRow(lines[i+1])) {
			b.WriteString(lines[i])
			i++
			continue
		}
		width := max(len(head), len(pipeRow(lines[i+1])))
		rows := [][]string{}
		start := i
		for i += 2; i < len(lines); i++ {
			row := pipeRow(lines[i])
			if row == nil {
				break
			}
			rows = append(rows, fit(row, width))
		}
		head = fit(head, width)
		if len(rows) > 0 && !slices.ContainsFunc(head, func(s string) bool { return s != "" }) {
			head, rows = rows[0], rows[1:]
		}
		b.WriteString("<table>" + htmlRow(head, "th"))
		for _, row := range rows {
			b.WriteString(htmlRow(row, "td"))
		}
		b.WriteString("</table>")
		if strings.HasSuffix(lines[start], "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func htmlRow(cells []string, tag string) string {
	var b strings.Builder
	b.WriteString("<tr>")
	for _, c := range cells {
		b.WriteString("<" + tag + ">" + html.EscapeString(c) + "</" + tag + ">")
	}
	b.WriteString("</tr>")
	return b.String()
}

// pipeRow splits a line at its pipes, or returns nil if it has none.
func pipeRow(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.Contains(line, "|") {
		return nil
	}
	cells := strings.Split(line, "|")
	if strings.HasPrefix(line, "|") {
		cells = cells[1:]
	}
	if len(cells) > 0 && strings.HasSuffix(line, "|") {
		cells = cells[:len(cells)-1]
	}
	for i, c := range cells {
		cells[i] = strings.TrimSpace(c)
	}
	if len(cells) == 0 {
		return nil
	}
	return cells
}

func ruleRow(cells []string) bool {
	for _, c := range cells {
		if c = strings.ReplaceAll(c, " ", ""); c == "" || strings.Trim(c, "-:") != "" {
			return false
		}
	}
	return len(cells) > 0
}

// fit makes a row as wide as its table. The middle one of three cells stands for all columns between the others.
func fit(row []string, width int) []string {
	switch n := len(row); {
	case n == width:
		return row
	case n == 3 && width > 3:
		fitted := []string{row[0]}
		for range width - 2 {
			fitted = append(fitted, row[1])
		}
		return append(fitted, row[2])
	case n < width:
		return append(slices.Clone(row), make([]string, width-n)...)
	default:
		return row[:width]
	}
}

// tableNode is an element of a table; only cells have spans and a text.
type tableNode struct{ tag, colspan, rowspan, text string }

var (
	tableText = regexp.MustCompile(`(?is)<table[\s>].*?</table>`)
	lineBreak = regexp.MustCompile(`<br\s*/?>`)
)

// teds compares the trees of all tables.
func teds(want, got string) float64 {
	a, b := tableTree(want), tableTree(got)
	if len(a.children) == 0 {
		return undefined
	}
	if len(b.children) == 0 {
		return 0
	}
	cost := treeEdits(a, b, func(a, b tableNode) float64 {
		if a.tag != b.tag || a.colspan != b.colspan || a.rowspan != b.rowspan {
			return 1
		}
		x, y := []rune(a.text), []rune(b.text)
		if len(x)+len(y) == 0 {
			return 0
		}
		return float64(edits(x, y)) / float64(max(len(x), len(y)))
	})
	return 1 - cost/float64(max(a.size(), b.size())-1)
}

// tableTree is a tree with all tables of a text below its root.
func tableTree(text string) *tree[tableNode] {
	root := &tree[tableNode]{label: tableNode{tag: "table"}}
	for _, source := range tableText.FindAllString(text, -1) {
		parsed, err := xhtml.ParseFragment(strings.NewReader(source), &xhtml.Node{Type: xhtml.ElementNode, Data: "body", DataAtom: atom.Body})
		if err != nil {
			continue
		}
		for _, n := range parsed {
			addElement(root, n)
		}
	}
	return root
}

// addElement adds an element of a table. Groups of rows do not count, and head cells are cells.
func addElement(to *tree[tableNode], n *xhtml.Node) {
	if n.Type != xhtml.ElementNode {
		return
	}
	at := to
	if n.Data != "thead" && n.Data != "tbody" {
		at = &tree[tableNode]{label: tableNode{tag: n.Data}}
		to.children = append(to.children, at)
	}
	if n.Data == "td" || n.Data == "th" {
		at.label = tableNode{"td", spanOf(n, "colspan"), spanOf(n, "rowspan"), spaced(lineBreak.ReplaceAllString(html.UnescapeString(inner(n)), "\n"))}
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		addElement(at, c)
	}
}

func spanOf(n *xhtml.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			if v, err := strconv.Atoi(a.Val); err == nil {
				return strconv.Itoa(v)
			}
		}
	}
	return "1"
}

// inner is the content of a cell: texts, and tags without attributes.
func inner(n *xhtml.Node) string {
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.Type {
		case xhtml.TextNode:
			b.WriteString(c.Data)
		case xhtml.ElementNode:
			b.WriteString("<" + c.Data + ">" + inner(c) + "</" + c.Data + ">")
		}
	}
	return b.String()
}

// section is a heading or what is below one.
type section struct{ tag, text string }

var headingLine = regexp.MustCompile(`^#{1,6}\s+(.*)$`)

// sections is a tree of headings, all of one level, with the text below each.
func sections(text string) *tree[section] {
	root := &tree[section]{label: section{tag: "document"}}
	at := root
	var pending []string
	flush := func() {
		if s := spaced(strings.Join(pending, " ")); s != "" {
			at.children = append(at.children, &tree[section]{label: section{"content", s}})
		}
		pending = nil
	}
	for line := range strings.Lines(text) {
		if m := headingLine.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			flush()
			at = &tree[section]{label: section{"heading", spaced(m[1])}}
			root.children = append(root.children, at)
		} else {
			pending = append(pending, line)
		}
	}
	flush()
	return root
}

// mhs compares the trees of headings.
func mhs(want, got string) float64 {
	a, b := sections(want), sections(got)
	heading := func(t *tree[section]) bool { return t.label.tag == "heading" }
	if !slices.ContainsFunc(a.children, heading) {
		return undefined
	}
	if !slices.ContainsFunc(b.children, heading) {
		return 0
	}
	cost := treeEdits(a, b, func(a, b section) float64 {
		if a.tag != b.tag {
			return 1
		}
		x, y := []rune(a.text), []rune(b.text)
		return float64(edits(x, y)) / float64(max(len(x), len(y), 1))
	})
	return max(0, 1-cost/float64(max(a.size(), b.size())))
}

// engines are the programs whose output the benchmark stores, in its order of versions.
var engines = []string{"docling", "marker", "mineru", "pymupdf4llm", "markitdown", "opendataloader"}

// opendataloader measures the texts of opendataloader-bench, ours and those that it stores.
func (r *run) opendataloader(ctx context.Context, dir string, h half) error {
	dir = filepath.Join(dir, "opendataloader")
	files, err := list(filepath.Join(dir, "pdfs"), []half{h})
	if err != nil {
		return err
	}
	if absent := slices.IndexFunc(files, func(f document) bool { return f.absent }); absent >= 0 {
		r.report.note("opendataloader (%s half): ours is not measured, because the PDFs are pointers of Git LFS; get them with git lfs pull.", h)
	} else if err := r.opendataOurs(ctx, dir, h, files); err != nil {
		return err
	}
	for _, engine := range engines {
		scores, err := r.scoreEngine(h, engine, files, dir, func(f document) (string, error) {
			return readOr(filepath.Join(dir, "prediction", engine, stem(f.name)+".md"))
		})
		if err != nil {
			return err
		}
		if err := r.compareStored(h, engine, scores, filepath.Join(dir, "prediction", engine, "evaluation.json")); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) opendataOurs(ctx context.Context, dir string, h half, files []document) error {
	got, err := r.reader.read(ctx, "opendataloader", files)
	if err != nil {
		return err
	}
	_, err = r.scoreEngine(h, ours, files, dir, func(f document) (string, error) { return got[f.sha256].text(), nil })
	return err
}

// readOr reads a text; a missing one is empty, as in the benchmark.
func readOr(name string) (string, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(data), err
}

func stem(name string) string { return strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)) }

// scoreEngine measures the texts of one program and returns the scores by document.
func (r *run) scoreEngine(h half, column string, files []document, dir string, text func(document) (string, error)) (map[string]markdownScore, error) {
	scores := map[string]markdownScore{}
	var nid, tables, headings, overall mean
	for _, f := range files {
		want, err := os.ReadFile(filepath.Join(dir, "ground-truth", stem(f.name)+".md"))
		if err != nil {
			return nil, err
		}
		have, err := text(f)
		if err != nil {
			return nil, err
		}
		s := scoreMarkdown(string(want), have)
		scores[stem(f.name)] = s
		nid.add(s.nid)
		tables.add(s.teds)
		headings.add(s.mhs)
		overall.add(s.overall())
		if column == ours {
			r.detail(h, "opendataloader %s: NID %.3f TEDS %.3f MHS %.3f", f.name, s.nid, s.teds, s.mhs)
		}
	}
	for _, row := range []struct {
		name string
		m    mean
	}{{"NID", nid}, {"TEDS", tables}, {"MHS", headings}, {"overall", overall}} {
		r.report.add(h, "opendataloader: "+row.name, column, row.m.value(), row.m.n)
	}
	return scores, nil
}

// mean is the mean of the values that are defined.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v float64) {
	if v != undefined {
		m.sum, m.n = m.sum+v, m.n+1
	}
}

func (m mean) value() float64 { return m.sum / float64(max(m.n, 1)) }

// compareStored notes how far our measures are from those that the benchmark stores for the same texts.
func (r *run) compareStored(h half, engine string, scores map[string]markdownScore, name string) error {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var stored struct {
		Summary struct {
			Version string `json:"engine_version"`
			Date    string `json:"date"`
		} `json:"summary"`
		Documents []struct {
			ID     string                            `json:"document_id"`
			Scores struct{ NID, TEDS, MHS *float64 } `json:"scores"`
		} `json:"documents"`
	}
	if err := json.Unmarshal(data, &stored); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var far [3]float64
	for _, d := range stored.Documents {
		s, ok := scores[d.ID]
		if !ok {
			continue
		}
		for i, v := range []struct {
			theirs *float64
			ours   float64
		}{{d.Scores.NID, s.nid}, {d.Scores.TEDS, s.teds}, {d.Scores.MHS, s.mhs}} {
			if v.theirs != nil {
				far[i] = max(far[i], math.Abs(*v.theirs-v.ours))
				if math.Abs(*v.theirs-v.ours) > .005 {
					r.detail(h, "opendataloader %s %s: measure %d is %.4f here, %.4f stored", engine, d.ID, i, v.ours, *v.theirs)
				}
			}
		}
	}
	r.report.note("%s %s of %s (%s half): at most %.4f, %.4f and %.4f from the stored NID, TEDS and MHS of a document.", engine, stored.Summary.Version, stored.Summary.Date, h, far[0], far[1], far[2])
	return nil
}
