package main

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/testdata/programtest"
)

// memoryGroup makes a control group with so much memory and no swap, or skips the test.
func memoryGroup(t *testing.T, bytes int64) (dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make a control group")
	}
	name := fmt.Sprintf("vaultflow-test-%d", os.Getpid())
	for root, limit := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"} {
		dir := filepath.Join(root, name)
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { os.Remove(dir) })
		f, err := os.OpenFile(filepath.Join(dir, limit), os.O_WRONLY, 0) // the kernel made it, or this is no group
		if err != nil {
			continue
		}
		_, err = fmt.Fprint(f, bytes)
		if f.Close() == nil && err == nil {
			return dir
		}
	}
	t.Skip("this system has no control group for memory that a test may use")
	return ""
}

// In 260 MB, pictures of 36 megapixels end workers at most: serve lives, what it cannot make is refused in words, and what comes
// after is imported.
func TestServe_largePicturesInSmallMemory(t *testing.T) {
	t.Parallel()
	group := memoryGroup(t, 260<<20)
	s := newSite(t, worker(t), "ingestion: {page_timeout: 3m, open_timeout: 3m}\n") // the test is about memory, not time
	real := sitetest.Binary(t)
	inside := filepath.Join(t.TempDir(), "vaultflow")
	script := fmt.Sprintf("#!/bin/sh\necho $$ > %s/cgroup.procs || exit 1\nexec %s \"$@\"\n", group, real)
	programtest.Write(t, inside, []byte(script))
	s.Binary = inside
	if out, errs, _ := s.CLI("doctor"); !strings.Contains(out+errs, "243 MB ("+group) {
		t.Errorf("doctor does not show the group's limit:\n%s%s", out, errs)
	}
	d := s.serve()
	s.Binary = real
	var photo, drawing bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewYCbCr(image.Rect(0, 0, 6000, 6000), image.YCbCrSubsampleRatio420), nil); err != nil {
		t.Fatal(err)
	}
	s.Write("Import/photo.jpg", photo.Bytes())
	dropped := 2
	if long() { // takes 144 MB as pixels
		if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&drawing, image.NewNRGBA(image.Rect(0, 0, 6000, 6000))); err != nil {
			t.Fatal(err)
		}
		s.Write("Import/drawing.png", drawing.Bytes())
		dropped++
	}
	s.Write("Import/letter.txt", []byte("Dear all"))
	s.Wait(3*patience, "all of them to end", func() (bool, string) {
		ended := 0
		for _, r := range s.Imports() {
			if r.State.Finished() {
				ended++
			}
		}
		return ended == dropped, describe(s.Imports())
	})
	for _, r := range s.Imports() {
		t.Logf("%s: %s %s %s", r.Source, r.State, r.Reason, strings.Join(r.Warnings, "; "))
		if r.Source == "Import/letter.txt" && r.State != engine.ImportDone {
			t.Errorf("the letter is %s: %s", r.State, r.Reason)
		}
		if r.State != engine.ImportDone && !strings.Contains(r.Reason+strings.Join(r.Warnings, " "), "memory") {
			t.Errorf("%s is %s without a word about memory: %s", r.Source, r.State, r.Reason)
		}
	}
	d.alive()
}
