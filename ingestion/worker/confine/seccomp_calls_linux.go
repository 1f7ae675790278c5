//go:build linux && (amd64 || arm64)

package confine

import "golang.org/x/sys/unix"

// ours are the calls that Go's runtime, glibc, MuPDF, Tesseract and wazero make once they run. Memory may become
// executable: wazero compiles. Writing goes to what is open already: two pipes, and files have a limit of 0 bytes.
var ours = []uint32{
	// what is open
	unix.SYS_READ, unix.SYS_READV, unix.SYS_PREAD64, unix.SYS_PREADV, unix.SYS_WRITE, unix.SYS_WRITEV, unix.SYS_LSEEK, unix.SYS_CLOSE,
	unix.SYS_FSTAT, unix.SYS_FADVISE64, unix.SYS_GETDENTS64, unix.SYS_PPOLL,
	unix.SYS_RECVMSG, // the document is handed over
	// memory
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_BRK, unix.SYS_MEMBARRIER,
	// threads and their signals
	unix.SYS_FUTEX, unix.SYS_SET_ROBUST_LIST, unix.SYS_GET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_SET_TID_ADDRESS, unix.SYS_SCHED_YIELD,
	unix.SYS_SCHED_GETAFFINITY, unix.SYS_SCHED_GETPARAM, unix.SYS_SCHED_GETSCHEDULER, unix.SYS_GETTID, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
	// the runtime's waiting
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2, unix.SYS_EVENTFD2, unix.SYS_PIPE2,
	unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP,
	// clocks and what there is
	unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY, unix.SYS_TIMES, unix.SYS_GETRUSAGE, unix.SYS_GETRLIMIT,
	unix.SYS_GETRANDOM, unix.SYS_UNAME, unix.SYS_SYSINFO,
	unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID,
}

// asking are calls that ask for a file by its name. Landlock lets them tell which files there are, how large and whose, and
// where links lead. A filter cannot see the name: glibc's way to look at an open file (an empty name) is refused with them, and it does
// without. What is open is looked at with fstat.
var asking = []uint32{
	unix.SYS_NEWFSTATAT, unix.SYS_STATX, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_READLINKAT, unix.SYS_GETCWD,
}

// hostile are calls that only somebody else's code makes here: it reaches for other programs, processes, networks or the
// kernel. They end the process, so that the document is reported.
var hostile = []uint32{
	unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD,
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4, unix.SYS_SENDTO, unix.SYS_SENDMSG,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT, unix.SYS_OPEN_BY_HANDLE_AT,
}

const (
	writing   = unix.O_ACCMODE | unix.O_CREAT | unix.O_TRUNC | unix.O_APPEND
	placing   = unix.O_PATH // Landlock lets anybody open a file so, and fstat describes it then
	thread    = unix.CLONE_THREAD | unix.CLONE_VM | unix.CLONE_SIGHAND
	namespace = unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWCGROUP
	whole     = 1<<32 - 1
)

// rules is the list for this process. Other calls fail with ENOSYS. clone3 is one of them: its flags are in memory, where a filter
// cannot see them, and glibc then uses clone.
func rules() []rule {
	var all []rule
	for _, call := range ours {
		all = append(all, rule{call: call, then: permit})
	}
	for _, call := range asking {
		all = append(all, rule{call: call, then: refuse})
	}
	for _, call := range hostile {
		all = append(all, rule{call: call, then: end})
	}
	all = append(all, older()...)
	return append(all,
		rule{call: unix.SYS_CLONE, when: []test{{mask: thread | namespace, among: []uint32{thread}}}, then: permit, or: end},
		rule{call: unix.SYS_TGKILL, when: []test{{mask: whole, among: []uint32{uint32(unix.Getpid())}}}, then: permit, or: end}, //nolint:gosec // not negative
		// It may read limits, and set none.
		rule{call: unix.SYS_PRLIMIT64, when: []test{{argument: 2, mask: whole, among: none}, {argument: 2, high: true, mask: whole, among: none}}, then: permit, or: refuse},
		rule{call: unix.SYS_FCNTL, when: []test{{argument: 1, mask: whole, among: []uint32{
			unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_DUPFD_CLOEXEC,
		}}}, then: permit, or: refuse},
		rule{call: unix.SYS_PRCTL, when: []test{{mask: whole, among: []uint32{unix.PR_SET_VMA, unix.PR_SET_NAME}}}, then: permit, or: refuse},
		readsOnly(unix.SYS_OPENAT, 2))
}

// readsOnly lets a call open files for reading, and nothing else. O_RDONLY is 0.
func readsOnly(call, flags uint32) rule {
	return rule{call: call, when: []test{{argument: flags, mask: writing | placing, among: none}}, then: permit, or: refuse}
}

var none = []uint32{0}

// officeRules keep LibreOffice from what no conversion needs. It starts programs, threads and a socket of its own in its
// folder, so that a list of what it may do would be one of nearly everything. clone3 is not there: a filter cannot see its flags.
func officeRules() []rule {
	all := append(olderOffice(), notWritable(unix.SYS_FACCESSAT, 2))
	all = append(all, []rule{
		{call: unix.SYS_CLONE3, then: unseen},
		{call: unix.SYS_CLONE, when: []test{{mask: namespace, among: none}}, then: permit, or: refuse},
		{call: unix.SYS_SOCKET, when: []test{{mask: whole, among: []uint32{unix.AF_UNIX}}}, then: permit, or: refuse},
	}...)
	for _, call := range hostile {
		switch call {
		case unix.SYS_EXECVE, unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT,
			unix.SYS_ACCEPT4, unix.SYS_SENDTO, unix.SYS_SENDMSG:
		default:
			all = append(all, rule{call: call, then: refuse})
		}
	}
	return all
}

// notWritable refuses to report that a folder is writable, and nothing else. LibreOffice asks about /tmp, where Landlock would then
// refuse its socket. Refused here, it uses the folder that it has for that.
func notWritable(call, mode uint32) rule {
	return rule{call: call, when: []test{{argument: mode, mask: whole, among: []uint32{unix.W_OK}}}, then: refuse, or: permit}
}
