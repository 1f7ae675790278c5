package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
)

const propertySettings = `models:
  default: all
  aliases:
    all: {provider: lab, model: m, capabilities: [text, vision, pdf, tools], context_window: 200000}
    eyes: {provider: lab, model: m, capabilities: [text, vision], context_window: 200000}
    blind: {provider: lab, model: m, capabilities: [text], context_window: 8192}
    small: {provider: lab, model: m, capabilities: [text, vision, tools], context_window: 700}
providers:
  lab: {kind: openai_chat, base_url: "http://127.0.0.1:9/v1"}
policy: {budget: {max_images: 3}}
`

// TestVault_everyFileHasItsReceipt previews every file of the test vault for models of each ability: each reference of a
// note has a line in its receipt and each picture a place in the prompt, the lines of a note cover it, frames are closed
// by what opened them, and nothing says where the vault lies on this machine.
func TestVault_everyFileHasItsReceipt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := filepath.Join(dir, "vault")
	if err := copyDir(filepath.Join("..", "..", "testdata", "vault"), root); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "settings.yaml"), []byte(propertySettings), 0o600); err != nil {
		t.Fatal(err)
	}
	ownVault(root, filepath.Join(dir, "state"))
	allowSettings(t, root, filepath.Join(dir, "state"))
	files, models := 0, []string{"all", "eyes", "blind", "small"}
	for _, name := range filesOf(t, root) {
		files++
		variants := []string{"", "refs_only"}
		if strings.HasSuffix(name, ".md") {
			variants = append(variants, "images=ignore", "embeds=ref", "comments=keep", "head=150", "trust=untrusted")
		}
		for i, params := range variants {
			these := models
			if i > 0 && !sitetest.Long() { // in turn: each variant has each model on a quarter of the files
				these = models[(files+i)%len(models):][:1]
			}
			for _, model := range these {
				checkPreview(t, dir, name, model, params)
			}
		}
	}
	if files < 50 {
		t.Errorf("%d files, want the whole vault", files)
	}
}

