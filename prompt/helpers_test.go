package prompt_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/vault"
)

const testNonce = "f00d"

// vaultFiles is a vault for tests. A picture is a file whose text says what a header would: `image 640x480 png 9000`, or `bad
// reason`. A document begins with `%PDF-` or `office` and says its pages in the lines behind (see documents). A file that
// begins with `bytes ` is that many hexadecimal digits. A name with a scheme is a picture of the web.
type vaultFiles map[string]string

func (v vaultFiles) fs() fs.FS {
	m := fstest.MapFS{}
	for name, text := range v {
		if !strings.Contains(name, "://") {
			m[name] = &fstest.MapFile{Data: v.bytes(text)}
		}
	}
	return m
}

func (v vaultFiles) bytes(text string) []byte {
	if digits, ok := strings.CutPrefix(text, "bytes "); ok {
		data, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
		if err != nil {
			panic(err)
		}
		return data
	}
	if strings.HasPrefix(text, "office") {
		return []byte("PK\x03\x04 [Content_Types].xml word/document.xml " + text)
	}
	return []byte(text)
}

// documents reads the test's documents. Lines of the file: `pages 12 800x1000`, `text 3 words`, `label 3 iv`, `picture 3
// name`, `markdown words`, `imported folder`, `broken reason`.
type documents vaultFiles

