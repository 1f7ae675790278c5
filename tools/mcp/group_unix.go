//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// setGroup puts a program into a process group of its own, so that what it starts can be ended with it.
func setGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends a program and what it has started.
func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // there may be nobody left
}
