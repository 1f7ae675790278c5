package disk

import (
	"fmt"
	"time"
)

// nameless deals with a file that is ready but for its name.
func (s *session) nameless(f finding, now time.Time) {
	name, err := s.v.straighten(f.name)
	if err != nil {
		f.err = err
		s.tracker.checked(f, now)
		return
	}
	s.w.report(Report{Code: "renamed", Name: name, Message: fmt.Sprintf("the name %q was not text (UTF-8)", f.name)})
	s.lost(f.name, now)
	s.touch(name, now)
}
