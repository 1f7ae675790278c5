package prompt_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
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
	given, _, _ := strings.Cut(string(src), "-- want/prompt --\n")
	head, files := archive(string(src))
	v := vault{}
	want := map[string]string{}
	for name, text := range files {
		switch {
		case strings.HasPrefix(name, "want/"):
			want[name] = text
		case strings.HasPrefix(text, "image ") || strings.HasPrefix(text, "bad "):
			v[name] = strings.TrimSuffix(text, "\n")
		default:
			v[name] = text
		}
	}
	p := build(t, v, settings(t, head))
	got := map[string]string{"want/prompt": prompt.Text(p), "want/receipt": receiptText(t, p.Receipt)}
	if *update {
		out := given + "-- want/prompt --\n" + got["want/prompt"] + "-- want/receipt --\n" + got["want/receipt"]
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
func settings(t *testing.T, head string) prompt.Spec {
	s := spec()
	s.Prompt = ""
	budget := policy.Overlay{From: "settings", Limits: map[string]float64{}}
	for line := range strings.Lines(head) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case !ok || strings.HasPrefix(key, "#"):
		case key == "input":
			value, names, _ := strings.Cut(value, " => ")
			in := input(t, value, strings.FieldsFunc(names, func(r rune) bool { return r == ',' })...)
			if names == "none" {
				in.Names = nil
			}
			s.Inputs = append(s.Inputs, in)
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
		case key == "model" && value == "blind":
			s.Caps = blind
		default:
			budget.Limits[key] = float64(number(value))
		}
	}
	b, err := policy.DefaultBudget().Merge(budget)
	if err != nil {
		t.Fatal(err)
	}
	s.Bounds = b.Bound(policy.Limits("anthropic", "claude-sonnet-4-5"))
	return s
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