func (d documents) Describe(_ context.Context, name string) (prompt.Document, error) {
	text, ok := d[name]
	if !ok {
		return prompt.Document{}, fs.ErrNotExist
	}
	sum := sha256.Sum256([]byte(text))
	doc := prompt.Document{MediaType: "application/pdf", Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
	if !strings.HasPrefix(text, "%PDF-") {
		doc.MediaType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	}
	for line := range strings.Lines(text) {
		key, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		first, value, _ := strings.Cut(rest, " ")
		switch key {
		case "pages":
			w, h, _ := strings.Cut(value, "x")
			doc.Pages = make([]prompt.DocumentPage, number(first))
			for i := range doc.Pages {
				doc.Pages[i].Width, doc.Pages[i].Height = number(w), number(h)
			}
		case "label":
			doc.Pages[number(first)-1].Label = value
		case "picture":
			doc.Pages[number(first)-1].Picture = value
		case "size":
			doc.Size = int64(number(first))
		case "markdown":
			doc.Markdown += rest + "\n"
		case "imported":
			doc.Imported = rest
		case "broken":
			return doc, errors.New(rest)
		}
	}
	return doc, nil
}

func (d documents) PageText(_ context.Context, name string, page int) (string, error) {
	var out string
	for line := range strings.Lines(d[name]) {
		if text, ok := strings.CutPrefix(line, fmt.Sprintf("text %d ", page)); ok {
			out += text
		}
		if strings.HasPrefix(line, fmt.Sprintf("unreadable %d", page)) {
			return "", errors.New("the page cannot be read")
		}
	}
	return out, nil
}

// fetch gives the pictures whose names are URLs.
func (v vaultFiles) fetch(_ context.Context, url string) (prompt.RemotePicture, error) {
	if _, ok := v[url]; !ok {
		return prompt.RemotePicture{}, errors.New("the host is not allowed")
	}
	p, err := v.probe(url)
	return prompt.RemotePicture{Picture: p}, err
}

// Locate finds a path suffix, as Obsidian does in the simple cases.
func (v vaultFiles) Locate(target, from string) vault.Location {
	var names []string
	if strings.HasPrefix(target, "../") {
		target = path.Join(path.Dir(from), target)
	}
	for _, try := range []string{target, target + ".md"} {
		if _, ok := v[try]; ok {
			return vault.Location{Name: try, Found: true}
		}
		for name := range v {
			if strings.HasSuffix(name, "/"+try) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	switch len(names) {
	case 0:
		var near []string
		for name := range v {
			if len(target) > 3 && strings.HasPrefix(path.Base(name), target[:3]) {
				near = append(near, name)
			}
		}
		slices.Sort(near)
		return vault.Location{Near: near}
	case 1:
		return vault.Location{Name: names[0], Found: true}
	}
	return vault.Location{Name: min(names[0], names[1]), Ambiguous: names, Found: true}
}

func (v vaultFiles) probe(name string) (prompt.Picture, error) {
	text, ok := v[name]
	if !ok {
		return prompt.Picture{}, fs.ErrNotExist
	}
	if words, bad := strings.CutPrefix(text, "bad "); bad {
		return prompt.Picture{}, fmt.Errorf("%s", words)
	}
	f := strings.Fields(text)
	if len(f) < 4 || f[0] != "image" {
		return prompt.Picture{}, fmt.Errorf("not an image")
	}
	w, h, _ := strings.Cut(f[1], "x")
	sum := sha256.Sum256([]byte(text))
	return prompt.Picture{MediaType: "image/" + f[2], Width: number(w), Height: number(h), Size: int64(number(f[3])), SHA256: hex.EncodeToString(sum[:])}, nil
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

func (v vaultFiles) builder() prompt.Builder {
	return prompt.Builder{FS: v.fs(), Links: v, Probe: v.probe, Documents: documents(v), Nonce: func(prompt.Spec, int) string { return testNonce }}
}

// The models of the tests, apart from the tables of real ones.
var (
	seeing = able("vision", "pdf", "tools")
	blind  = able("tools")
	eyes   = able("vision", "tools") // no PDF
	plain  = able()
)

func able(names ...string) policy.Capabilities {
	o, err := policy.ExactOverride(names)
	if err != nil {
		panic(err)
	}
	return policy.Lookup("test", "test", o, nil)
}

func bounds() policy.Bounds {
	return policy.DefaultBudget().Bound(policy.Limits("anthropic", "claude-sonnet-4-5"))
}

// input is what `@input` says, with the names that it found.
func input(t testing.TB, value string, names ...string) prompt.Input {
	if t != nil { // examples have none
		t.Helper()
	}
	d, faults := directives.ParseInput(value)
	for _, f := range faults {
		panic(fmt.Sprintf("@input %s: %s", value, f.Message))
	}
	if len(names) == 0 && d.Target.Scheme == directives.SchemeFile {
		names = []string{d.Target.Path}
	}
	return prompt.Input{Directive: d, Names: names}
}

func spec(inputs ...prompt.Input) prompt.Spec {
	return prompt.Spec{
		Workflow: "test", File: "Workflows/test.md", Step: "Step", Model: "sonnet", Prompt: "Do it.\n", Inputs: inputs, Caps: seeing, Bounds: bounds(),
	}
}

func build(t testing.TB, v vaultFiles, s prompt.Spec) *prompt.Prompt {
	t.Helper()
	p, err := v.builder().Build(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	checkCauses(t, p.Receipt)
	return p
}

// shapes names the blocks without the prompt's text, frames and labels.
func shapes(p *prompt.Prompt) []string {
	var out []string
	for _, b := range p.Blocks[1:] {
		switch b := b.(type) {
		case content.Image:
			out = append(out, "image "+b.Name)
		case content.Text:
			text := strings.TrimSpace(b.Value)
			switch {
			case strings.HasPrefix(text, "<input-"+testNonce), strings.HasPrefix(text, "</input-"+testNonce):
			case strings.HasPrefix(text, "[image "):
				if !strings.Contains(text, "alt") && !strings.Contains(text, ", sha256 ") {
					out = append(out, "marker "+text)
				}
			default:
				out = append(out, "text "+b.Value)
			}
		}
	}
	return out
}

// references counts the receipt's reference lines.
func references(r prompt.Receipt) int {
	n := 0
	for _, l := range r.Chunks {
		if l.IsReference() {
			n++
		}
	}
	return n
}
