//go:build !unix

package sandbox

import "os/exec"

func setGroup(*exec.Cmd) {}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
}

func signalled(*process) (name string, killed bool) { return "", false }
