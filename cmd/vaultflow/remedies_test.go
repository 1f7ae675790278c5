package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/settings"
)

var settingNamed = regexp.MustCompile(`"[^"\n]*\b(ingestion\.[a-z_]+(?:\.[a-z_]+)*)[^"\n]*"`)

// What people are told to change is there to be changed.
func TestRemedies_nameSettingsThatExist(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	loaded, err := settings.Load(settings.Input{Vault: dir, StateDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, v := range loaded.Values() {
		for key := v.Path; strings.Contains(key, "."); key = key[:strings.LastIndexByte(key, '.')] {
			known[key] = true
		}
	}
	seen := 0
	for _, glob := range []string{"*.go", "sandbox/*.go"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "ingestion", glob))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range settingNamed.FindAllStringSubmatch(string(source), -1) {
				if seen++; !known[found[1]] && !strings.HasSuffix(file, "_test.go") {
					t.Errorf("%s speaks of %s, which is no setting", file, found[1])
				}
			}
		}
	}
	if seen < 5 {
		t.Errorf("%d settings were found in the texts: the pattern does not find them", seen)
	}
}
