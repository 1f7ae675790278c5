package settings_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/settings"
)

var update = flag.Bool("update", false, "rewrite the wanted messages and settings.example.yaml")

// messages loads a file in a folder of its own and gives its diagnostics without the folder's path.
func messages(t *testing.T, file string, environ ...string) (*settings.Settings, string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	vault := t.TempDir()
	path := filepath.Join(vault, settings.FileName)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := settings.Load(settings.Input{Vault: vault, Environ: environ, Grants: everything})
	var all []diag.Diagnostic
	var faults *settings.Error
	switch {
	case errors.As(err, &faults):
		all = faults.Diagnostics
	case err != nil:
		t.Fatalf("Load: %v", err)
	default:
		all = s.Diagnostics
	}
	var b strings.Builder
	for _, d := range all {
		b.WriteString(strings.ReplaceAll(d.String(), vault+string(filepath.Separator), "") + "\n")
	}
	return s, b.String()
}

func TestLoad_badFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/settings/*.bad.yaml")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			s, got := messages(t, file)
			if s != nil {
				t.Error("the file was accepted")
			}
			wanted := strings.TrimSuffix(file, ".yaml") + ".txt"
			if *update {
				if err := os.WriteFile(wanted, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(wanted)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoad_goodFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/settings/*.good.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		s, got := messages(t, file, "ANTHROPIC_API_KEY=key-for-tests", "LAB_KEY=another")
		if s == nil || strings.Contains(got, "error[") || strings.Contains(got, "warning[") {
			t.Errorf("%s:\n%s", file, got)
		}
	}
}

// TestExample keeps settings.example.yaml equal to what the structs say, and loads it twice: as it is, and with every commented
// setting put in force.
func TestExample(t *testing.T) {
	t.Parallel()
	const file = "../settings.example.yaml"
	if *update {
		if err := os.WriteFile(file, []byte(settings.Example()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(settings.Example(), string(data)); diff != "" {
		t.Errorf("settings.example.yaml is not what the structs say; run go test ./settings -update (-want +got):\n%s", diff)
	}
	var inForce strings.Builder
	for line := range strings.Lines(string(data)) {
		body := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(body)]
		if rest, ok := strings.CutPrefix(body, "#"); ok && !(strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, "  ")) && strings.TrimSpace(rest) != "" {
			line = indent + rest
		}
		inForce.WriteString(line)
	}
	for name, text := range map[string]string{"as it is": string(data), "in force": inForce.String()} {
		path := filepath.Join(t.TempDir(), "x.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := settings.Load(settings.Input{File: path})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, d := range s.Diagnostics {
			if d.Severity != diag.SeverityNote {
				t.Errorf("%s: %s", name, d)
			}
		}
		if _, ok := s.Models.Aliases["lab"]; ok != (name == "in force") {
			t.Errorf("%s: alias lab %v", name, ok)
		}
		if name == "in force" && s.Origin("ingestion.pdf.dpi").Source != settings.SourceFile {
			t.Error("the commented settings were not put in force")
		}
	}
}

func TestStarter_changesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.yaml")
	if err := os.WriteFile(path, []byte(settings.Starter()), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := settings.Load(settings.Input{File: path})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range s.Diagnostics {
		if d.Severity != diag.SeverityNote {
			t.Errorf("the starter is complained about: %v", d)
		}
	}
	if at := s.Origin("models.default"); at.Source != settings.SourceDefault {
		t.Errorf("models.default comes from %v: the starter would go before the user's own settings", at)
	}
	want, err := settings.Defaults().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.MarshalJSON()
	if err != nil || string(got) != string(want) {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}
