package disk

import (
	"io/fs"
	"time"
)

// State is what the watcher knows of a file in the import folder.
type State string

// The states of an arrival. Ready, gone and refused end the watcher's work on a file.
const (
	StateReceiving State = "receiving" // still growing, or not still for long enough
	StateReady     State = "ready"     // complete; in flight until Done or Release
	StateGone      State = "gone"      // vanished before it was ready
	StateRefused   State = "refused"   // not a regular file; never opened
	StateBlocked   State = "blocked"   // cannot be taken now because of Reason; tried again
	StatePostponed State = "postponed" // was released, and will be ready again at Again
)

// Arrival is news of a file in the import folder. Only the latest news of a file is kept for a slow reader.
type Arrival struct {
	Name   string // vault name
	State  State
	Size   int64  // bytes, as last seen
	SHA256 string // when ready
	Reason string // in words: why it waits, is blocked or refused
	Since  time.Time
	Again  time.Time // when postponed: not before then

	Followed bool // it is none of the import folder: see [Watcher.Follow]
}

// snapshot is what shows that a file is the same as before, without reading it.
type snapshot struct {
	size  int64
	mod   time.Time
	inode uint64
	mode  fs.FileMode // type bits
}

func snap(info fs.FileInfo) snapshot {
	return snapshot{size: info.Size(), mod: info.ModTime(), inode: inode(info), mode: info.Mode().Type()}
}

func (s snapshot) same(o snapshot) bool {
	return s.size == o.size && s.inode == o.inode && s.mode == o.mode && s.mod.Equal(o.mod)
}

// request asks to look closely at a file that has been still: whether it is as in snap, complete, and its digest.
type request struct {
	name    string
	gen     int
	snap    snapshot
	known   bool  // snap holds; without it the file is described as found
	arrival bool  // a file of the import folder; otherwise a note
	force   bool  // completeness does not matter any more
	limit   int64 // no digest above this size, 0: always
}

// finding answers a request.
type finding struct {
	request
	gone    bool
	changed bool // not as in snap, before or after reading
	writers writers
	lacks   string
	found   snapshot
	digest  string
	err     error
}
