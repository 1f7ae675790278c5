package journal

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vaultflow/vaultflow/engine"
)

// TestReceived_fullDisk: a disk that fills up between a question and its answer does not lose the answer, and on a full one nothing is asked.
func TestReceived_fullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mount("vaultflow-test", dir, "tmpfs", 0, "size=4194304"); err != nil {
		t.Skipf("needs a small file system; mounting one: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	j, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	ref := engine.StepRef{Run: "r1", Workflow: "w", Step: "s"}
	_, keep, shut, err := j.Answers.Received(ref, "q")
	if err != nil {
		t.Fatal(err)
	}
	ballast, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	defer ballast.Close()
	for err == nil {
		_, err = ballast.Write(make([]byte, 4096))
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	answer := string(make([]byte, 100<<10))
	if err := errors.Join(keep([]byte(answer)), shut()); err != nil {
		t.Errorf("the answer could not be kept: %v", err)
	}
	other := ref
	other.Batch = 1
	for err = nil; err == nil; _, err = ballast.Write(make([]byte, 4096)) { // into the room that was left over
	}
	if _, _, _, err := j.Answers.Received(other, "q"); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("a place for an answer on a full disk: %v", err)
	}
	if err := ballast.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if got := received(t, j, ref, "q", ""); got != answer {
		t.Errorf("the place holds %d bytes, want %d", len(got), len(answer))
	}
}
