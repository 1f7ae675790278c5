package vaultflow

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// The linker ignores -X for a variable that does not exist, and an archive without a licence is not noticed either.
func TestRelease_namesWhatIsThere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(".goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Builds []struct {
			Main         string
			Env, Ldflags []string
			Goos, Goarch []string
		}
		Archives []struct{ Files []string }
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	if len(config.Builds) != 1 || len(config.Archives) != 1 {
		t.Fatalf("got %d builds and %d archives, want one of each", len(config.Builds), len(config.Archives))
	}
	build := config.Builds[0]
	if !slices.Equal(build.Env, []string{"CGO_ENABLED=0"}) || len(build.Goos) != 3 || len(build.Goarch) != 2 {
		t.Errorf("got %+v, want three systems and two architectures without cgo", build)
	}
	var code strings.Builder
	sources, err := filepath.Glob(build.Main + "/*.go")
	if err != nil || len(sources) == 0 {
		t.Fatalf("%s has no Go files: %v", build.Main, err)
	}
	for _, name := range sources {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(data)
	}
	set := regexp.MustCompile(`-X main\.(\w+)=`).FindAllStringSubmatch(strings.Join(build.Ldflags, " "), -1)
	if len(set) != 2 {
		t.Errorf("the linker sets %d variables, want version and source", len(set))
	}
	for _, x := range set {
		if !regexp.MustCompile(`(?m)^var ` + x[1] + ` = `).MatchString(code.String()) {
			t.Errorf("the linker sets main.%s, which %s does not declare", x[1], build.Main)
		}
	}
	for _, pattern := range config.Archives[0].Files {
		found, err := filepath.Glob(strings.ReplaceAll(pattern, "**/", ""))
		if err != nil || len(found) == 0 {
			t.Errorf("nothing in the tree matches %s", pattern)
		}
	}
}
