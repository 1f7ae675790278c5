//go:build unix

package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/web/session"
)

// A refusal keeps its class and its failure over the socket, so that a command ends with the same exit code and hint whether
// a serve works on the vault or not.
func TestAsk_keepsTheClassOfARefusal(t *testing.T) {
	t.Parallel()
	refusals := []error{
		usagef("no such workflow"), invalid(errors.New("faults")), fmt.Errorf("run: %w", denied(errors.New("not trusted"))),
		failure.New(failure.Budget, "raise it", "the budget is spent"), errors.New("anything else"),
	}
	state := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	done, orders := make(chan error, 1), make(chan error, 1)
	go func() {
		done <- serveControl(ctx, state, func(context.Context, Order) Reply { return refuse(<-orders) })
	}()
	for _, refused := range refusals {
		orders <- refused
		_, err := Ask(ctx, state, Order{Info: true})
		for err != nil && strings.Contains(err.Error(), "reach the running vaultflow") && ctx.Err() == nil { // until it listens
			_, err = Ask(ctx, state, Order{Info: true})
		}
		got, want := failure.Of(err), failure.Of(refused)
		if err == nil || ClassOf(err) != ClassOf(refused) || err.Error() != refused.Error() || got.Code != want.Code || got.Hint != want.Hint {
			t.Errorf("%v (%q, %+v) came back as %v (%q, %+v)", refused, ClassOf(refused), want, err, ClassOf(err), got)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

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

// memoryStore keeps sessions in memory.
type memoryStore map[string][]byte

func (m memoryStore) Load(name string) ([]byte, error) { return m[name], nil }

func (m memoryStore) Update(name string, change func([]byte) ([]byte, error)) (err error) {
	m[name], err = change(m[name])
	return err
}

func TestDashboard_link(t *testing.T) {
	t.Parallel()
	access, err := session.New(session.Config{Store: memoryStore{}, Owner: strings.Repeat("x", 32), Key: []byte(strings.Repeat("k", 32)), Now: time.Now})
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
