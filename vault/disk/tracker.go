package disk

import (
	"cmp"
	"io/fs"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/vault"
)

// tracker decides when a file of the import folder is taken. It is a pure state machine: its input is what was seen and
// when, its output what to look at and what to report. A file is ready when size, time and inode have been still for
// quiet, no event came meanwhile, and a close look finds that nobody has it open for writing and its format is complete; an
// incomplete or empty one is ready when it has been still for stall. Where the system does not say who has it open, one that
// continued after a pause waits twice as long as that, and a large one longer than a small one. Then it is in flight until done or release, and news only when its content is other than
// what was delivered. It belongs to one goroutine.
type tracker struct {
	quiet, stall time.Duration
	files        map[string]*tracked
	news         []Arrival
	gen          int
}

type phase int

const (
	waiting  phase = iota // until due
	checking              // a request is out
	flying                // delivered, not done
	settled               // done, still there
	refused               // not a regular file
	held                  // by its name, somebody must act first
)

type tracked struct {
	phase  phase
	snap   snapshot
	since  time.Time // last change or event
	due    time.Time // next look, when waiting
	gen    int
	told   State  // last news
	reason string // last reported reason
	faults int    // failed looks in a row
	back   int    // how often it was handed back since it last changed

	gap    time.Duration // the longest pause after which it changed again
	busy   int           // looks in a row at which somebody had it open for writing
	follow bool          // it was taken, and lies elsewhere now
	seeded bool          // followed, and not looked at yet

	stirred   bool   // changed or touched while checking or flying
	delivered string // digest, empty before the first delivery
	inode     uint64 // of what was delivered
	size      int64  // of what was delivered
}

const (
	mostBackoff  = time.Minute      // longest pause between looks at a file that cannot be read
	mostBusy     = 10 * time.Second // longest pause between looks at a file that somebody has open for writing
	mostHandback = 10 * time.Minute // longest pause before a file that was handed back is delivered again
)

func newTracker(quiet, stall time.Duration) *tracker {
	return &tracker{quiet: quiet, stall: max(stall, quiet), files: map[string]*tracked{}}
}

// see takes what a scan or an event found under a name. An event restarts the wait even when nothing else changed.
func (t *tracker) see(name string, s snapshot, event bool, now time.Time) {
	f := t.files[name]
	switch {
	case f == nil:
		f = &tracked{}
		t.files[name] = f
		t.begin(name, f, s, now)
	case f.phase == refused && f.snap.mode != s.mode:
		t.begin(name, f, s, now)
	case f.phase == waiting && !f.snap.same(s):
		t.begin(name, f, s, now)
	case f.phase == waiting && event:
		t.restart(f, now)
	case f.phase == checking && (event || !f.snap.same(s)), f.phase == flying && !f.snap.same(s):
		f.stirred = true
	case f.phase == settled && !f.snap.same(s):
		t.begin(name, f, s, now)
	}
}

// begin starts the wait for a file that is new or has changed.
func (t *tracker) begin(name string, f *tracked, s snapshot, now time.Time) {
	f.snap, f.stirred, f.back, f.busy = s, false, 0, 0
	if !f.since.IsZero() {
		f.gap = min(max(f.gap, now.Sub(f.since)), t.stall/2)
	}
	if !s.mode.IsRegular() {
		f.phase = refused
		t.tell(name, f, StateRefused, errSpecial(s.mode).Error(), now)
		return
	}
	t.restart(f, now)
	t.receiving(name, f, "", now)
}

// receiving reports that a file is on its way, unless it may turn out to be what was delivered before, only touched.
func (t *tracker) receiving(name string, f *tracked, reason string, now time.Time) {
	if f.delivered == "" || f.size != f.snap.size {
		t.tell(name, f, StateReceiving, reason, now)
	}
}

// restart begins the wait again.
func (t *tracker) restart(f *tracked, now time.Time) {
	f.phase, f.since, f.faults = waiting, now, 0
	f.due = now.Add(t.quiet)
	if f.snap.size == 0 {
		f.due = now.Add(t.stall)
	}
}

