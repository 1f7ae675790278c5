package consent

import (
	"testing"
)

func TestIsLocal(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]bool{
		"127.0.0.1:8321": true, "127.1.2.3:0": true, "[::1]:80": true, "localhost:1": true, "unix:/run/user/1000/v.sock": true,
		"0.0.0.0:80": false, ":80": false, "[::]:80": false, "192.168.1.2:80": false, "example.org:80": false, "": false,
	} {
		if got := isLocal(listen); got != want {
			t.Errorf("isLocal(%q) = %v, want %v", listen, got, want)
		}
	}
}
