package programtest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

func TestWrite_besideOtherPrograms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no shell")
	}
	t.Parallel()
	dir := t.TempDir()
	var g sync.WaitGroup
	for i := range 8 {
		g.Go(func() {
			for k := range 20 {
				path := filepath.Join(dir, fmt.Sprint(i, "-", k))
				Write(t, path, []byte("#!/bin/sh\nexit 0\n"))
				if out, err := exec.CommandContext(t.Context(), path).CombinedOutput(); err != nil {
					t.Errorf("%s: %v %s", path, err, out)
				}
			}
		})
	}
	g.Wait()
}
