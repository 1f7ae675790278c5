//go:build !linux || !amd64

package main

import "testing"

// becomeSupervised is for Linux on amd64 alone.
func becomeSupervised() { panic("no process can be supervised here") }

func TestMatrix(t *testing.T) {
	t.Skip("the crash matrix needs seccomp's user notifications and knows the system calls of Linux on amd64 only")
}
