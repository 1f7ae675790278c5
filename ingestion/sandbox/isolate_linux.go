package sandbox

import (
	"os"
	"os/exec"
	"syscall"
)

// isolations are the ways to start a worker, the best first: in a network namespace of its own, which holds no network,
// and then without one. Root makes one directly; others need a user namespace for it, which some systems forbid.
func isolations() []uintptr {
	ways := []uintptr{syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET, 0}
	if os.Geteuid() == 0 {
		ways = append([]uintptr{syscall.CLONE_NEWNET}, ways...)
	}
	return ways
}

// isolate makes the worker start in namespaces of its own.
func isolate(cmd *exec.Cmd, flags uintptr) { cmd.SysProcAttr.Cloneflags = flags }
