//go:build linux && amd64

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// A supervised process asks before each system call that changes a file, and waits for the answer: it goes on, it gets an
// error in place of the call, or it is killed, so that the call is never made. The kernel does the asking (seccomp's user
// notifications), so that the binary is the shipped one, all its threads are counted together, and a kill stands exactly
// between two calls. strace counts each thread by itself, which makes the place of a kill a matter of luck.

// fileCall is a system call that changes a file, or makes its content durable.
type fileCall struct {
	name string
	path string // of the file, or of the new name
}

func (c fileCall) String() string { return c.name + " " + c.path }

// below says whether the call concerns a folder's files.
func (c fileCall) below(dir string) bool { return c.path == dir || strings.HasPrefix(c.path, dir+"/") }

// killed is the answer that ends the process, in place of an error for the call.
const killed = syscall.Errno(1 << 20)

// supervised is a process that asks.
type supervised struct {
	cmd      *exec.Cmd
	listener int
	judge    func(fileCall) syscall.Errno
	reads    bool          // ask before a file is opened for reading, too
	done     chan struct{} // closed when nobody can ask any more
	err      error         // of the supervision; read after done
}

// supervise starts a command. judge is asked about each call in turn: zero lets it pass. It is called by one goroutine.
func supervise(t *testing.T, cmd *exec.Cmd, judge func(fileCall) syscall.Errno) *supervised {
	t.Helper()
	return (&supervised{cmd: cmd, judge: judge, done: make(chan struct{})}).start(t)
}

func (s *supervised) start(t *testing.T) *supervised {
	t.Helper()
	cmd := s.cmd
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "supervisor"), os.NewFile(uintptr(pair[1]), "supervised")
	defer ours.Close()
	cmd.Args = append([]string{"supervised", cmd.Path}, cmd.Args[1:]...)
	cmd.Path, cmd.ExtraFiles = self, []*os.File{theirs}
	err = cmd.Start()
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	if s.listener, err = receiveDescriptor(ours); err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		t.Fatalf("supervise a process: %v (the kernel must allow seccomp filters with a listener)", err)
	}
	go func() {
		defer close(s.done)
		s.err = s.answer()
		unix.Close(s.listener)
	}()
	return s
}

// wait waits for the end of the process, and fails the test when the supervision did not work.
func (s *supervised) wait(t *testing.T) *os.ProcessState {
	t.Helper()
	s.cmd.Wait()
	<-s.done
	if s.err != nil {
		t.Fatalf("supervision: %v", s.err)
	}
	return s.cmd.ProcessState
}

func receiveDescriptor(socket *os.File) (int, error) {
	conn, err := net.FileConn(socket)
	if err != nil {
		return -1, err
	}
	defer conn.Close()
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.(*net.UnixConn).ReadMsgUnix(make([]byte, 1), rights)
	if err != nil {
		return -1, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) == 0 {
		return -1, errors.Join(errors.New("no descriptor arrived"), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return -1, err
	}
	unix.CloseOnExec(fds[0])
	return fds[0], nil
}

// notification and response are seccomp_notif and seccomp_notif_resp of linux/seccomp.h.
type notification struct {
	id         uint64
	pid, flags uint32
	nr         int32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

type response struct {
	id    uint64
	val   int64
	errno int32
	flags uint32
}

// answer judges calls until the last process that could ask is gone.
func (s *supervised) answer() error {
	for {
		poll := []unix.PollFd{{Fd: int32(s.listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("poll: %w", err)
		}
		if poll[0].Revents&unix.POLLIN == 0 {
			if poll[0].Revents&unix.POLLHUP != 0 {
				return nil
			}
			continue
		}
		var n notification
		if err := ioctl(s.listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); err != nil {
			if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINTR) { // it was killed meanwhile
				continue
			}
			return fmt.Errorf("receive: %w", err)
		}
		r := response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if call, ok := callOf(n); ok || s.reads && call.name == "read" {
			switch verdict := s.judge(call); verdict {
			case 0:
			case killed:
				s.cmd.Process.Kill()
				continue
			default:
				r.flags, r.errno = 0, -int32(verdict)
			}
		}
		if err := ioctl(s.listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r)); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("answer: %w", err)
		}
	}
}

func ioctl(fd int, request uintptr, data unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(data)); errno != 0 {
		return errno
	}
	return nil
}

// How the arguments of a call name its file.
type shape int

const (
	byDescriptor shape = iota // a descriptor comes first
	byPath                    // a path comes first
	bySecondPath              // two paths: the new name is the second
	atPath                    // a folder's descriptor, then a path
	atSecondPath              // twice that: the new name is the second
)

