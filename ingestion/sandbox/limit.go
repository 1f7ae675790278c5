package sandbox

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// tooSlow is the cause of a request's end that took too long.
type tooSlow string

func (e tooSlow) Error() string { return string(e) }

// limit ends a request when the worker has taken this much processor time for it, so that a busy machine has the same results as an idle
// one. By the clock, it may take patience times as long: a worker that sleeps takes no processor time. Where that time is not known, the
// clock counts.
func (p *process) limit(most time.Duration, patience int, end context.CancelCauseFunc) (stop func()) {
	return p.limitBy(processorTime, most, patience, end)
}

// limitBy is limit with another way to find the processor time.
func (p *process) limitBy(processorTime func(pid int) (time.Duration, bool), most time.Duration, patience int, end context.CancelCauseFunc) (stop func()) {
	began, done := time.Now(), make(chan struct{})
	before, known := processorTime(p.cmd.Process.Pid)
	longest := most
	if known {
		longest *= time.Duration(patience)
	}
	go func() {
		for wait := most; ; {
			select {
			case <-done:
				return
			case <-time.After(wait):
			}
			used, took := time.Duration(0), time.Since(began)
			if now, ok := processorTime(p.cmd.Process.Pid); ok {
				used = now - before
			}
			switch {
			case known && used >= most:
				end(tooSlow(fmt.Sprintf("needed more than %s of processor time", most)))
				return
			case took >= longest:
				end(tooSlow(fmt.Sprintf("took more than %s", longest)))
				return
			}
			wait = max(min(most-used, longest-took), time.Millisecond)
		}
	}()
	return sync.OnceFunc(func() { close(done) })
}
