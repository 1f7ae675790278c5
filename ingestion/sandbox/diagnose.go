package sandbox

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// phase is what a worker was doing.
type phase struct {
	starting bool // it had not said hello
	page     int  // 0 = the whole document
}

var (
	starting = phase{starting: true}
	opening  = phase{}
)

// noMemory matches what the libraries and the runtime print when they run out of memory.
var noMemory = regexp.MustCompile(`(?i)out of memory|cannot allocate|bad_alloc|(malloc|calloc|realloc)[^\n]*failed|memory allocation`)

// diagnose explains why a worker did not answer. err comes from the pipe; it is nil if the answer came in the moment of the kill.
func (s *Session) diagnose(ctx context.Context, err error, at phase) error {
	cause := context.Cause(ctx)
	if slow, ok := errors.AsType[tooSlow](cause); ok {
		code := failure.Timeout
		if at.starting {
			code = failure.WorkerMissing
		}
		return &extract.Error{Code: code, Page: at.page, Message: at.doing() + " " + slow.Error()}
	} else if cause != nil {
		return fmt.Errorf("%s: %w", at.doing(), cause)
	}
	if errors.Is(err, extract.ErrFrame) {
		s.p.kill()
		_ = s.p.end() // it was killed
		if errors.Is(err, extract.ErrTooMuch) {
			return &extract.Error{Code: at.code(failure.TooMuch), Page: at.page, Message: "the worker broke the protocol: " + err.Error()}
		}
		return &extract.Error{Code: at.code(failure.Crashed), Page: at.page, Message: "the worker broke the protocol: " + err.Error()}
	}
	ended := s.wait()
	said := s.p.stderr.String()
	s.config.Logger.Debug("worker ended", "page", at.page, "err", ended, "stderr", said)
	signal, outside := signalled(s.p)
	switch code := s.p.cmd.ProcessState.ExitCode(); {
	case code == extract.ExitUnconfined:
		return &extract.Error{Code: failure.Unconfined, Message: firstLine(said)}
	case code == extract.ExitSpent:
		return &extract.Error{Code: failure.Timeout, Page: at.page, Message: at.doing() + " needed more processor time than allowed"}
	case trespassed(s.p):
		return &extract.Error{Code: failure.Crashed, Page: at.page, Message: at.doing() + " made the worker try a forbidden system call, and the kernel ended it: the document may be an attack"}
	case noMemory.MatchString(said):
		return &extract.Error{Code: failure.Memory, Page: at.page, Message: at.doing() + " needed more memory than a worker gets; raise engine.memory (vaultflow doctor shows the shares)"}
	case outside:
		return &extract.Error{
			Code: failure.Crashed, Page: at.page, Outside: true,
			Message: fmt.Sprintf("%s was ended from outside (%s): the system was out of memory, or somebody ended the worker", at.doing(), signal),
		}
	case at.starting:
		return &extract.Error{Code: failure.WorkerMissing, Message: fmt.Sprintf("the worker ended at its start (%s): %s", s.p.cmd.ProcessState, strings.TrimSpace(said))}
	case code == extract.ExitAborted && at == opening:
		return &extract.Error{Code: failure.Corrupt, Message: "the document cannot be opened: " + firstLine(said), Aborted: true}
	case signal != "":
		return &extract.Error{Code: failure.Crashed, Page: at.page, Message: fmt.Sprintf("%s ended the worker: %s", at.doing(), signal)}
	}
	return &extract.Error{Code: failure.Crashed, Page: at.page, Message: fmt.Sprintf("%s ended the worker (%s): %s", at.doing(), s.p.cmd.ProcessState, firstLine(said))}
}

// wait reaps a worker whose pipe broke. It first waits a moment for the worker to end by itself, so that it can report its own reason.
func (s *Session) wait() error {
	timer := time.AfterFunc(reapDelay, s.p.kill)
	defer timer.Stop()
	return s.p.end()
}

func (at phase) doing() string {
	switch {
	case at.starting:
		return "starting the worker"
	case at.page == 0:
		return "opening the document"
	}
	return "reading the page"
}

func (at phase) code(otherwise failure.Code) failure.Code {
	if at.starting {
		return failure.WorkerMissing
	}
	return otherwise
}

// refused is a failure that the worker itself reports. Its codes are taken from a list, and its page from the request.
func (s *Session) refused(e *extract.Error, at phase) error {
	out := &extract.Error{Code: failure.PageFailed, Message: firstLine(e.Message), Page: at.page}
	if at.page == 0 {
		out.Code = failure.Corrupt
	}
	switch e.Code {
	case failure.NeedsPassword, failure.NotPDF, failure.Corrupt, failure.TooLarge, failure.PageFailed, failure.Unsupported:
		out.Code = e.Code
	}
	return out
}

// firstLine is a message fit to be shown: its first line that says something, bounded, without control characters.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	line = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(line, ""))
	if line = strings.TrimSpace(line); line == "" {
		return "it said nothing"
	}
	if len(line) > 300 {
		line = strings.ToValidUTF8(line[:300], "") + "…"
	}
	return line
}
