//go:build !unix

package pdf

import "time"

var started = time.Now()

// used returns how long this process has run: its processor time is not asked for here.
func used() time.Duration { return time.Since(started) }
