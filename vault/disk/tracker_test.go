package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"
)

// rig drives a tracker over an imagined folder and a clock that moves only when it is told to.
type rig struct {
	t     *testing.T
	tr    *tracker
	now   time.Time
	files map[string]imagined
	log   []string // news as "state name"
}

type imagined struct {
	snap  snapshot
	lacks string
	err   error
	by    writers
}

const (
	quiet = 2 * time.Second
	stall = time.Minute
)

func newRig(t *testing.T) *rig {
	return &rig{t: t, tr: newTracker(quiet, stall), now: time.Unix(1e9, 0), files: map[string]imagined{}}
}

// put changes an imagined file without a word to the tracker; its content is its size.
func (r *rig) put(name string, size int64, inode uint64, edits ...func(*imagined)) {
	f := imagined{snap: snapshot{size: size, inode: inode, mod: r.now}, by: writers{sure: true}}
	for _, edit := range edits {
		edit(&f)
	}
	r.files[name] = f
}

func lacking(words string) func(*imagined)     { return func(f *imagined) { f.lacks = words } }
func failing(err error) func(*imagined)        { return func(f *imagined) { f.err = err } }
func written(by writers) func(*imagined)       { return func(f *imagined) { f.by = by } }
func special(mode fs.FileMode) func(*imagined) { return func(f *imagined) { f.snap.mode = mode } }

func (r *rig) event(name string) { r.tell(name, true) }

func (r *rig) tell(name string, event bool) {
	if f, ok := r.files[name]; ok {
		r.tr.see(name, f.snap, event, r.now)
	} else {
		r.tr.vanish(name, r.now)
	}
}

// scan is a full one.
func (r *rig) scan() {
	seen := map[string]bool{}
	for name := range r.files {
		seen[name] = true
		r.tell(name, false)
	}
	r.tr.vanishBut(seen, nil, r.now)
}

func (r *rig) remove(name string) { delete(r.files, name) }

func (r *rig) done(name string) {
	r.tr.done(name, r.now)
	r.tell(name, false)
}

// pass lets time go by in small steps, answering every request at once.
func (r *rig) pass(d time.Duration) {
	for end := r.now.Add(d); ; r.now = r.now.Add(100 * time.Millisecond) {
		for _, q := range r.tr.tick(r.now) {
			r.tr.checked(r.answer(q), r.now)
		}
		for _, a := range r.tr.take() {
			r.log = append(r.log, strings.TrimSpace(fmt.Sprintf("%s %s %s", a.State, a.Name, a.Reason)))
		}
		if !r.now.Before(end) {
			return
		}
	}
}

func (r *rig) answer(q request) finding {
	f, ok := r.files[q.name]
	out := finding{request: q, found: f.snap, err: f.err, writers: f.by}
	switch {
	case !ok:
		out.gone = true
	case f.err != nil:
	case !f.snap.same(q.snap):
		out.changed = true
	case f.by.open:
	case f.lacks != "" && !q.force:
		out.lacks = f.lacks
	default:
		out.digest = fmt.Sprint("content of ", f.snap.size)
	}
	return out
}

// want checks the news since the last call; receiving is counted only when asked for.
func (r *rig) want(news ...string) {
	r.t.Helper()
	var got []string
	all := strings.Contains(strings.Join(news, " "), "receiving")
	for _, line := range r.log {
		if all || !strings.HasPrefix(line, "receiving") {
			got = append(got, line)
		}
	}
	if strings.Join(got, "; ") != strings.Join(news, "; ") {
		r.t.Errorf("news: got %q, want %q", got, news)
	}
	r.log = nil
}

