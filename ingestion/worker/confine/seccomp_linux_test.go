//go:build linux && (amd64 || arm64)

package confine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// deed confines this process like the worker, which starts it anew, and then does what a document that has taken the
// worker over would do. It prints how far that went.
func deed(what string) {
	if !strings.Contains(strings.Join(os.Args, " "), "-confined=") {
		Reader(Task{Memory: 1 << 30, Again: again}, os.Stderr)
	}
	if level := DropCalls(extract.ConfinedLandlock, os.Stderr); level != extract.ConfinedFull {
		fmt.Println("unconfined")
		return
	}
	var err error
	switch what {
	case "nothing":
	case "read passwd":
		_, err = os.ReadFile("/etc/passwd")
	case "stat": // what Landlock does not keep from anybody
		_, err = os.Stat("/etc/passwd")
	case "lstat":
		_, err = os.Lstat("/etc/passwd")
	case "stat with an empty path allowed":
		err = unix.Fstatat(unix.AT_FDCWD, "/etc/passwd", &unix.Stat_t{}, unix.AT_EMPTY_PATH)
	case "statx":
		err = unix.Statx(unix.AT_FDCWD, "/etc/passwd", 0, unix.STATX_BASIC_STATS, &unix.Statx_t{})
	case "readlink":
		_, err = os.Readlink("/proc/self/exe")
	case "access":
		err = unix.Access("/etc/passwd", unix.F_OK)
	case "open as a place": // without reading it
		err = openPlace("/etc/passwd")
	case "statfs":
		err = unix.Statfs("/etc", &unix.Statfs_t{})
	case "getxattr":
		_, err = unix.Getxattr("/etc/passwd", "user.x", nil)
	case "directory":
		err = unix.Chdir("/etc")
	case "look at what is open":
		_, err = os.Stdin.Stat()
	case "write":
		err = os.WriteFile("/dev/null", []byte("x"), 0o600) // Landlock would let it
	case "create":
		err = os.WriteFile("/tmp/vaultflow-deed", nil, 0o600)
	case "thread": // on another thread than the one that made the filter
		done := make(chan error)
		go func() {
			_, err := unix.Open("/dev/null", unix.O_RDWR, 0)
			done <- err
		}()
		err = <-done
	case "raise limit":
		err = unix.Prlimit(0, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}, nil)
	case "clone3":
		_, _, errno := unix.RawSyscall(unix.SYS_CLONE3, 0, 0, 0)
		err = errno
	case "memory":
		err = spend(2 << 30)
	case "exec":
		err = syscall.Exec("/proc/self/exe", []string{"x"}, nil)
	case "fork":
		_, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		err = errno
	case "connect":
		_, err = net.Dial("tcp", "127.0.0.1:9") //nolint:noctx // it does not come so far
	case "udp":
		_, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	case "unix socket":
		_, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	case "ptrace":
		err = unix.PtraceAttach(unix.Getppid())
	case "signal":
		_, _, errno := unix.RawSyscall(unix.SYS_TGKILL, uintptr(unix.Getppid()), uintptr(unix.Getppid()), 0)
		err = errno
	case "namespace":
		err = unix.Unshare(unix.CLONE_NEWUSER)
	default:
		err = errors.New("unknown")
	}
	if err == nil {
		fmt.Println("done")
		return
	}
	fmt.Println("failed:", err)
}

// openPlace asks for a file by opening it without the right to read it, which Landlock does not refuse.
func openPlace(path string) error {
	fd, err := unix.Open(path, unix.O_PATH, 0)
	if err == nil {
		err = unix.Fstat(fd, &unix.Stat_t{})
	}
	return err
}

// spend uses memory, page by page.
func spend(bytes int) error {
	memory, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return err
	}
	for i := 0; i < len(memory); i += os.Getpagesize() {
		memory[i] = 1
	}
	return nil
}