// fileCalls are the calls that are asked about.
var fileCalls = map[int]struct {
	name string
	shape
}{
	unix.SYS_WRITE: {"write", byDescriptor}, unix.SYS_PWRITE64: {"pwrite64", byDescriptor}, unix.SYS_WRITEV: {"writev", byDescriptor},
	unix.SYS_FSYNC: {"fsync", byDescriptor}, unix.SYS_FDATASYNC: {"fdatasync", byDescriptor}, unix.SYS_FTRUNCATE: {"ftruncate", byDescriptor},
	unix.SYS_FALLOCATE: {"fallocate", byDescriptor}, unix.SYS_FCHMOD: {"fchmod", byDescriptor}, unix.SYS_FCHOWN: {"fchown", byDescriptor},
	unix.SYS_OPEN: {"open", byPath}, unix.SYS_UNLINK: {"unlink", byPath}, unix.SYS_MKDIR: {"mkdir", byPath}, unix.SYS_RMDIR: {"rmdir", byPath},
	unix.SYS_RENAME: {"rename", bySecondPath}, unix.SYS_LINK: {"link", bySecondPath},
	unix.SYS_OPENAT: {"openat", atPath}, unix.SYS_UNLINKAT: {"unlinkat", atPath}, unix.SYS_MKDIRAT: {"mkdirat", atPath},
	unix.SYS_RENAMEAT: {"renameat", atSecondPath}, unix.SYS_RENAMEAT2: {"renameat2", atSecondPath}, unix.SYS_LINKAT: {"linkat", atSecondPath},
}

// callOf reads what a call is about out of the process that waits. ok is false for calls that are no changes of files:
// what is opened for reading only, and what goes into pipes and sockets.
func callOf(n notification) (c fileCall, ok bool) {
	known := fileCalls[int(n.nr)]
	c.name = known.name
	process := fmt.Sprintf("/proc/%d/", n.pid)
	switch known.shape {
	case byDescriptor:
		c.path = linked(process, n.args[0])
	case byPath:
		c.path = reading(process, n.args[0])
	case bySecondPath:
		c.path = reading(process, n.args[1])
	case atPath:
		c.path = under(linked(process, n.args[0]), reading(process, n.args[1]))
	case atSecondPath:
		c.path = under(linked(process, n.args[2]), reading(process, n.args[3]))
	}
	flags := n.args[1]
	if known.shape == atPath {
		flags = n.args[2]
	}
	if strings.HasPrefix(c.name, "open") && flags&(unix.O_CREAT|unix.O_TRUNC) == 0 {
		c.name = "read"
		return c, false
	}
	return c, filepath.IsAbs(c.path)
}

func linked(process string, fd uint64) string {
	if int32(fd) == unix.AT_FDCWD {
		path, _ := os.Readlink(process + "cwd")
		return path
	}
	path, _ := os.Readlink(fmt.Sprintf("%sfd/%d", process, int32(fd)))
	return path
}

func under(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// reading gives the text at an address of a process.
func reading(process string, address uint64) string {
	memory, err := os.Open(process + "mem")
	if err != nil {
		return ""
	}
	defer memory.Close()
	text := make([]byte, unix.PathMax)
	n, err := memory.ReadAt(text, int64(address))
	if err != nil && !errors.Is(err, io.EOF) && n == 0 {
		return ""
	}
	path, _, _ := bytes.Cut(text[:n], []byte{0})
	return string(path)
}

// becomeSupervised is a command of this test's binary: it lets the kernel ask the process at the other end of descriptor 3
// and becomes the program that its arguments name.
func becomeSupervised() {
	runtime.LockOSThread()
	if err := askFirst(); err != nil {
		fmt.Fprintln(os.Stderr, "supervised:", err)
		os.Exit(1)
	}
	err := syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
	fmt.Fprintln(os.Stderr, "supervised:", err)
	os.Exit(1)
}

func askFirst() error {
	program, err := bpf.Assemble(askingFilter())
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(program))
	for i, op := range program {
		filter[i] = unix.SockFilter{Code: op.Op, Jt: op.Jt, Jf: op.Jf, K: op.K}
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	const socket = 3
	if err := unix.Sendmsg(socket, []byte{0}, unix.UnixRights(int(fd)), nil, 0); err != nil {
		return fmt.Errorf("send the listener: %w", err)
	}
	return errors.Join(unix.Close(int(fd)), unix.Close(socket))
}

func askingFilter() []bpf.Instruction {
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: 4, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AUDIT_ARCH_X86_64, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
		bpf.LoadAbsolute{Off: 0, Size: 4},
	}
	for nr := range fileCalls {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(nr), SkipTrue: 1}, bpf.RetConstant{Val: unix.SECCOMP_RET_USER_NOTIF})
	}
	return append(program, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW})
}
