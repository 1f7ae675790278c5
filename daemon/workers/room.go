package workers

import (
	"context"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vaultflow/vaultflow/daemon/memory"
	"github.com/vaultflow/vaultflow/ingestion/sandbox"
	"github.com/vaultflow/vaultflow/policy/turns"
	"github.com/vaultflow/vaultflow/settings"
)

// Room is what a process has for workers: the memory that there is, how many documents may be open at once, and the workers that wait for one. All
// vaults of a process share it, and each gets its turn. It is safe for concurrent use.
type Room struct {
	found  memory.Found
	share  memory.Share
	places *turns.Places
	moved  atomic.Int64 // when a worker last answered or ended, in nanoseconds
	pool   sandbox.Pool

	compiler *turns.Line // one place: compiling PDFium takes a processor for a minute
	cold     sync.Map    // workers whose machine code of PDFium cannot be kept, by their paths
}

// NewRoom divides the memory that there is, as the settings say, and sets the limit of this process.
func NewRoom(s *settings.Settings) *Room {
	r := &Room{found: memory.Find(os.DirFS("/")), compiler: turns.New(1).Line()}
	if s.Engine.Memory > 0 {
		r.found = memory.Found{Bytes: int64(s.Engine.Memory), From: "engine.memory"}
	}
	r.share = memory.Split(r.found.Bytes, int64(s.Ingestion.Memory), runtime.GOMAXPROCS(0))
	r.places = turns.New(r.share.Workers)
	debug.SetMemoryLimit(r.share.Daemon)
	return r
}

// Close ends the workers that wait for a document.
func (r *Room) Close() { r.pool.Close() }

// warm compiles PDFium, once for each build of the worker. A worker with a document cannot keep the machine code: it would compile it
// in the time of a page.
func (r *Room) warm(ctx context.Context, c sandbox.Config, log *slog.Logger) {
	turn := r.compiler.Ask()
	defer turn.Leave()
	select {
	case <-turn.Ready():
	case <-ctx.Done():
		return
	}
	if _, cold := r.cold.Load(c.Worker); cold {
		return
	}
	if err := c.Warm(ctx); err != nil && ctx.Err() == nil {
		r.cold.Store(c.Worker, true)
		log.Warn("each PDF that needs PDFium waits until it is compiled, because its machine code could not be kept", "err", err)
	}
}

// progress records that a worker did something.
func (r *Room) progress() { r.moved.Store(time.Now().UnixNano()) }

// queue is where the documents of one vault wait for room.
type queue struct {
	room     *Room
	line     *turns.Line
	patience time.Duration // how long a document waits without progress of any other
	log      *slog.Logger
}

// slotPatience is how long, at least, a document waits for others that make no progress.
const slotPatience = time.Minute

func newQueue(r *Room, patience time.Duration, log *slog.Logger) *queue {
	return &queue{r, r.places.Line(), patience, log}
}

// slot waits for room for one more worker, and returns what makes room again. It waits for as long as others make progress. If nobody
// does, those that have room may wait for one another, as a prompt does that reads one document beside another: then the worker is
// started all the same.
func (q *queue) slot(ctx context.Context) (free func(), err error) {
	ticket := q.line.Ask()
	since := time.Now()
	for {
		patience := time.NewTimer(q.patience - time.Since(since))
		select {
		case <-ticket.Ready():
			patience.Stop()
			return func() { q.room.progress(); ticket.Leave() }, nil
		case <-ctx.Done():
			patience.Stop()
			ticket.Leave()
			return nil, ctx.Err()
		case <-patience.C:
		}
		moved := time.Unix(0, q.room.moved.Load())
		if !moved.After(since) {
			ticket.Leave()
			q.log.Info("a worker is started beyond engine.memory: no other made progress", "waited", q.patience)
			return func() {}, nil
		}
		since = moved
	}
}
