//go:build !unix

package mcp

import "os/exec"

func setGroup(*exec.Cmd) {}

// killGroup ends a program.
func killGroup(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // it may have ended
}