// unsure is how long a file must be still where the system does not say whether somebody writes it: twice as long as its writer has
// paused before, and longer for a large file, whose writer has more to wait for (one quiet period for 16 MB, two for 32 MB, and so on).
func (t *tracker) unsure(f *tracked) time.Duration {
	return max(2*f.gap, min(t.quiet*time.Duration(bits.Len64(uint64(f.snap.size>>24))), t.stall))
}

// vanish takes that a name is not there any more.
func (t *tracker) vanish(name string, now time.Time) {
	f := t.files[name]
	if f == nil {
		return
	}
	if f.phase == flying { // the consumer has it; whatever takes the name next is another file
		f.delivered, f.stirred, f.snap = "", false, snapshot{}
		return
	}
	delete(t.files, name)
	if f.phase != settled && f.told != "" && f.told != StateReady {
		t.tell(name, f, StateGone, "", now)
	}
}

// vanishBut takes the result of a full scan: what it did not see is gone, except where folders could not be read.
func (t *tracker) vanishBut(seen map[string]bool, unread []string, now time.Time) {
	for name := range t.files {
		if !seen[name] && !anyWithin(name, unread) {
			t.vanish(name, now)
		}
	}
}

func anyWithin(name string, dirs []string) bool {
	for _, dir := range dirs {
		if vault.Within(name, dir) {
			return true
		}
	}
	return false
}

// hold reports, once, a file that is not taken until a person acts.
func (t *tracker) hold(name, reason string, now time.Time) {
	if t.files[name] == nil {
		t.files[name] = &tracked{phase: held}
		t.tell(name, t.files[name], StateBlocked, reason, now)
	}
}

// block reports a file that cannot even be described.
func (t *tracker) block(name, reason string, now time.Time) {
	f := t.files[name]
	if f == nil {
		f = &tracked{}
		t.files[name] = f
		t.restart(f, now)
	}
	if f.phase == waiting {
		t.backoff(f, now)
		t.tell(name, f, StateBlocked, reason, now)
	}
}

func (t *tracker) backoff(f *tracked, now time.Time) {
	f.due = now.Add(t.pause(f.faults, mostBackoff))
	f.faults++
}

// pause is the quiet period, doubled each time, up to a limit.
func (t *tracker) pause(times int, most time.Duration) time.Duration {
	return min(t.quiet<<min(times, 16), max(most, t.quiet))
}

// tick returns the close looks that are due, those that have waited longest first.
func (t *tracker) tick(now time.Time) []request {
	var out []request
	for name, f := range t.files {
		if f.phase != waiting {
			continue
		}
		if f.since.After(now) { // the clock was set back
			t.restart(f, now)
		}
		if f.due.After(now) {
			continue
		}
		t.gen++
		f.phase, f.gen, f.stirred = checking, t.gen, false
		out = append(out, request{
			name: name, gen: t.gen, snap: f.snap, known: true, arrival: true,
			force: now.Sub(f.since) >= t.stall,
		})
	}
	slices.SortFunc(out, func(a, b request) int {
		return cmp.Or(t.files[a.name].since.Compare(t.files[b.name].since), strings.Compare(a.name, b.name))
	})
	return out
}

// next is when tick has something to do, zero for never.
func (t *tracker) next() time.Time {
	var next time.Time
	for _, f := range t.files {
		if f.phase == waiting && (next.IsZero() || f.due.Before(next)) {
			next = f.due
		}
	}
	return next
}

