//go:build unix

package sandbox

import (
	"os/exec"
	"syscall"
)

// setGroup puts the worker into a process group of its own, so that all of it can be killed.
func setGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends the worker and everything that it may have started.
func (p *process) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may be gone already
	_ = p.cmd.Process.Kill()
}

// signalled returns the name of the signal that ended the process, and whether it came from outside: nothing that a document does
// makes a process send itself one of these. The system sends SIGKILL when it is out of memory.
func signalled(p *process) (name string, outside bool) {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return "", false
	}
	switch status.Signal() {
	case syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP:
		outside = true
	}
	return status.Signal().String(), outside
}

// trespassed reports whether the worker was killed for a forbidden system call.
func trespassed(p *process) bool {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGSYS
}