func TestFilter_stopsWhatADocumentMustNot(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]string{
		"stat": "permission denied", "lstat": "permission denied", "stat with an empty path allowed": "permission denied", "statx": "permission denied",
		"readlink": "permission denied", "access": "permission denied", "open as a place": "permission denied", "statfs": "not implemented",
		"getxattr": "not implemented", "directory": "not implemented", "look at what is open": "done",
		"nothing": "done", "read passwd": "permission denied", "write": "permission denied", "create": "permission denied", "thread": "permission denied",
		"raise limit": "permission denied", "clone3": "not implemented", "memory": "cannot allocate memory",
		"exec": "SIGSYS", "fork": "SIGSYS", "connect": "SIGSYS", "udp": "SIGSYS", "unix socket": "SIGSYS", "ptrace": "SIGSYS",
		"signal": "SIGSYS", "namespace": "SIGSYS",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = []string{"VAULTFLOW_TRESPASS=deed", "VAULTFLOW_DEED=" + what}
			out, err := cmd.CombinedOutput()
			if strings.Contains(string(out), "unconfined") {
				t.Skipf("this kernel does not confine: %s", out)
			}
			status := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if want == "SIGSYS" {
				if !status.Signaled() || status.Signal() != unix.SIGSYS {
					t.Errorf("ended with %v, want the signal SIGSYS\n%s", err, out)
				}
				return
			}
			if err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%v, it says %q, want %q", err, out, want)
			}
		})
	}
}

// oldKernel is a kernel without Landlock or without seccomp, for the real program that it starts: one more filter says that
// the calls do not exist.
func oldKernel() {
	var missing []rule
	if lacks := os.Getenv("VAULTFLOW_LACKS"); lacks == "seccomp" {
		missing = []rule{{call: unix.SYS_SECCOMP, then: unseen}}
	} else {
		missing = []rule{{call: unix.SYS_LANDLOCK_CREATE_RULESET, then: unseen}}
	}
	if err := filter(assemble(missing, permit)); err != nil {
		fmt.Fprintln(os.Stderr, "unconfined", err)
		os.Exit(extract.ExitBroken)
	}
	fmt.Fprintln(os.Stderr, syscall.Exec(os.Getenv("VAULTFLOW_WORKER"), os.Args[1:], nil))
}

func TestWorker_failsClosed(t *testing.T) {
	t.Parallel()
	path := os.Getenv("VAULTFLOW_WORKER")
	if path == "" {
		t.Skip("VAULTFLOW_WORKER does not name the real program; make test does")
	}
	for lacks, want := range map[string]string{"landlock": extract.ConfinedCalls, "seccomp": "landlock files"} {
		for _, required := range []bool{false, true} {
			t.Run(fmt.Sprintf("without %s, required %v", lacks, required), func(t *testing.T) {
				t.Parallel()
				cmd := exec.CommandContext(t.Context(), os.Args[0], "vaultflow-worker", "-serve", "-memory=1610612736", fmt.Sprintf("-require-confinement=%v", required))
				cmd.Env = []string{"VAULTFLOW_TRESPASS=old kernel", "VAULTFLOW_LACKS=" + lacks, "VAULTFLOW_WORKER=" + path}
				var said, frames strings.Builder
				cmd.Stdout, cmd.Stderr = &frames, &said
				err := cmd.Run()
				if strings.Contains(said.String(), "unconfined") {
					t.Skipf("this kernel has no seccomp: %s", said.String())
				}
				if required {
					if cmd.ProcessState.ExitCode() != extract.ExitUnconfined || frames.Len() > 0 || !strings.Contains(said.String(), "confinement is required") {
						t.Errorf("%v, %d bytes of frames: %s", err, frames.Len(), said.String())
					}
					return
				}
				message, err := extract.Decode(strings.NewReader(frames.String()))
				hello, ok := message.(extract.Hello)
				if err != nil || !ok || !strings.Contains(want, hello.Confinement) {
					t.Errorf("%v, %v, it reports %q, want %s: %s", err, cmd.ProcessState, hello.Confinement, want, said.String())
				}
			})
		}
	}
}