// checked takes the answer to a request.
func (t *tracker) checked(r finding, now time.Time) {
	f := t.files[r.name]
	if f == nil || f.phase != checking || f.gen != r.gen {
		return
	}
	f.phase = waiting
	switch {
	case r.gone:
		t.vanish(r.name, now)
	case r.err != nil:
		t.backoff(f, now)
		t.tell(r.name, f, StateBlocked, inWords(r.err), now)
	case r.changed:
		t.begin(r.name, f, r.found, now)
	case f.stirred:
		t.begin(r.name, f, f.snap, now)
	case r.writers.open:
		t.written(r, f, now)
	case !r.writers.sure && now.Before(f.since.Add(t.unsure(f))): // whether its writer is done is unknown
		f.due = f.since.Add(t.unsure(f))
		t.receiving(r.name, f, r.lacks, now)
	case r.lacks != "":
		f.due, f.faults = f.since.Add(t.stall), 0
		t.receiving(r.name, f, r.lacks, now)
	case f.delivered == r.digest && (f.follow || f.inode == r.snap.inode):
		f.phase, f.seeded = settled, false // only its time changed, or it took the place of its copy
		if f.told == StateReceiving {
			t.tell(r.name, f, StateGone, "", now)
		}
	case f.seeded: // it changed when it was taken, or before: how long it has been still is unknown
		f.seeded = false
		t.begin(r.name, f, f.snap, now)
	default:
		f.phase, f.delivered, f.inode, f.size = flying, r.digest, r.snap.inode, r.snap.size
		t.tellReady(r, now)
		f.told, f.reason = StateReady, ""
	}
}

// written takes that somebody has a file open for writing: it is on its way, however long it has been still.
func (t *tracker) written(r finding, f *tracked, now time.Time) {
	f.due = now.Add(t.pause(f.busy/8, mostBusy))
	f.busy, f.faults = f.busy+1, 0
	if reason := r.writers.reason(); f.busy == 1 || f.told != StateReceiving || f.reason != reason {
		t.tell(r.name, f, StateReceiving, reason, now)
	}
}

// keep follows a file that was taken with a digest and lies elsewhere now: it is news when it has other content.
func (t *tracker) keep(name string, s snapshot, digest string, now time.Time) {
	if f := t.files[name]; f != nil && f.told == StateReceiving { // another file had this name
		t.tell(name, f, StateGone, "", now)
	}
	t.files[name] = &tracked{
		phase: waiting, snap: s, since: now, due: now, follow: true, seeded: true, delivered: digest, inode: s.inode, size: s.size,
	}
}

// drop ends what keep began.
func (t *tracker) drop(name string, now time.Time) {
	if f := t.files[name]; f != nil && f.phase != flying {
		delete(t.files, name)
		if f.told == StateReceiving {
			t.tell(name, f, StateGone, "", now)
		}
	}
}

// done is called when the consumer has finished with a file. One that is still there is left alone until it changes.
func (t *tracker) done(name string, now time.Time) {
	f := t.files[name]
	if f == nil || f.phase != flying {
		return
	}
	f.phase, f.back = settled, 0
	if f.stirred {
		t.restart(f, now)
	}
}

// release is called when the consumer hands a file back: it will be delivered again, after a pause that doubles each time. A
// file that has changed meanwhile waits no longer than a new one.
func (t *tracker) release(name string, now time.Time) {
	f := t.files[name]
	if f == nil || f.phase != flying {
		return
	}
	f.delivered = ""
	t.restart(f, now)
	if f.stirred {
		f.back = 0
	}
	f.due = now.Add(max(f.due.Sub(now), t.pause(f.back, mostHandback)))
	f.back++
	f.told = StatePostponed
	t.news = append(t.news, Arrival{Name: name, State: StatePostponed, Size: f.snap.size, Since: now, Again: f.due, Followed: f.follow})
}

// tell reports news of a file, not the same twice.
func (t *tracker) tell(name string, f *tracked, state State, reason string, now time.Time) {
	if state == f.told && reason == f.reason && state != StateReceiving {
		return
	}
	f.told, f.reason = state, reason
	t.news = append(t.news, Arrival{Name: name, State: state, Size: f.snap.size, Reason: reason, Since: now, Followed: f.follow})
}

func (t *tracker) tellReady(r finding, now time.Time) {
	t.news = append(t.news, Arrival{Name: r.name, State: StateReady, Size: r.snap.size, SHA256: r.digest, Since: now, Followed: t.files[r.name].follow})
}

// take returns the news since the last call.
func (t *tracker) take() []Arrival {
	out := t.news
	t.news = nil
	return out
}

// inWords leaves out what a person does not need of an error of the file system.
func inWords(err error) string {
	if isPermission(err) {
		return "it may not be read: " + fs.ErrPermission.Error()
	}
	return err.Error()
}
