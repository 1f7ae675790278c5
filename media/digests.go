package media

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/settings/state"
)

// Digests remembers the digests of files, so that the pictures of a note are read once, not for every look at its prompt. A file
// is read again when its size, its times or the file itself is another one. Who sends it checks the digest once more. It is safe for
// concurrent use; nil remembers nothing.
type Digests struct {
	dir string // the state directory, in which they are kept for the next process; empty: nowhere
	now func() time.Time

	mu    sync.Mutex
	files map[string]fileState // by name; guarded by mu
	read  bool                 // what an earlier process kept; guarded by mu
	news  bool                 // that the next process does not know; guarded by mu
}

type fileState struct {
	info    fs.FileInfo // nil: an earlier process saw it
	mark    mark
	lasting bool // kept for the next process
	sha256  string
	whole   wholeness
}

// wholeness is whether a picture's file is whole, as it is kept.
type wholeness string

const (
	unchecked wholeness = "-"
	isWhole   wholeness = "whole"
	isTorn    wholeness = "torn"
)

// mark is what another process knows a file by. The time of the last change of any kind is set by the system alone, so it shows changes that
// set the time of modification back.
type mark struct {
	size, modified, changed int64 // bytes, and nanoseconds since 1970
	inode                   int64
}

const (
	maxDigests  = 20_000   // files that are remembered
	maxKept     = 4_000    // of them for the next process, which reads all to know one
	smallestFor = 64 << 10 // bytes of a file that is kept for the next process: smaller ones are read as quickly
)

// settled is how old a change is when no other one can have the same time.
const settled = 2 * time.Second

// keptName is a file of the state directory. Without it, pictures are read again.
const keptName = "digests"

// NewDigests returns a memory, with what an earlier process kept in the state directory. Without a directory, nothing is kept.
func NewDigests(dir string) *Digests {
	return &Digests{dir: dir, now: time.Now, files: map[string]fileState{}}
}

// of returns the digest of a file, which is read only if it is not known.
func (d *Digests) of(name string, info fs.FileInfo, file io.Reader) (string, error) {
	s, err := d.state(name, info, file, nil)
	return s.sha256, err
}

// picture is of for a picture, whose file is checked only if that is not known. A torn one is an error.
func (d *Digests) picture(name string, info fs.FileInfo, file io.Reader, check func() error) (string, error) {
	s, err := d.state(name, info, file, check)
	if err == nil && s.whole == isTorn {
		err = check() // for its words
	}
	return s.sha256, err
}

// state returns what is known of a file. check may be nil.
func (d *Digests) state(name string, info fs.FileInfo, file io.Reader, check func() error) (fileState, error) {
	if last, ok := d.last(name); ok && last.unchanged(info) && (check == nil || last.whole != unchecked) {
		return last, nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return fileState{}, fmt.Errorf("read: %w", err)
	}
	seen := fileState{info: info, sha256: hex.EncodeToString(sum.Sum(nil)), whole: unchecked}
	if check != nil {
		seen.whole = isWhole
		if check() != nil {
			seen.whole = isTorn
		}
	}
	seen.mark, _ = markOf(info)
	if d != nil && d.now().Sub(info.ModTime()) > settled {
		d.mu.Lock()
		defer d.mu.Unlock()
		if len(d.files) >= maxDigests {
			clear(d.files)
		}
		seen.lasting = seen.mark.lasting() && d.now().Sub(time.Unix(0, seen.mark.changed)) > settled
		d.files[name] = seen
		d.news = d.news || seen.lasting
	}
	return seen, nil
}

// last returns what is remembered of a file.
func (d *Digests) last(name string) (fileState, bool) {
	if d == nil {
		return fileState{}, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.read && d.dir != "" {
		kept, _ := state.Read(d.dir, keptName) // what cannot be read is found out again
		d.parse(kept)
	}
	d.read = true
	last, ok := d.files[name]
	return last, ok
}

// forget drops what is remembered of a file that turned out to have another digest.
func (d *Digests) forget(name string) {
	if _, ok := d.last(name); ok {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.files, name)
		d.news = true
	}
}

// unchanged reports whether a file is the one that was seen before. Files in memory have no identity.
func (s fileState) unchanged(now fs.FileInfo) bool {
	at, ok := markOf(now)
	if s.info == nil {
		return ok && at == s.mark
	}
	return at == s.mark && s.info.Size() == now.Size() && s.info.ModTime().Equal(now.ModTime()) && (now.Sys() == nil || os.SameFile(s.info, now))
}

// lasting reports whether a file with this mark can be kept for the next process.
func (m mark) lasting() bool { return m.inode != 0 && m.size >= smallestFor }

// Keep stores what the next process should know, if there is something new and a state directory: a command that only looks makes none.
func (d *Digests) Keep() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := os.Stat(d.dir); err != nil || !d.news {
		return nil //nolint:nilerr // there is none
	}
	d.news = false
	return state.Write(d.dir, keptName, d.kept())
}

// kept returns a line for each file.
func (d *Digests) kept() []byte {
	names := slices.SortedFunc(maps.Keys(d.files), func(a, b string) int { // those that this process read first
		if before, after := d.files[a].info == nil, d.files[b].info == nil; before != after {
			if after {
				return -1
			}
			return 1
		}
		return cmp.Compare(a, b)
	})
	var out bytes.Buffer
	lines := 0
	for _, name := range names {
		if s := d.files[name]; s.lasting && !strings.Contains(name, "\n") && lines < maxKept {
			fmt.Fprintf(&out, "%s %d %d %d %d %s %s\n", s.sha256, s.mark.size, s.mark.modified, s.mark.changed, s.mark.inode, s.whole, name)
			lines++
		}
	}
	return out.Bytes()
}

// parse reads what kept returned. Lines of another form are left out.
func (d *Digests) parse(kept []byte) {
	for line := range strings.Lines(string(kept)) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 7)
		if sum, err := hex.DecodeString(fields[0]); err != nil || len(sum) != sha256.Size || len(fields) < 7 {
			continue
		}
		known := wholeness(fields[5])
		if known != unchecked && known != isWhole && known != isTorn { // of an earlier version
			continue
		}
		var numbers [4]int64
		for i := range numbers {
			numbers[i], _ = strconv.ParseInt(fields[i+1], 10, 64) // 0 is no file that is kept, or none that is like it
		}
		if m := (mark{numbers[0], numbers[1], numbers[2], numbers[3]}); m.lasting() {
			d.files[fields[6]] = fileState{mark: m, lasting: true, sha256: fields[0], whole: known}
		}
	}
}
