//go:build unix

package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/web/session"
)

// A serve that starts over keeps the port that the system chose, and changes nothing else.
func TestStayAt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ listen, address, want string }{
		{"127.0.0.1:0", "127.0.0.1:4711", "127.0.0.1:4711"},
		{"127.0.0.1:80", "127.0.0.1:80", "127.0.0.1:80"},
		{"127.0.0.1:0", "", "127.0.0.1:0"},
		{"", "127.0.0.1:4711", ""},
	} {
		before := map[string]string{"web.listen": c.listen}
		if got := stayAt(before, c.address)["web.listen"]; got != c.want || before["web.listen"] != c.listen {
			t.Errorf("%s at %s: %s, want %s; the options before are %v", c.listen, c.address, got, c.want, before)
		}
	}
}

func TestDashboard_link(t *testing.T) {
	t.Parallel()
	access, err := session.New(session.Config{Store: session.Store{Dir: t.TempDir()}, Owner: strings.Repeat("x", 32), Key: []byte(strings.Repeat("k", 32)), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	proxied := settings.Web{Hosts: []string{"notes.example"}, Proxy: settings.Proxy{Trust: []string{"10.0.0.0/8"}}}
	for want, d := range map[string]dashboard{
		"http://127.0.0.1:80/login#code=":   {url: "http://127.0.0.1:80", access: access},
		"http://localhost/login#code=":      {url: "unix:/run/x.sock", access: access},
		"https://notes.example/login#code=": {url: "http://127.0.0.1:80", access: access, settings: proxied},
		"":                                  {},
	} {
		link, expires := d.link()
		if !strings.HasPrefix(link, want) || (link == want) != (want == "") || expires.IsZero() != (want == "") {
			t.Errorf("got %q until %v, want %q", link, expires, want)
		}
	}
}
