package disk

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// SelfTest describes how the import folder would be watched.
type SelfTest struct {
	Mode    string        // events or poll
	Why     string        // why it would be polled, in words
	Hint    string        // what to do, if anything
	Latency time.Duration // from writing the probe to its event
	Writers bool          // the system can report whether a program has a file open for writing
}

// SelfTest writes a probe file of a name that is ignored into the import folder (or the vault, when there is none),
// waits until the system reports it, and removes it. An event that does not come before ctx ends is an error: set ctx
// a deadline of a few seconds.
func (v *Vault) SelfTest(ctx context.Context) (SelfTest, error) {
	dir := v.actual(v.opt.ImportDir)
	if info, err := v.root.Stat(dir); err != nil || !info.IsDir() {
		dir = "."
	}
	osPath := filepath.Join(v.path, filepath.FromSlash(dir))
	if kind := networkFS(osPath); kind != "" {
		return SelfTest{Mode: modePoll, Why: "the folder is on " + kind + ", which does not report changes"}, nil
	}
	system, err := fsnotify.NewWatcher()
	if err == nil {
		defer system.Close()
		err = system.Add(osPath)
	}
	if err != nil {
		r := limitReport(err)
		return SelfTest{Mode: modePoll, Why: r.Message, Hint: r.Hint}, nil
	}
	return v.probe(ctx, system, path.Join(dir, tempPrefix+"probe-"+strings.ToLower(rand.Text())+tempSuffix))
}

func (v *Vault) probe(ctx context.Context, system *fsnotify.Watcher, name string) (out SelfTest, err error) {
	began := time.Now()
	file, err := v.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return SelfTest{}, fmt.Errorf("write a probe file into %q: %w", path.Dir(name), err)
	}
	writers := v.tellsWriters(name)
	file.Close()
	defer func() { err = errors.Join(err, ignoreMissing(v.root.Remove(name))) }()
	for {
		select {
		case <-ctx.Done():
			return SelfTest{}, fmt.Errorf("wait for the event of a probe file in %q: %w; set watch polling on", path.Dir(name), ctx.Err())
		case err := <-system.Errors:
			return SelfTest{}, fmt.Errorf("watch %q: %w", path.Dir(name), err)
		case e := <-system.Events:
			if filepath.Base(e.Name) == path.Base(name) {
				return SelfTest{Mode: modeEvents, Latency: time.Since(began), Writers: writers}, nil
			}
		}
	}
}
