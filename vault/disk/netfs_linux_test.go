package disk

import (
	"strings"
	"testing"
)

func TestNetworkKind(t *testing.T) {
	t.Parallel()
	for magic, want := range map[uint32]string{
		0x6969: "NFS", 0xFF534D42: "SMB", 0xFE534D42: "SMB", 0x65735546: "FUSE", 0x01021997: "9P",
		0xEF53: "", 0x9123683E: "", 0x794c7630: "", 0x01021994: "", // ext4, btrfs, overlay, tmpfs
	} {
		if got := networkKind(magic); !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("%#x: got %q, want %q", magic, got, want)
		}
	}
}
