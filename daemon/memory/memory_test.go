package memory

import (
	"math"
	"testing"
	"testing/fstest"
)

const (
	mb = int64(1) << 20
	gb = int64(1) << 30
)

func TestFind(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	const sixteen = "MemTotal:       16777216 kB\nMemFree: 1 kB\n"
	for name, c := range map[string]struct {
		system fstest.MapFS
		want   int64
		from   string
	}{
		"nothing is known": {fstest.MapFS{}, 0, ""},
		"a machine":        {fstest.MapFS{"proc/meminfo": file(sixteen)}, 12 * gb, "three quarters of the machine's memory"},
		"version 2, of the group above": {fstest.MapFS{
			"proc/meminfo": file(sixteen), "proc/self/cgroup": file("0::/user.slice/vaultflow.service\n"),
			"sys/fs/cgroup/user.slice/vaultflow.service/memory.max": file("max\n"), "sys/fs/cgroup/user.slice/memory.max": file("1073741824\n"),
		}, gb / 16 * 15, "/sys/fs/cgroup/user.slice/memory.max"},
		"version 2, in a container": {fstest.MapFS{
			"proc/meminfo": file(sixteen), "proc/self/cgroup": file("0::/../..\n"), "sys/fs/cgroup/memory.max": file("272629760\n"),
		}, 260 * mb / 16 * 15, "/sys/fs/cgroup/memory.max"},
		"version 1, with the group's name on the host": {fstest.MapFS{
			"proc/meminfo": file(sixteen), "proc/self/cgroup": file("9:cpu,cpuacct:/\n4:memory:/docker/abc\n0::/\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("536870912\n"),
		}, 480 * mb, "/sys/fs/cgroup/memory/memory.limit_in_bytes"},
		"version 1, without a limit": {fstest.MapFS{
			"proc/meminfo": file(sixteen), "proc/self/cgroup": file("4:memory:/\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n"),
		}, 12 * gb, "three quarters of the machine's memory"},
	} {
		if got := Find(c.system); got.Bytes != c.want || got.From != c.from {
			t.Errorf("%s: %+v, want %d from %q", name, got, c.want, c.from)
		}
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bytes      int64
		processors int
		want       Share
	}{
		{243 * mb, 4, Share{96 * mb, 384 * mb, 1}},
		{gb, 4, Share{256 * mb, 384 * mb, 2}},
		{4 * gb, 4, Share{gb, 512 * mb, 6}},
		{18 * gb, 2, Share{18 * gb / 4, 1536 * mb, 4}},
		{12 * gb, 16, Share{3 * gb, 512 * mb, 18}},
		{64 * mb, 4, Share{96 * mb, 384 * mb, 1}}, // less than it takes: the least is tried
		{0, 4, Share{math.MaxInt64, 1536 * mb, 8}},
	} {
		if got := Split(c.bytes, 1536*mb, c.processors); got != c.want {
			t.Errorf("%d MB, %d processors: %+v, want %+v", c.bytes/mb, c.processors, got, c.want)
		}
	}
	for bytes := 480 * mb; bytes < 64*gb; bytes += 97 * mb {
		for _, most := range []int64{256 * mb, 1536 * mb, 64 * gb} {
			if s := Split(bytes, most, 8); s.Daemon+int64(s.Workers)*s.Worker > bytes || s.Worker < min(most, leastWorker) {
				t.Errorf("%d MB, at most %d MB each: %+v", bytes/mb, most/mb, s)
			}
		}
	}
}