func filesOf(t *testing.T, root string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if hidden := strings.HasPrefix(d.Name(), ".") && name != "."; hidden && d.IsDir() {
			return fs.SkipDir
		} else if !hidden && !d.IsDir() && name != "settings.yaml" {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// checkPreview checks the preview of one input.
func checkPreview(t *testing.T, dir, name, model, params string) {
	t.Helper()
	input := fmt.Sprintf("file: %q", name)
	if params != "" {
		input += " (" + params + ")"
	}
	at := fmt.Sprintf("%s for %s", input, model)
	var out, errs bytes.Buffer
	root := newRoot(&streams{out: &out, err: &errs})
	root.SetArgs([]string{
		"preview", "--json", "--vault", filepath.Join(dir, "vault"), "--state-dir", filepath.Join(dir, "state"), "--model", model, "-i", input,
	})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Errorf("%s: %v", at, err)
		return
	}
	var receipt prompt.Receipt
	var line promptLine
	decoder := json.NewDecoder(&out)
	if err := decoder.Decode(&receipt); err != nil {
		t.Errorf("%s: %v", at, err)
		return
	}
	if err := decoder.Decode(&line); err != nil {
		t.Errorf("%s: %v", at, err)
	}
	if strings.Contains(line.Text, dir) || strings.Contains(receiptText(t, receipt), dir) {
		t.Errorf("%s: the folder of the vault is named", at)
	}
	_, user, _ := strings.Cut(line.Text, "--- user ---")
	for _, problem := range slices.Concat(frameProblems(line.Text, user), receiptProblems(receipt, user, params)) {
		t.Errorf("%s: %s", at, problem)
	}
	if strings.HasSuffix(name, ".md") && params != "refs_only" {
		for _, problem := range noteProblems(t, filepath.Join(dir, "vault"), name, receipt) {
			t.Errorf("%s: %s", at, problem)
		}
	}
}

func receiptText(t *testing.T, r prompt.Receipt) string {
	t.Helper()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var frameCode = regexp.MustCompile(`between <input-([0-9a-zA-Z]+) `)

// frameProblems checks that every frame is closed by its own tag, and that nothing else has the prompt's code.
func frameProblems(text, user string) []string {
	match := frameCode.FindStringSubmatch(text)
	if match == nil {
		return []string{"the system prompt does not name the code of the frames"}
	}
	tag := regexp.MustCompile(`(?m)^(?:<(/?)(input|embed)-` + match[1] + `\b[^\n]*>)$`)
	var open []string
	tags := 0
	for _, m := range tag.FindAllStringSubmatch(user, -1) {
		tags++
		switch {
		case m[1] == "":
			open = append(open, m[2])
		case len(open) == 0 || open[len(open)-1] != m[2]:
			return []string{"a frame is closed that is not open: " + m[0]}
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 || tags == 0 || tags != strings.Count(user, match[1]) {
		return []string{fmt.Sprintf("%d tags, still open %v, the code stands %d times", tags, open, strings.Count(user, match[1]))}
	}
	return nil
}

// receiptProblems checks that each line has an id and a fate, and each picture its words in the prompt.
func receiptProblems(r prompt.Receipt, user, params string) (problems []string) {
	references, pictures := 0, 0
	held := false
	for i, l := range r.Chunks {
		if l.ID != fmt.Sprintf("c%d", i+1) || l.Fate == "" {
			problems = append(problems, fmt.Sprintf("line %d has the id %q and the fate %q", i+1, l.ID, l.Fate))
		}
		if l.IsReference() {
			references++
		}
		held = held || strings.HasPrefix(l.Reason, "max_prompt_tokens")
		if l.Kind == prompt.KindImage && l.Fate != policy.Omitted {
			pictures++
		}
		if quiet := map[policy.Fate]bool{policy.Sent: true, policy.Resized: true, policy.Deduplicated: true}; l.Reason == "" && !quiet[l.Fate] {
			problems = append(problems, fmt.Sprintf("%s is %s, without a reason", l.ID, l.Fate))
		}
	}
	if references != r.Totals.References || len(r.Chunks) != r.Totals.Chunks {
		problems = append(problems, fmt.Sprintf("%d references in %d lines, the totals are %+v", references, len(r.Chunks), r.Totals))
	}
	// A cut joins neighbours in one marker, and images=ignore leaves references as written.
	words := len(regexp.MustCompile(`(?m)^\[image \d+(, c\d+)?: .*\]$`).FindAllString(withoutBlocks(user), -1))
	for _, ends := range regexp.MustCompile(`(?m)^\[images (\d+)-(\d+) are not shown`).FindAllStringSubmatch(user, -1) {
		first, _ := strconv.Atoi(ends[1]) // digits
		last, _ := strconv.Atoi(ends[2])  // digits
		words += last - first + 1
	}
	if !held && params != "images=ignore" && words < pictures {
		problems = append(problems, fmt.Sprintf("%d pictures, %d have words in the prompt", pictures, words))
	}
	if held && !regexp.MustCompile(`deferred as c|not shown|, as text:\]`).MatchString(user) {
		problems = append(problems, "the prompt was cut and does not say so")
	}
	return problems
}

// withoutBlocks leaves out the lines that a preview shows for the pictures themselves.
func withoutBlocks(user string) string {
	return regexp.MustCompile(`(?m)^\[image \d+: [^\n]*, \d[^\n,]*(?:bytes|KB|MB), [a-z]+\]\n`).ReplaceAllString(user, "")
}

// noteProblems checks the lines of a note against its chunks: they cover it, and each reference has one.
func noteProblems(t *testing.T, root, name string, r prompt.Receipt) (problems []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, c := range chunking.Split(data) {
		if c.Kind == chunking.Image || c.Kind == chunking.Embed {
			want++
		}
	}
	got, end := 0, 0
	for _, l := range r.Chunks {
		if l.Source.Note != name || l.Source.Bytes[0] != end || l.Source.Bytes[1] <= end {
			continue // of a note that embeds, or is embedded in itself
		}
		end = l.Source.Bytes[1]
		if l.IsReference() {
			got++
		}
	}
	if end != len(data) {
		problems = append(problems, fmt.Sprintf("the receipt covers %d of %d bytes", end, len(data)))
	}
	if got != want {
		problems = append(problems, fmt.Sprintf("%d references have a line, the note has %d", got, want))
	}
	return problems
}
