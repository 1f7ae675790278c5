//go:build linux && (amd64 || arm64)

package confine

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// What the kernel does with a system call, after linux/seccomp.h.
const (
	permit = unix.SECCOMP_RET_ALLOW
	refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)
	unseen = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS) // as on a kernel that lacks the call: libraries do without
	end    = unix.SECCOMP_RET_KILL_PROCESS                // nothing that reads a document does this: it has been taken over
)

// Offsets in struct seccomp_data. Both architectures put the low half of an argument first.
const (
	offsetCall      = 0
	offsetArch      = 4
	offsetArguments = 16
	sizeArgument    = 8
)

// maxCall is above the numbers of all calls. On amd64 the calls of the x32 interface begin there, which nothing here uses.
const maxCall = 1 << 30

// rule decides what happens when a call is made.
type rule struct {
	call uint32
	when []test // all have to hold; none: always
	then uint32
	or   uint32 // what happens when a test does not hold
}

// test compares some bits of an argument, counted from 0. Calls whose argument is an int ignore its high half too.
type test struct {
	argument uint32
	high     bool // its high half
	mask     uint32
	among    []uint32 // one of these
}

// assemble makes a program of rules; what they do not name gets otherwise.
func assemble(rules []rule, otherwise uint32) []bpf.Instruction {
	out := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offsetArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		bpf.RetConstant{Val: end},
		bpf.LoadAbsolute{Off: offsetCall, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: maxCall, SkipTrue: 1},
		bpf.RetConstant{Val: end},
	}
	for _, r := range rules {
		body := r.body()
		out = append(out, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: r.call, SkipTrue: uint8(len(body))}) //nolint:gosec // a few tests
		out = append(out, body...)
	}
	return append(out, bpf.RetConstant{Val: otherwise})
}

// body is what follows when the call is the rule's. It returns in any case.
func (r rule) body() []bpf.Instruction {
	if len(r.when) == 0 {
		return []bpf.Instruction{bpf.RetConstant{Val: r.then}}
	}
	out := []bpf.Instruction{bpf.RetConstant{Val: r.then}, bpf.RetConstant{Val: r.or}}
	for _, t := range slices.Backward(r.when) {
		offset := offsetArguments + sizeArgument*t.argument
		if t.high {
			offset += sizeArgument / 2
		}
		head := []bpf.Instruction{bpf.LoadAbsolute{Off: offset, Size: 4}, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: t.mask}}
		for i, want := range t.among {
			head = append(head, bpf.JumpIf{Cond: bpf.JumpEqual, Val: want, SkipTrue: uint8(len(t.among) - i)}) //nolint:gosec // a few
		}
		head = append(head, bpf.Jump{Skip: uint32(len(out) - 1)}) //nolint:gosec // to the last
		out = append(head, out...)
	}
	return out
}

// filter binds all threads of this process, and those that it starts, to the program, for good.
func filter(instructions []bpf.Instruction) error {
	raw, err := bpf.Assemble(instructions)
	if err != nil {
		return fmt.Errorf("assemble the list of system calls: %w", err)
	}
	code := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		code[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	list := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]} //nolint:gosec // some hundreds
	runtime.LockOSThread()                                           // the two calls have to be of one thread
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("drop new rights: %w", err)
	}
	failed, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&list))) //nolint:gosec // a system call
	runtime.KeepAlive(code)
	switch {
	case errno != 0:
		return fmt.Errorf("the kernel has none: %w", errno)
	case failed != 0:
		return errors.New("a thread has another filter")
	}
	return nil
}

// filterCalls leaves this process the system calls that reading a document takes.
func filterCalls() error { return filter(assemble(rules(), unseen)) }

// filterOfficeCalls takes from this process, and from LibreOffice that it starts, the calls that reach for networks, for
// other processes and for the kernel.
func filterOfficeCalls() error { return filter(assemble(officeRules(), permit)) }
