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

// officeIsolations are the ways to start LibreOffice: as those of a worker, and in a namespace of processes of its own, which ends
// with its first process, whatever the others did.
func officeIsolations() []uintptr {
	ways := isolations()
	for i, flags := range ways {
		if flags != 0 {
			ways[i] = flags | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC
		}
	}
	return ways
}