// TestRules_readTheArguments runs the program of the filter on calls that a test cannot make.
func TestRules_readTheArguments(t *testing.T) {
	t.Parallel()
	vm, err := bpf.NewVM(assemble(rules(), unseen))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		call, arch uint32
		arguments  [6]uint64
		want       uint32
	}{
		"another architecture":        {unix.SYS_READ, auditArch + 1, [6]uint64{}, end},
		"x32":                         {unix.SYS_READ | maxCall, auditArch, [6]uint64{}, end},
		"read":                        {unix.SYS_READ, auditArch, [6]uint64{}, permit},
		"executable memory":           {unix.SYS_MPROTECT, auditArch, [6]uint64{0, 4096, unix.PROT_READ | unix.PROT_EXEC}, permit},
		"open to read":                {unix.SYS_OPENAT, auditArch, [6]uint64{0, 0, unix.O_RDONLY | unix.O_CLOEXEC}, permit},
		"open to write":               {unix.SYS_OPENAT, auditArch, [6]uint64{0, 0, unix.O_WRONLY}, refuse},
		"open to make":                {unix.SYS_OPENAT, auditArch, [6]uint64{0, 0, unix.O_CREAT}, refuse},
		"open to cut":                 {unix.SYS_OPENAT, auditArch, [6]uint64{0, 0, unix.O_TRUNC}, refuse},
		"a thread":                    {unix.SYS_CLONE, auditArch, [6]uint64{0x3d0f00}, permit}, // glibc's flags
		"a thread of Go":              {unix.SYS_CLONE, auditArch, [6]uint64{0x50f00}, permit},
		"a process":                   {unix.SYS_CLONE, auditArch, [6]uint64{uint64(unix.SIGCHLD)}, end},
		"vfork by clone":              {unix.SYS_CLONE, auditArch, [6]uint64{unix.CLONE_VM | unix.CLONE_VFORK | uint64(unix.SIGCHLD)}, end},
		"a thread in a new namespace": {unix.SYS_CLONE, auditArch, [6]uint64{thread | unix.CLONE_NEWNET}, end},
		"ask for a limit":             {unix.SYS_PRLIMIT64, auditArch, [6]uint64{0, unix.RLIMIT_NOFILE, 0, 0xffff}, permit},
		"set a limit":                 {unix.SYS_PRLIMIT64, auditArch, [6]uint64{0, unix.RLIMIT_NOFILE, 1 << 32}, refuse},
		"own signal":                  {unix.SYS_TGKILL, auditArch, [6]uint64{uint64(unix.Getpid()), 1}, permit},
		"name memory":                 {unix.SYS_PRCTL, auditArch, [6]uint64{unix.PR_SET_VMA}, permit},
		"be traced":                   {unix.SYS_PRCTL, auditArch, [6]uint64{unix.PR_SET_PTRACER}, refuse},
		"status of a file":            {unix.SYS_FCNTL, auditArch, [6]uint64{0, unix.F_GETFL}, permit},
		"copy a descriptor":           {unix.SYS_FCNTL, auditArch, [6]uint64{0, unix.F_DUPFD_CLOEXEC}, permit},
		"own a file's signals":        {unix.SYS_FCNTL, auditArch, [6]uint64{0, unix.F_SETOWN}, refuse},
		"unknown":                     {9999, auditArch, [6]uint64{}, unseen},
		"rename":                      {unix.SYS_RENAMEAT, auditArch, [6]uint64{}, unseen},
	} {
		// The machine reads numbers with the high byte first; the halves of an argument stand as in memory.
		data := binary.BigEndian.AppendUint32(nil, c.call)
		data = binary.BigEndian.AppendUint32(data, c.arch)
		data = append(data, make([]byte, 8)...) // where the call was made
		for _, argument := range c.arguments {
			data = binary.BigEndian.AppendUint32(data, uint32(argument)) //nolint:gosec // the low half
			data = binary.BigEndian.AppendUint32(data, uint32(argument>>32))
		}
		if got, err := vm.Run(data); err != nil || uint32(got) != c.want { //nolint:gosec // the kernel's
			t.Errorf("%s: %#x, %v, want %#x", name, uint32(got), err, c.want)
		}
	}
}

// BenchmarkFilter is what making the list and handing it to the kernel takes, without the worker around.
func BenchmarkFilter(b *testing.B) {
	for b.Loop() {
		if _, err := bpf.Assemble(assemble(rules(), unseen)); err != nil {
			b.Fatal(err)
		}
	}
}
