package confine

import (
	"io"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Limits of LibreOffice besides memory and processor time.
const (
	officeFiles = 1024      // open at a time
	officeBytes = 512 << 20 // of one file that it writes; who asked takes less
)

// officeReads is where Linux systems keep LibreOffice, its fonts and the programs that its start script calls. Only a few
// places of /etc are read, and no folders of users.
var officeReads = []string{
	"/usr", "/bin", "/opt/libreoffice", "/etc/libreoffice", "/etc/fonts", "/etc/passwd", "/etc/nsswitch.conf", "/etc/alternatives", "/etc/localtime",
	"/etc/locale.alias", "/etc/papersize", "/var/lib/libreoffice", "/var/spool/libreoffice", "/var/cache/fontconfig", "/proc/filesystems", "/dev/urandom", "/dev/random",
}

// Office confines a process that starts LibreOffice. LibreOffice may write in the folder work alone. Like [Reader], it starts
// the program again and returns only if that failed.
func Office(t Task, program, work string, errs io.Writer) string {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: officeFiles, unix.RLIMIT_FSIZE: officeBytes}
	return startAgain(t, setLimits(t.Memory, t.CPU, limits), officeGrants(program, work), errs)
}

// officeGrants let LibreOffice read itself and the system's shared files, and write in its folder.
func officeGrants(program, work string) []grant {
	const device = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	everything := firstRights | referRight | truncRight
	all := []grant{{work, everything}, {"/dev/null", device}, {program, readRights}}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		all = append(all, grant{installation(real), readRights})
	}
	for _, path := range officeReads {
		all = append(all, grant{path, readRights})
	}
	return all
}

// installation returns the folder of LibreOffice, whose program is in a subfolder named program. For a program elsewhere it
// returns the program.
func installation(program string) string {
	if dir := filepath.Dir(program); filepath.Base(dir) == "program" {
		return filepath.Dir(dir)
	}
	return program
}

// EndGroup ends all processes that LibreOffice started, and this one. A process that left the group is still in the process
// namespace, if there is one, which ends with this process.
func EndGroup() { _ = unix.Kill(0, unix.SIGKILL) }
