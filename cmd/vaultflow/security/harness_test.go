//go:build linux

package security

import (
	"strings"
	"testing"
)

// The harness must be able to see what it looks for: with every grant of the owner the same attacks succeed.
func TestHarness_seesWhatIsGranted(t *testing.T) {
	t.Parallel()
	if counted == nil {
		t.Skip("packets are not counted here")
	}
	s := newScene(t)
	s.write("Imported/Letter/index.md", order)
	s.workflow("Read", "---\npermissions: {network: [\"*\"]}\n---\n## Read\n@input file: Imported/Letter/index.md\n"+
		"@tools web_fetch (untrusted=allow), write_file (untrusted=allow)\n@output file: Out\n\nSummarise.\n")
	s.remember()
	t.Log(s.run(anyCode, "run", "Read"))
	s.model.wasFooled()
	if sent := counted.leaks(s.host); len(sent) == 0 {
		t.Errorf("nothing was counted; the model was told: %s", strings.Join(s.model.told(), "\n"))
	}
	if list := s.changed("Out.md"); len(list) == 0 {
		t.Error("nothing was changed")
	}
}
