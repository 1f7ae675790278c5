package local

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/policy/turns"
)

// sharer is the queue of one of several executors.
type sharer struct {
	*queue
	name string
	runs int
}

func (s *sharer) add(n int) {
	for range n {
		s.runs++
		id := fmt.Sprint(s.name, s.runs)
		s.queue.add(&job{id: id, lane: id, done: make(chan struct{}), spec: spec{Pinned: &engine.Pinned{}}})
	}
}

// begins returns the runs that begin now.
func (s *sharer) begins() (list []*job) {
	s.start(func(j *job) { list = append(list, j) })
	return list
}

// TestTurn_fair: one executor has 200 runs, and then others have one each. They get the next places, and their own limits stay.
func TestTurn_fair(t *testing.T) {
	t.Parallel()
	places := turns.New(3)
	var all []*sharer
	for _, name := range []string{"a", "b", "c"} {
		all = append(all, &sharer{queue: newQueue(Config{MaxRuns: 2, MaxImports: 2, Turns: places.Line()}), name: name})
	}
	all[0].add(200)
	var order strings.Builder
	var working []*job
	of := map[*job]*sharer{}
	for round := 0; round == 0 || len(working) > 0; round++ {
		for _, s := range all {
			for _, j := range s.begins() {
				working, of[j] = append(working, j), s
				order.WriteString(s.name)
			}
			if s.busy[engine.KindWorkflow] > 2 {
				t.Fatalf("%s runs %d at once", s.name, s.busy[engine.KindWorkflow])
			}
		}
		if len(working) > 3 {
			t.Fatalf("%d run at once", len(working))
		}
		if round == 1 {
			all[1].add(1)
			all[2].add(1)
		}
		if len(working) > 0 {
			of[working[0]].leave(working[0], nil)
			working = working[1:]
		}
	}
	if got := order.String(); len(got) != 202 || strings.Index(got, "b") > 6 || strings.Index(got, "c") > 6 {
		t.Errorf("order %.20s…, %d in all", got, len(got))
	}
	if places.Free(9) != 3 {
		t.Errorf("%d places are free in the end, want 3", places.Free(9))
	}
}

// TestTurn_hangs: an executor all of whose runs hang keeps no other from working. What it holds is free when it ends.
func TestTurn_hangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		places := turns.New(1)
		hung := &sharer{queue: newQueue(Config{MaxRuns: 4, MaxImports: 2, Turns: places.Line()}), name: "h"}
		other := &sharer{queue: newQueue(Config{MaxRuns: 4, MaxImports: 2, Turns: places.Line()}), name: "o"}
		hung.add(2)
		other.add(2)
		if n := len(hung.begins()); n != 1 || len(other.begins()) != 0 {
			t.Fatalf("%d runs of the first executor, want 1, and none of the other", n)
		}
		<-other.wake // of add
		began := time.Now()
		<-other.wake
		beyond := other.begins()
		if waited := time.Since(began); waited != turnPatience || len(beyond) != 1 {
			t.Fatalf("after %s, another executor began %d runs, want 1 after %s", waited, len(beyond), turnPatience)
		}
		if len(other.begins()) != 0 {
			t.Error("more than one run beyond the limit")
		}
		hung.turn.close(hung.lanes) // the run beyond the limit has that place now
		other.leave(beyond[0], nil)
		select {
		case <-other.turn.ready():
		default:
			t.Error("the end of an executor frees no place")
		}
	})
}

// TestTurn_unwanted: a place that came when no run can use it goes to others.
func TestTurn_unwanted(t *testing.T) {
	t.Parallel()
	places := turns.New(1)
	one := &sharer{queue: newQueue(Config{MaxRuns: 4, MaxImports: 2, Turns: places.Line()}), name: "a"}
	other := &sharer{queue: newQueue(Config{MaxRuns: 4, MaxImports: 2, Turns: places.Line()}), name: "b"}
	one.add(1)
	other.add(1)
	first := one.begins()[0]
	if len(other.begins()) != 0 {
		t.Fatal("two runs begin")
	}
	other.takeWaiting() // as a process does that starts over
	one.leave(first, nil)
	if places.Free(1) != 1 {
		t.Error("a place is kept for runs that are gone")
	}
}
