package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// Bounds of LibreOffice besides those of -memory and -cpu.
const (
	officeFiles = 1024      // open at a time
	officeBytes = 512 << 20 // of one file that it writes; who asked takes less
)

// officeReads are where LibreOffice, its fonts and the programs that its start script calls lie on Linux systems. /etc
// is read in few places, and people's folders nowhere.
var officeReads = []string{
	"/usr", "/bin", "/opt/libreoffice", "/etc/libreoffice", "/etc/fonts", "/etc/passwd", "/etc/nsswitch.conf", "/etc/alternatives", "/etc/localtime",
	"/etc/locale.alias", "/etc/papersize", "/var/lib/libreoffice", "/var/spool/libreoffice", "/var/cache/fontconfig", "/proc/filesystems", "/dev/urandom", "/dev/random",
}

// confineOffice takes rights away and starts this program anew with the same task, as confine does; see there.
func confineOffice(o options, program []string, errs io.Writer) string {
	level := extract.ConfinedLimits
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: officeFiles, unix.RLIMIT_FSIZE: officeBytes}
	if err := setLimits(o.memory, o.cpu, limits); err != nil {
		fmt.Fprintln(errs, "resource limits:", err)
		level = extract.ConfinedNot
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(errs, "find this program:", err)
		return level
	}
	abi, err := landlock(o.newest, officeGrants(self, o))
	if err != nil {
		fmt.Fprintln(errs, "landlock:", err)
		return level
	}
	args := []string{self, "-office=" + o.office, "-work=" + o.work, "-confined=" + landlocked(level, abi, o.isolated)}
	if o.require {
		args = append(args, "-require-confinement")
	}
	// The thread is bound now whatever happens: it must go.
	fmt.Fprintln(errs, "start anew:", syscall.Exec(self, append(append(args, "--"), program...), os.Environ())) //nolint:gosec // this very program
	os.Exit(exitBroken)
	return ""
}

// officeGrants let LibreOffice read itself and the system's shared files, and write in its folder.
func officeGrants(self string, o options) []grant {
	const device = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	everything := firstRights | referRight | truncRight
	all := []grant{{o.work, everything}, {"/dev/null", device}, {self, readRights}, {o.office, readRights}}
	if real, err := filepath.EvalSymlinks(o.office); err == nil {
		all = append(all, grant{installation(real), readRights})
	}
	for _, path := range append(libraries, officeReads...) {
		all = append(all, grant{path, readRights})
	}
	return all
}

// installation is the folder of all of LibreOffice, whose program lies in one called program; a program that lies elsewhere
// gets itself alone.
func installation(program string) string {
	if dir := filepath.Dir(program); filepath.Base(dir) == "program" {
		return filepath.Dir(dir)
	}
	return program
}

// endGroup ends all processes that LibreOffice has started, and this one. One that left the group cannot leave the namespace
// of processes, where there is one, which ends with this process.
func endGroup() { _ = unix.Kill(0, unix.SIGKILL) }
