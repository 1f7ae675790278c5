package memory

import (
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
	for bytes, want := range map[int64]Share{
		243 * mb: {96 * mb, 384 * mb, 1},
		gb:       {256 * mb, 384 * mb, 2},
		12 * gb:  {3 * gb, 1536 * mb, 18},
		64 * mb:  {96 * mb, 384 * mb, 1}, // less than it takes: the least is tried
	} {
		if got := Split(bytes, 1536*mb); got != want {
			t.Errorf("%d MB: %+v, want %+v", bytes/mb, got, want)
		}
	}
	if got := Split(0, gb); got.Worker != gb || got.Workers < 8 {
		t.Errorf("of unknown memory: %+v", got)
	}
}
