package confine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The rights that Landlock handles, by the version of the kernel's interface that brought them.
const (
	readRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_EXECUTE
	fileRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE

	firstRights  = uint64(1<<13 - 1) // version 1: from EXECUTE to MAKE_SYM
	referRight   = uint64(unix.LANDLOCK_ACCESS_FS_REFER)
	truncRight   = uint64(unix.LANDLOCK_ACCESS_FS_TRUNCATE)
	ioctlRight   = uint64(unix.LANDLOCK_ACCESS_FS_IOCTL_DEV)
	tcpRights    = uint64(unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP)
	scopedRights = uint64(1<<2 - 1) // version 6: abstract sockets and signals
)

// ruleset is struct landlock_ruleset_attr.
type ruleset struct{ fs, net, scoped uint64 }

// tcpABI is the version that can keep TCP out; Linux 6.7 brought it.
const tcpABI = 4

// rulesFor returns what a version of the kernel's interface can handle, and how much of the struct it knows.
func rulesFor(abi int) (rules ruleset, size uintptr) {
	rules.fs, size = firstRights, unsafe.Sizeof(rules.fs)
	if abi >= 2 {
		rules.fs |= referRight
	}
	if abi >= 3 {
		rules.fs |= truncRight
	}
	if abi >= tcpABI {
		rules.net, size = tcpRights, size+unsafe.Sizeof(rules.net)
	}
	if abi >= 5 {
		rules.fs |= ioctlRight
	}
	if abi >= 6 {
		rules.scoped, size = scopedRights, size+unsafe.Sizeof(rules.scoped)
	}
	return rules, size
}

// grant is what a file, or the files below a folder, may be used for.
type grant struct {
	path   string
	rights uint64
}

// landlock denies the calling thread, for good, all files but those granted, and TCP where the kernel can. The thread stays
// locked to its goroutine. newest is the latest version of the kernel's interface to use, 0 for the kernel's own; abi is the
// version that was used.
func landlock(newest int, grants []grant) (abi int, err error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, fmt.Errorf("the kernel has none: %w", errno)
	}
	abi = int(version) //nolint:gosec // a small number
	if newest > 0 {
		abi = min(abi, newest)
	}
	rules, size := rulesFor(abi)
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&rules)), size, 0) //nolint:gosec // a system call
	if errno != 0 {
		return 0, fmt.Errorf("make rules: %w", errno)
	}
	defer unix.Close(int(fd))
	for _, g := range grants {
		if err := allow(int(fd), g.path, g.rights&rules.fs); err != nil {
			return 0, err
		}
	}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("drop new privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return 0, fmt.Errorf("restrict: %w", errno)
	}
	return abi, nil
}

// allow adds a path to the rules. One that does not exist needs no rule.
func allow(rules int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("allow %s: %w", path, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("allow %s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	// struct landlock_path_beneath_attr is packed: 8 bytes of rights, 4 of descriptor.
	attr := struct {
		rights uint64
		fd     int32
	}{rights, int32(fd)} //nolint:gosec // descriptors are small
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0); errno != 0 { //nolint:gosec // a system call
		return fmt.Errorf("allow %s: %w", path, errno)
	}
	return nil
}
