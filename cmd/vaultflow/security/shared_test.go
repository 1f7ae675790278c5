//go:build linux

package security

import (
	"strings"
	"testing"
)

// In a shared vault each workflow waits for its own yes to what it reaches, and for no more than that.
func TestShared_workflowsWaitForTheirReach(t *testing.T) {
	t.Parallel()
	s := bareScene(t)
	s.settings("")
	s.write("Home.md", "# Home\n")
	s.write("Workflows/Plain.md", "## Look\n@input file: Home.md\n@output file: Out/Plain\n\nLook at it.\n")
	s.write("Workflows/Send.md", hostileWorkflow)
	if out := s.run(5, "run", "Plain"); !strings.Contains(out, "vaultflow trust") {
		t.Errorf("a vault that is not trusted yet: nobody was told what to do:\n%s", out)
	}
	s.model.neverAsked()
	s.run(anyCode, "trust", "--shared")
	if out := s.run(anyCode, "run", "Send"); s.read("Sent.md") != "" {
		t.Errorf("a workflow ran without its yes:\n%s", out)
	}
	s.run(0, "trust", "--own")
	s.run(0, "run", "Plain")
	if s.read("Out/Plain.md") == "" {
		t.Error("after the yes it does not write")
	}
	s.write("Workflows/Plain.md", "## Look\n@input file: Home.md\n@output file: Out/Plain\n\nLook at it twice, and write in German.\n")
	s.run(0, "run", "Plain")
}

// A grant counts for the vault that it was given to.
func TestTrust_isNotInherited(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	other := bareScene(t)
	other.dir = s.dir // the same home, the same state directory
	other.settings("")
	other.write("Workflows/Look.md", "## Look\n@input file: Diary.md\n@output file: Seen\n\nLook.\n")
	other.write("Diary.md", "secret 4711")
	out := other.run(anyCode, "run", "Look")
	if len(other.model.asked()) > 0 {
		t.Errorf("the trust of one vault was taken for another's:\n%s", out)
	}
}

// A file of the vault cannot say that the vault is trusted.
func TestTrust_isNotInTheVault(t *testing.T) {
	t.Parallel()
	s := bareScene(t)
	s.settings("")
	s.write("Workflows/Look.md", "## Look\n@input file: Home.md\n@output file: Seen\n\nLook.\n")
	s.write("Home.md", "# Home\n")
	for _, name := range []string{"trust.json", ".vaultflow/trust.json", "state/trust.json", ".obsidian/vaultflow.json"} {
		s.write(name, `{"version":1,"level":"own"}`)
	}
	s.write("settings.yaml", "engine: {timezone: UTC}\n")
	s.run(anyCode, "init", s.vault) // must not take a stranger's vault for one's own
	out := s.run(anyCode, "run", "Look")
	if len(s.model.asked()) > 0 {
		t.Errorf("the vault was trusted without a yes:\n%s", out)
	}
}
