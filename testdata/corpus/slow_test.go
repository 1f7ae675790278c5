package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

func TestPlan(t *testing.T) {
	reopened, long := 0, 0
	for i := range 200 {
		sum := sha256.Sum256(fmt.Append(nil, i))
		f := source{kind: []string{"txt", "pdf"}[i%2], sha256: hex.EncodeToString(sum[:])}
		size := int64(i * 37)
		p := planOf(f, size, 30*time.Second)
		if !reflect.DeepEqual(p, planOf(f, size, 30*time.Second)) {
			t.Fatal("a plan depends on the file alone")
		}
		var bytes int64
		for _, piece := range p.pieces {
			bytes += piece.bytes
			if piece.pause > 30*time.Second || p.reopen && piece.pause > shortest {
				t.Errorf("a pause of %s, reopen %v", piece.pause, p.reopen)
			}
			if piece.pause >= 15*time.Second {
				long++
			}
		}
		if bytes != size {
			t.Errorf("%d of %d bytes", bytes, size)
		}
		if p.reopen {
			reopened++
			if f.kind == "pdf" {
				t.Error("no program appends to a PDF by its name")
			}
		}
	}
	if reopened < 20 || long < 100 {
		t.Errorf("%d files are opened again, %d pauses are long", reopened, long)
	}
}

func TestPlan_write(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "from")
	data := bytes.Repeat([]byte("one two three\n"), 100)
	if err := os.WriteFile(from, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, reopen := range []bool{false, true} {
		to := filepath.Join(dir, fmt.Sprint(reopen), "to")
		p := plan{pieces: []piece{{0, 0}, {500, time.Millisecond}, {int64(len(data)) - 500, time.Millisecond}}, reopen: reopen}
		if err := p.write(t.Context(), from, to); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(to); err != nil || !bytes.Equal(got, data) {
			t.Errorf("reopen %v: %d bytes, %v", reopen, len(got), err)
		}
	}
}

func TestCompare(t *testing.T) {
	page := func(digest string) map[string]string { return map[string]string{"pages/page_0001.png": digest} }
	before := outcome{engine.ImportDone, []map[string]string{page("1")}}
	for _, c := range []struct {
		now       outcome
		different int
	}{
		{before, 0},
		{outcome{engine.ImportDone, []map[string]string{page("2")}}, 1},
		{outcome{engine.ImportPartial, before.pages}, 1},
		{outcome{engine.ImportDone, []map[string]string{{}}}, 1},
		{outcome{engine.ImportDone, nil}, 1},
	} {
		s, r := site{reference: map[string]outcome{"x": before}}, &report{}
		s.compare(r, &result{source: source{sha256: "x"}}, c.now)
		if r.Compared != 1 || r.Different != c.different {
			t.Errorf("%v: %d compared, %d different", c.now, r.Compared, r.Different)
		}
	}
}
