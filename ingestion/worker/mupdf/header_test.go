package mupdf

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// forward are declarations of names alone, which the headers have in other forms.
var forward = regexp.MustCompile(`^typedef struct \w+ \w+;$`)

// fitz.h says what MuPDF's headers say, or memory would be read wrongly: look at read.c after an update of the binding.
func TestHeader(t *testing.T) {
	t.Parallel()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/gen2brain/go-fitz").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "include/mupdf/fitz/*.h"))
	if err != nil || len(files) < 50 {
		t.Fatalf("%d headers: %v", len(files), err)
	}
	var theirs strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		theirs.Write(text)
	}
	ours, err := os.ReadFile("fitz.h")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, declaration := range declarations(string(ours)) {
		if forward.MatchString(declaration) {
			continue
		}
		if compared++; !strings.Contains(theirs.String(), declaration) {
			t.Errorf("not in the headers of the binding:\n%s", declaration)
		}
	}
	if compared < 50 {
		t.Errorf("only %d declarations were compared", compared)
	}
}

// declarations returns the declarations of a header: structs without their last line, because they may go on, constants one by one.
func declarations(header string) (all []string) {
	var body []string
	for line := range strings.Lines(header[strings.Index(header, "#define fz_var"):]) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "enum", line == "typedef enum", line == "{" && len(body) > 0 && body[0] == "enum":
			body = []string{"enum"}
		case strings.HasPrefix(line, "}"):
			if body[0] != "enum" {
				all = append(all, strings.Join(body, "\n"))
			}
			body = nil
		case len(body) > 0 && body[0] == "enum":
			all = append(all, strings.TrimSuffix(line, ","))
		case len(body) > 0, strings.HasPrefix(line, "typedef struct") && !strings.HasSuffix(line, ";"), strings.HasPrefix(line, "struct"):
			body = append(body, line)
		case line != "":
			all = append(all, line)
		}
	}
	return all
}
