package prompt_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
)

var update = flag.Bool("update", false, "write the golden files")

// Each file of testdata holds settings (its head), a small vault, and behind `want/` the prompt and the receipt.
func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			golden(t, file)
		})
	}
}

func golden(t *testing.T, file string) {
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	given := string(src)
	if i := strings.Index(given, "-- want/"); i >= 0 {
		given = given[:i]
	}
	head, files := archive(string(src))
	v := vaultFiles{}
	want := map[string]string{}
	for name, text := range files {
		switch {
		case strings.HasPrefix(name, "want/"):
			want[name] = text
		case strings.HasPrefix(text, "image ") || strings.HasPrefix(text, "bad ") || strings.HasPrefix(text, "empty\n"):
			if text == "empty\n" {
				v[name] = ""
				continue
			}
			v[name] = strings.TrimSuffix(text, "\n")
		default:
			v[name] = text
		}
	}
	sp, b := settings(t, head, v)
	p, err := b.Build(t.Context(), sp)
	got := map[string]string{}
	if err != nil {
		got["want/error"] = err.Error() + "\n"
	} else {
		checkCauses(t, p.Receipt)
		got["want/prompt"], got["want/receipt"] = prompt.Text(p), receiptText(t, p.Receipt)
		if len(p.Chunks) > 0 {
			got["want/chunks"] = chunksText(p)
		}
	}
	if *update {
		out := given
		for _, name := range slices.Sorted(maps.Keys(got)) {
			out += "-- " + name + " --\n" + got[name]
		}
		if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got), rewrite with -update:\n%s", file, diff)
	}
}

// archive splits a txtar file into its head and its files.
func archive(src string) (head string, files map[string]string) {
	files = map[string]string{}
	name, into := "", &strings.Builder{}
	flush := func() {
		if name == "" {
			head = into.String()
		} else {
			files[name] = into.String()
		}
		into.Reset()
	}
	for line := range strings.Lines(src) {
		mark := strings.TrimSuffix(line, "\n")
		if inside, ok := strings.CutPrefix(mark, "-- "); ok && strings.HasSuffix(inside, " --") {
			flush()
			name = strings.TrimSuffix(inside, " --")
			continue
		}
		into.WriteString(line)
	}
	flush()
	return head, files
}

// settings reads lines `key: value`.
func settings(t *testing.T, head string, v vaultFiles) (prompt.Spec, prompt.Builder) {
	s := spec()
	s.Prompt = ""
	b := v.builder()
	budget := policy.Overlay{From: "settings", Limits: map[string]float64{}}
	provider, model := "anthropic", "claude-sonnet-4-5"
	for line := range strings.Lines(head) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case !ok || strings.HasPrefix(key, "#"):
		case key == "input":
			s.Inputs = append(s.Inputs, inputLine(t, value))
		case key == "variable":
			name, text, _ := strings.Cut(value, " = ")
			in := input(t, "variable: "+name)
			in.Text, in.Unset = text, text == ""
			s.Inputs = append(s.Inputs, in)
		case key == "prompt":
			s.Prompt += strings.ReplaceAll(value, `\n`, "\n")
		case key == "system":
			s.System = append(s.System, value)
		case key == "fact":
			s.Facts = append(s.Facts, value)
		case key == "price":
			s.InputPrice = float64(number(value))
		case key == "strict":
			s.StrictLinks = true
		case key == "unreadable":
			s.MayRead = func(name string) bool { return name != value }
		case key == "model":
			s.Caps = map[string]policy.Capabilities{"blind": blind, "eyes": eyes, "seeing": seeing, "plain": plain}[value]
		case key == "provider":
			provider, model, _ = strings.Cut(value, " ")
		case key == "remote" && value == "fetch":
			b.Remote = v.fetch
		case key == "remote":
			b.Remote = func(context.Context, string) (prompt.RemotePicture, error) {
				return prompt.RemotePicture{}, prompt.ErrNotFetched
			}
		case key == "max_remote":
			b.MaxRemote = number(value)
		case key == "max_file":
			b.MaxFile = int64(number(value))
		case key == "ocr":
			b.Fallbacks = func(name string) string { return strings.TrimSpace(v[name+".ocr"]) }
		case key == "when_exceeded":
			budget.WhenExceeded = value
		default:
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			budget.Limits[key] = n
		}
	}
	merged, err := policy.DefaultBudget().Merge(budget)
	if err != nil {
		t.Fatal(err)
	}
	s.Bounds = merged.Bound(policy.Limits(provider, model))
	return s, b
}

// inputLine reads `DIRECTIVE => names`. Without names the path of the directive is what was found.
func inputLine(t *testing.T, line string) prompt.Input {
	value, names, _ := strings.Cut(line, " => ")
	in := input(t, value, strings.FieldsFunc(names, func(r rune) bool { return r == ',' })...)
	if names == "none" {
		in.Names = nil
	}
	return in
}

// chunksText is what read_chunks would give.
func chunksText(p *prompt.Prompt) string {
	var b strings.Builder
	for _, d := range p.Chunks {
		b.WriteString("# " + d.ID + " " + d.Line.Kind + "\n")
		for _, block := range d.Blocks {
			b.WriteString(strings.TrimSuffix(block.Text(), "\n") + "\n")
		}
	}
	return b.String()
}

// receiptText is the receipt with one line for each chunk.
func receiptText(t *testing.T, r prompt.Receipt) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, l := range r.Chunks {
		encode(t, enc, l)
	}
	encode(t, enc, r.Totals)
	encode(t, enc, r.Limits)
	for _, w := range r.Warnings {
		encode(t, enc, w)
	}
	return b.String()
}

func encode(t *testing.T, enc *json.Encoder, v any) {
	t.Helper()
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
}
