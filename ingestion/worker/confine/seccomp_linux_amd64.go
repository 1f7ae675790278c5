package confine

import "golang.org/x/sys/unix"

// auditArch is what the kernel calls this architecture; a call through another one's table, as int 0x80 is, ends the process.
const auditArch = unix.AUDIT_ARCH_X86_64

// older are rules for calls that architectures of today do without. glibc makes some of them.
func older() (all []rule) {
	for _, call := range []uint32{
		unix.SYS_ARCH_PRCTL, unix.SYS_POLL, unix.SYS_EPOLL_WAIT, unix.SYS_TIME,
	} {
		all = append(all, rule{call: call, then: permit})
	}
	for _, call := range []uint32{unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS, unix.SYS_READLINK} {
		all = append(all, rule{call: call, then: refuse})
	}
	for _, call := range []uint32{unix.SYS_FORK, unix.SYS_VFORK} {
		all = append(all, rule{call: call, then: end})
	}
	return append(all, readsOnly(unix.SYS_OPEN, 1))
}

// olderOffice are rules of the same kind for LibreOffice; see officeRules.
func olderOffice() []rule { return []rule{notWritable(unix.SYS_ACCESS, 1)} }
