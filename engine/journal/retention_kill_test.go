package journal_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine/journal"
)

// sweepDir tells the process that TestSweep_killed starts what to sweep.
const sweepDir = "VAULTFLOW_TEST_SWEEP"

func TestSweep_inAProcessOfItsOwn(t *testing.T) {
	dir := os.Getenv(sweepDir)
	if dir == "" {
		t.Skip("a part of TestSweep_killed")
	}
	j := open(t, dir)
	fmt.Println("open")
	sweep(t, j, kept, epoch)
}

// A sweep is killed at random places until one comes to its end. Each time everything that is left is whole: what a run's
// record names is there, and nothing belongs to a run that is gone.
func TestSweep_killed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	const runs = 400
	if err := j.Fill(t.Context(), journal.Filling{Runs: runs, Workflows: 4, Start: epoch.Add(-200 * day), Every: day / 2, Blobs: true}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(6, 6))
	kills, middle, step := 0, 0, 40*time.Millisecond
	if longTier() {
		step = 4 * time.Millisecond
	}
	for limit := step; ; limit += step { // so that it comes to its end on any machine
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSweep_inAProcessOfItsOwn$")
		cmd.Env = append(os.Environ(), sweepDir+"="+dir)
		said, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(said).ReadString('\n'); line != "open\n" {
			t.Fatalf("the process said %q, %v", line, err)
		}
		kill := time.AfterFunc(time.Duration(random.Int64N(int64(limit))), func() { _ = cmd.Process.Kill() }) // it may have ended
		err = cmd.Wait()
		kill.Stop()
		if left := whole(t, dir); left > 20 && left < runs {
			middle++
		}
		if err == nil {
			break
		}
		kills++
	}
	t.Logf("%d kills, %d of them between the first row and the last", kills, middle)
	if left := whole(t, dir); left != 20 { // five of each workflow
		t.Errorf("%d runs are left", left)
	}
	there, err := filepath.Glob(filepath.Join(dir, "blobs", "*", "*"))
	if want := 20 * 4; err != nil || len(there) != want { // a prompt, a receipt, an answer, and the content before since it is young
		t.Errorf("%d blobs are left, want %d (%v)", len(there), want, err)
	}
}

// whole looks whether what is left in a journal is whole, and counts its runs.
func whole(t *testing.T, dir string) int {
	t.Helper()
	j, err := journal.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	left := idsOf(t, j)
	for _, id := range left {
		r, err := j.Runs.Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for _, digest := range []string{r.Steps[0].Prompt, r.Steps[0].Answer, r.Steps[0].Receipt} {
			if _, err := j.Blobs.Get(t.Context(), digest); err != nil {
				t.Fatalf("run %s: %v", id, err)
			}
		}
		if records, err := j.Runs.Records(t.Context(), id); err != nil || len(records) != 5 || len(r.Changes) != 1 {
			t.Fatalf("run %s has %d records and %d changes, %v", id, len(records), len(r.Changes), err)
		}
	}
	for _, table := range []string{"records", "changes", "events", "batches"} {
		var n int
		if err := j.DB().QueryRowContext(t.Context(), `SELECT count(*) FROM `+table+` WHERE run NOT IN (SELECT id FROM runs)`).Scan(&n); err != nil || n > 0 {
			t.Fatalf("%d %s of runs that are gone, %v", n, table, err)
		}
	}
	return len(left)
}