func TestTracker(t *testing.T) {
	t.Parallel()
	// Numbers are those of the peers' cases.
	for name, story := range map[string]func(*rig){
		"6, 10, 11: ready once, after the quiet period": func(r *rig) {
			r.put("a", 5, 1)
			r.event("a")
			r.pass(quiet - 100*time.Millisecond)
			r.want("receiving a")
			r.pass(100 * time.Millisecond)
			r.want("ready a")
			r.pass(time.Hour)
			r.scan()
			r.pass(time.Hour)
			r.want()
		},
		"7: an event restarts the wait": func(r *rig) {
			r.put("a", 5, 1)
			for range 20 {
				r.event("a")
				r.pass(quiet / 2)
			}
			r.want()
			r.pass(quiet / 2)
			r.want("ready a")
		},
		"38, 58: a slow writer is never given up, and is one arrival": func(r *rig) {
			for i := range int64(200) {
				r.put("a", i+1, 1)
				r.event("a")
				r.pass(quiet * 9 / 10)
			}
			r.want()
			r.pass(quiet)
			r.want("ready a")
		},
		"growing without events is seen too (4, 9)": func(r *rig) {
			for i := range int64(20) {
				r.put("a", i+1, 1)
				r.scan()
				r.pass(quiet / 2)
			}
			r.want()
			r.pass(quiet)
			r.want("ready a")
		},
		"12: changed between the last event and the look": func(r *rig) {
			r.put("a", 5, 1)
			r.event("a")
			r.pass(quiet / 2)
			r.put("a", 6, 1)
			r.pass(quiet / 2)
			r.want()
			r.pass(quiet)
			r.want("ready a")
		},
		"8, 13, 45: removed before it was still": func(r *rig) {
			r.put("a", 5, 1)
			r.put("b", 5, 2)
			r.event("a")
			r.event("b")
			r.pass(quiet / 2)
			r.remove("a")
			r.remove("b")
			r.event("a") // b goes without an event
			r.pass(quiet)
			r.want("gone a", "gone b")
		},
		"9: an event for what is not there": func(r *rig) {
			r.event("a")
			r.pass(quiet * 2)
			r.want()
		},
		"8, 14, 66: cannot be read, reported once, taken when it can": func(r *rig) {
			r.put("a", 5, 1, failing(fs.ErrPermission))
			r.event("a")
			r.pass(10 * time.Minute)
			r.want("blocked a it may not be read: permission denied")
			r.put("a", 5, 1)
			r.pass(2 * time.Minute)
			r.want("ready a")
		},
		"other faults of reading": func(r *rig) {
			r.put("a", 5, 1, failing(errors.New("device busy")))
			r.event("a")
			r.pass(time.Minute)
			r.want("blocked a device busy")
			r.remove("a")
			r.pass(2 * time.Minute)
			r.want("gone a")
		},
		"a file that cannot even be described": func(r *rig) {
			r.tr.block("a", "no access", r.now)
			r.tr.block("a", "no access", r.now)
			r.pass(0)
			r.want("blocked a no access")
		},
		"15: two files have their own clocks": func(r *rig) {
			r.put("a", 5, 1)
			r.event("a")
			r.pass(quiet / 2)
			r.put("b", 5, 2)
			r.event("b")
			r.pass(quiet / 2)
			r.want("ready a")
			r.pass(quiet / 2)
			r.want("ready b")
		},
		"3, 57: there before the start, by the same rule": func(r *rig) {
			r.put("a", 5, 1)
			r.scan()
			r.pass(quiet / 2)
			r.want()
			r.put("a", 9, 1) // it was still being written
			r.pass(quiet)
			r.want()
			r.pass(quiet)
			r.want("ready a")
		},
		"5, 40: touched while in flight": func(r *rig) {
			r.put("a", 5, 1)
			r.event("a")
			r.pass(quiet)
			r.want("ready a")
			r.put("a", 5, 1)
			r.event("a")
			r.pass(time.Minute)
			r.done("a")
			r.pass(time.Hour)
			r.want()
		},
		"touched after it failed": func(r *rig) {
			r.put("a", 5, 1)
			r.event("a")
			r.pass(quiet)
			r.done("a")
			r.put("a", 5, 1)
			r.event("a")
			r.pass(time.Hour)
			r.want("receiving a", "ready a")
		},
		"60: changed after it failed": func(r *rig) {
			r.put("a", 5, 1)
			r.event("a")
			r.pass(quiet)
			r.done("a")
			r.want("ready a")
			r.put("a", 6, 1)
			r.event("a")
			r.pass(quiet)
			r.want("receiving a", "ready a")
		},
		"changed while in flight, then failed": func(r *rig) {
			r.put("a", 5, 1)
			r.event("a")
			r.pass(quiet)
			r.want("ready a")
			r.put("a", 6, 1)
			r.event("a")
			r.pass(time.Hour)
			r.want()
			r.done("a")
			r.pass(2 * quiet)
			r.want("ready a")
		},
		"the same bytes dropped again under the same name": func(r *rig) {
			r.put("a", 5, 1)
			r.event("a")
			r.pass(quiet)
			r.remove("a") // the consumer moved it
			r.event("a")
			r.done("a")
			r.put("a", 5, 2)
			r.event("a")
			r.pass(quiet)
			r.want("ready a", "ready a")
		},
		"50: the name comes again before done": func(r *rig) {
			r.put("a", 5, 1)
			r.event("a")
			r.pass(quiet)
			r.want("ready a")
			r.remove("a")
			r.event("a")
			r.put("a", 5, 2)
			r.event("a")
			r.pass(time.Hour)
			r.want()
			r.done("a")
			r.pass(2 * quiet)
			r.want("ready a")
		},
		"50: failed, removed, and dropped again as the same inode": func(r *rig) {
			r.put("a", 5, 1)
			r.event("a")
			r.pass(quiet)
			r.done("a")
			r.remove("a")
			r.scan()
			r.put("a", 5, 1)
			r.scan()
			r.pass(quiet)
			r.want("ready a", "ready a")
		},
		"handed back": func(r *rig) {
			r.put("a", 5, 1)
			r.event("a")
			r.pass(quiet)
			r.tr.release("a", r.now)
			r.pass(quiet)
			r.want("ready a", "postponed a", "ready a")
		},
		"deleted after it was handed back": func(r *rig) {
			r.put("a", 5, 1)
			r.event("a")
			r.pass(quiet)
			r.tr.release("a", r.now)
			r.remove("a")
			r.scan()
			r.pass(quiet)
			r.want("ready a", "postponed a", "gone a")
		},
		"handed back again and again: the pauses double, up to ten minutes": func(r *rig) {
			r.put("a", 5, 1)
			r.event("a")
			r.pass(quiet)
			r.want("ready a")
			for pause := quiet; pause < 40*time.Minute; pause *= 2 {
				r.tr.release("a", r.now)
				r.pass(min(pause, mostHandback) - 100*time.Millisecond)
				r.want("postponed a")
				r.pass(100 * time.Millisecond)
				r.want("ready a")
			}
			r.put("a", 6, 1) // another file by the same name waits no longer than a new one
			r.event("a")
			r.tr.release("a", r.now)
			r.event("a")
			r.pass(quiet)
			r.want("postponed a", "receiving a", "ready a")
		},
		"47–49, 54: a deaf watcher lives by scans": func(r *rig) {
			r.put("a", 5, 1)
			r.scan()
			r.scan()
			r.pass(quiet / 2)
			r.scan() // leaves the wait alone
			r.pass(quiet / 2)
			r.want("ready a")
			r.scan()
			r.pass(time.Minute)
			r.want()
		},
		"13, 59: written under another name, then renamed": func(r *rig) {
			r.put("x.~df", 5, 1)
			r.event("x.~df")
			r.pass(quiet / 2)
			r.remove("x.~df")
			r.put("x.pdf", 5, 1)
			r.event("x.~df")
			r.event("x.pdf")
			r.pass(quiet)
			r.want("gone x.~df", "ready x.pdf")
		},
		"2: the writer pauses, but the format is not complete": func(r *rig) {
			r.put("a", 5, 1, lacking("no trailer"))
			r.event("a")
			r.pass(stall / 2)
			r.want("receiving a", "receiving a no trailer")
			r.put("a", 9, 1)
			r.event("a")
			r.pass(quiet)
			r.want("receiving a", "ready a")
		},
		"open for writing: it waits however long it is still, and says who": func(r *rig) {
			r.put("a", 5, 1, written(writers{open: true, by: "cat (process 7)", sure: true}))
			r.event("a")
			r.pass(24 * time.Hour)
			r.want("receiving a", "receiving a cat (process 7) still has it open for writing")
			r.put("a", 9, 1)
			r.event("a")
			r.pass(quiet)
			r.want("receiving a", "ready a")
		},
		"open for writing, closed without another byte": func(r *rig) {
			r.put("a", 5, 1, written(writers{open: true, sure: true}))
			r.event("a")
			r.pass(time.Hour)
			r.want("receiving a", "receiving a a program still has it open for writing")
			f := r.files["a"]
			f.by = writers{sure: true}
			r.files["a"] = f
			r.pass(mostBusy)
			r.want("ready a")
		},
		"nobody says who writes: a large file waits longer": func(r *rig) {
			r.put("a", 100<<20, 1, written(writers{})) // three quiet periods
			r.event("a")
			r.pass(3*quiet - 100*time.Millisecond)
			r.want()
			r.pass(200 * time.Millisecond)
			r.want("ready a")
		},
		"nobody says who writes: twice the longest pause": func(r *rig) {
			unknown := written(writers{})
			r.put("a", 5, 1, unknown)
			r.event("a")
			r.pass(quiet / 2)
			r.put("a", 6, 1, unknown)
			r.event("a")
			r.pass(quiet)
			r.want("ready a") // it has never paused for long
			r.done("a")
			r.pass(5 * quiet)
			r.put("a", 7, 1, unknown)
			r.event("a")
			r.pass(10 * quiet)
			r.want()
			r.pass(3 * quiet)
			r.want("ready a")
		},
		"done: touched is no news, another file with the same bytes is": func(r *rig) {
			r.put("a", 5, 1)
			r.scan()
			r.pass(time.Minute)
			r.want("ready a")
			r.done("a")
			r.put("a", 5, 1) // touched
			r.scan()
			r.pass(time.Minute)
			r.want()
			r.put("a", 5, 2) // dropped again, over the first
			r.scan()
			r.pass(time.Minute)
			r.want("ready a")
		},
		"followed: the same bytes are no news": func(r *rig) {
			r.put("b/a", 5, 1)
			r.tr.keep("b/a", r.files["b/a"].snap, "content of 5", r.now)
			r.pass(time.Minute)
			r.put("b/a", 5, 1) // touched
			r.tell("b/a", false)
			r.pass(time.Minute)
			r.want()
		},
		"followed: another file with the same bytes is no news": func(r *rig) {
			r.put("b/a", 5, 1)
			r.tr.keep("b/a", r.files["b/a"].snap, "content of 5", r.now)
			r.pass(time.Minute)
			r.put("b/a", 5, 2) // it took the place of its copy
			r.tell("b/a", false)
			r.pass(time.Minute)
			r.want()
		},
		"followed: another file has its name": func(r *rig) {
			r.put("b/a", 5, 1)
			r.tr.keep("b/a", r.files["b/a"].snap, "content of 5", r.now)
			r.pass(time.Minute)
			r.put("b/a", 6, 2)
			r.tell("b/a", false)
			r.pass(quiet / 2)
			r.want("receiving b/a")
			r.tr.keep("b/a", r.files["b/a"].snap, "content of 6", r.now)
			r.pass(time.Minute)
			r.want("gone b/a")
		},
		"followed: what it became is news, each time": func(r *rig) {
			r.put("b/a", 6, 1) // it grew while it was moved
			r.tr.keep("b/a", r.files["b/a"].snap, "content of 5", r.now)
			r.pass(quiet / 2)
			r.want()
			r.pass(quiet)
			r.want("ready b/a")
			r.done("b/a")
			r.put("b/a", 7, 1)
			r.tell("b/a", false)
			r.pass(2 * quiet)
			r.want("receiving b/a", "ready b/a")
		},
		"followed: open for writing, closed as it was": func(r *rig) {
			r.put("b/a", 5, 1, written(writers{open: true, by: "tee", sure: true}))
			r.tr.keep("b/a", r.files["b/a"].snap, "content of 5", r.now)
			r.pass(time.Hour)
			r.want("receiving b/a tee still has it open for writing")
			f := r.files["b/a"]
			f.by = writers{sure: true}
			r.files["b/a"] = f
			r.pass(time.Minute)
			r.want("gone b/a") // from the list of those that are on their way
		},
		"incomplete and still: tried anyway": func(r *rig) {
			r.put("a", 5, 1, lacking("no trailer"))
			r.event("a")
			r.pass(stall - time.Second)
			r.want()
			r.pass(time.Second)
			r.want("ready a")
		},
		"38: empty": func(r *rig) {
			r.put("a", 0, 1)
			r.event("a")
			r.pass(stall - time.Second)
			r.want()
			r.put("b", 0, 2)
			r.event("b")
			r.pass(time.Second)
			r.want("ready a")
			r.put("b", 3, 2)
			r.event("b")
			r.pass(quiet)
			r.want("ready b")
		},
		"27, 343: links, pipes, sockets, devices are refused once": func(r *rig) {
			for i, mode := range []fs.FileMode{fs.ModeSymlink, fs.ModeNamedPipe, fs.ModeSocket, fs.ModeDevice} {
				name := fmt.Sprint("s", i)
				r.put(name, 5, 9, special(mode))
				r.event(name)
				r.event(name)
				r.scan()
			}
			r.pass(time.Hour)
			r.want("refused s0 this is a link, not a file", "refused s1 this is a named pipe, not a file",
				"refused s2 this is a socket, not a file", "refused s3 this is a device, not a file")
			r.put("s0", 5, 10)
			r.event("s0")
			r.pass(quiet)
			r.want("ready s0")
			r.remove("s1")
			r.event("s1")
			r.pass(0)
			r.want("gone s1")
		},
		"replaced by a pipe while it was waited for": func(r *rig) {
			r.put("a", 5, 1)
			r.event("a")
			r.put("a", 0, 2, special(fs.ModeNamedPipe))
			r.pass(quiet)
			r.want("refused a this is a named pipe, not a file")
		},
		"40: times in the past and the future prove nothing": func(r *rig) {
			r.put("old", 5, 1, func(f *imagined) { f.snap.mod = r.now.Add(-1000 * time.Hour) })
			r.put("new", 5, 2, func(f *imagined) { f.snap.mod = r.now.Add(1000 * time.Hour) })
			r.event("old")
			r.pass(quiet - 100*time.Millisecond)
			r.want()
			r.event("new")
			r.pass(100 * time.Millisecond)
			r.want("ready old")
			r.pass(quiet)
			r.want("ready new")
		},
		"the clock is set back": func(r *rig) {
			r.put("a", 5, 1)
			r.event("a")
			r.now = r.now.Add(-time.Hour)
			r.pass(quiet)
			r.want("ready a")
		},
		"held until a person acts": func(r *rig) {
			r.tr.hold(".a.icloud", "not downloaded", r.now)
			r.tr.hold(".a.icloud", "not downloaded", r.now)
			r.pass(time.Hour)
			r.want("blocked .a.icloud not downloaded")
			r.event(".a.icloud")
			r.pass(0)
			r.want("gone .a.icloud")
		},
		"folders that could not be read keep their files": func(r *rig) {
			r.put("d/a", 5, 1)
			r.put("e/a", 5, 2)
			r.event("d/a")
			r.event("e/a")
			r.tr.vanishBut(map[string]bool{}, []string{"d"}, r.now)
			r.pass(quiet)
			r.want("gone e/a", "ready d/a")
		},
		"done and release for unknown names": func(r *rig) {
			r.tr.done("x", r.now)
			r.tr.release("x", r.now)
			r.pass(time.Minute)
			r.want()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story(newRig(t))
		})
	}
}

// Events that come while a file is being read make the reading worthless.
func TestTracker_stirredWhileChecked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("a", 5, 1)
	r.event("a")
	r.now = r.now.Add(quiet)
	asked := r.tr.tick(r.now)
	if len(asked) != 1 {
		t.Fatalf("asked for %v", asked)
	}
	r.event("a")
	r.tr.checked(r.answer(asked[0]), r.now)
	r.pass(quiet / 2)
	r.want()
	r.tr.checked(r.answer(asked[0]), r.now) // an old answer
	r.pass(quiet / 2)
	r.want("ready a")
	if next := r.tr.next(); !next.IsZero() {
		t.Errorf("wants to be woken at %v for nothing", next)
	}
}
