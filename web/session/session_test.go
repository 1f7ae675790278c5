package session

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/settings/state"
)

// clock is a time that tests move.
type clock struct{ at time.Time }

func (c *clock) now() time.Time        { return c.at }
func (c *clock) pass(by time.Duration) { c.at = c.at.Add(by) }

const chosen = "correct horse battery"

func access(t *testing.T, store Store, c *clock, owner string, isChosen bool) *Access {
	t.Helper()
	a, err := New(Config{Store: store, Owner: owner, Chosen: isChosen, Key: []byte("key"), Now: c.now})
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return a
}

func rig(t *testing.T) (*Access, Store, *clock) {
	t.Helper()
	store, c := Store{Dir: t.TempDir()}, &clock{time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)}
	return access(t, store, c, chosen, true), store, c
}

var (
	home = netip.MustParseAddr("127.0.0.1")
	away = netip.MustParseAddr("192.0.2.7")
)

func signIn(t *testing.T, a *Access, secret, old string) string {
	t.Helper()
	cookie, err := a.SignIn(secret, old, Client{From: home, About: "a browser"})
	if err != nil {
		t.Fatalf("sign in: %v", err)
	}
	return cookie
}

func TestSession_endsByTime(t *testing.T) {
	t.Parallel()
	a, store, c := rig(t)
	idle := signIn(t, a, chosen, "")
	used := signIn(t, a, chosen, "")
	if _, ok := a.Session("another"); ok {
		t.Error("a made-up cookie is a session")
	}
	c.pass(IdleTime - time.Minute)
	if _, ok := a.Session(used); !ok {
		t.Error("the session ended early")
	}
	c.pass(time.Minute)
	if _, ok := a.Session(idle); ok {
		t.Error("a session that nobody used lives on")
	}
	for range 3 {
		c.pass(IdleTime - 2*time.Minute)
		if _, ok := a.Session(used); !ok {
			t.Error("a session that is used ended early")
		}
	}
	c.pass(MaxTime - 4*IdleTime + 6*time.Minute)
	if _, ok := a.Session(used); ok {
		t.Error("a session has no end")
	}
	if _, ok := access(t, store, c, chosen, true).Session(used); ok {
		t.Error("the session is back after a restart")
	}
}

func TestSession_survivesARestartButNotANewToken(t *testing.T) {
	t.Parallel()
	a, store, c := rig(t)
	cookie := signIn(t, a, chosen, "")
	if id, ok := access(t, store, c, chosen, true).Session(cookie); !ok || id.Name != "" || !id.Scopes.Has(Trust) {
		t.Errorf("after a restart: %+v %v", id, ok)
	}
	if _, ok := access(t, store, c, chosen+"!", true).Session(cookie); ok {
		t.Error("the session lives on with another token")
	}
}

func TestSession_rotatesAndEnds(t *testing.T) {
	t.Parallel()
	a, store, c := rig(t)
	first := signIn(t, a, chosen, "")
	second := signIn(t, a, chosen, first)
	if _, ok := a.Session(first); ok || first == second {
		t.Error("the session from before the sign-in is still good")
	}
	third := signIn(t, a, chosen, "")
	if n := len(a.Sessions()); n != 2 {
		t.Fatalf("%d sessions, want 2", n)
	}
	id, _ := a.Session(second)
	if err := a.End(id.Session); err != nil {
		t.Fatal(err)
	}
	if _, ok := a.Session(second); ok {
		t.Error("a session that was ended is good")
	}
	if _, ok := a.Session(third); !ok {
		t.Error("the other session was ended, too")
	}
	if err := a.EndAll(); err != nil {
		t.Fatal(err)
	}
	for _, one := range []*Access{a, access(t, store, c, chosen, true)} {
		if _, ok := one.Session(third); ok || len(one.Sessions()) > 0 {
			t.Error("a session outlived the end of all")
		}
	}
}

func TestSession_storeHoldsNoSecret(t *testing.T) {
	t.Parallel()
	a, store, _ := rig(t)
	cookie := signIn(t, a, chosen, "")
	secret, _, err := a.Tokens.Create("robot", Scopes{Read}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{sessionsFile, tokensFile} {
		data, err := state.Read(store.Dir, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, hidden := range []string{cookie, secret, chosen, hash(chosen)} {
			if bytes.Contains(data, []byte(hidden)) {
				t.Errorf("%s holds a secret or a digest that can be searched", name)
			}
		}
	}
}

func TestSession_isNotStartedWhenItCannotBeStored(t *testing.T) {
	t.Parallel()
	a, store, _ := rig(t)
	if err := os.Mkdir(filepath.Join(store.Dir, sessionsFile), 0o700); err != nil { // in the way of the file
		t.Fatal(err)
	}
	if _, err := a.SignIn(chosen, "", Client{}); err == nil {
		t.Error("no error")
	}
}

func TestSessions_areBounded(t *testing.T) {
	t.Parallel()
	a, _, c := rig(t)
	first := signIn(t, a, chosen, "")
	c.pass(time.Second)
	for i := range maxSessions - 1 {
		later := *a.sessions[hash(first)]
		later.ID, later.Hash, later.Seen = fmt.Sprint(i), fmt.Sprint(i), c.at
		a.sessions[later.Hash] = &later
	}
	signIn(t, a, chosen, "")
	if _, ok := a.Session(first); ok || len(a.Sessions()) != maxSessions {
		t.Errorf("%d sessions; the oldest lives: %v", len(a.Sessions()), ok)
	}
}

func TestCode_worksOnceAndSoon(t *testing.T) {
	t.Parallel()
	a, _, c := rig(t)
	code, _ := a.NewCode()
	signIn(t, a, " "+code+"\n", "")
	if _, err := a.SignIn(code, "", Client{From: home}); !errors.Is(err, ErrWrong) {
		t.Errorf("the same code again: %v", err)
	}
	late, expires := a.NewCode()
	c.at = expires
	if _, err := a.SignIn(late, "", Client{From: home}); !errors.Is(err, ErrWrong) {
		t.Errorf("an old code: %v", err)
	}
	if _, err := a.Bearer(late, home); err == nil {
		t.Error("a code is no token")
	}
	kept, _ := a.NewCode()
	c.pass(time.Second)
	for range maxCodes {
		a.NewCode()
	}
	if a.takeCode(kept) || len(a.codes) > maxCodes {
		t.Errorf("%d codes are open", len(a.codes))
	}
}

func TestToken_scopesExpiryAndRevocation(t *testing.T) {
	t.Parallel()
	a, store, c := rig(t)
	secret, _, err := a.Tokens.Create("phone", Scopes{Read, Approve}, time.Hour)
	if err != nil || !strings.HasPrefix(secret, "vft_") {
		t.Fatalf("%q %v", secret, err)
	}
	id, err := a.Bearer(secret, away)
	if err != nil || id.Name != "phone" || id.Scopes.String() != "read,approve" || id.Scopes.Has(Run) {
		t.Errorf("%+v %v", id, err)
	}
	cookie := signIn(t, a, secret, "")
	if id, ok := a.Session(cookie); !ok || id.Name != "phone" || id.Scopes.Has(Trust) {
		t.Errorf("the session has more than its token: %+v %v", id, ok)
	}
	elsewhere := Tokens{Store: store, Now: c.now} // another process
	if _, _, err := elsewhere.Create("phone", Scopes{Read}, 0); err == nil {
		t.Error("two tokens of one name")
	}
	c.pass(time.Hour)
	if _, err := a.Bearer(secret, away); !errors.Is(err, ErrWrong) {
		t.Errorf("an expired token: %v", err)
	}
	if _, ok := a.Session(cookie); ok {
		t.Error("a session outlived its token")
	}
	if err := elsewhere.Revoke("phone"); err != nil {
		t.Fatal(err)
	}
	if err := elsewhere.Revoke("phone"); !errors.Is(err, ErrNoToken) {
		t.Errorf("revoked twice: %v", err)
	}
	lasting, _, err := elsewhere.Create("robot", Scopes{Run}, 0)
	if err != nil {
		t.Fatal(err)
	}
	cookie = signIn(t, a, lasting, "")
	if err := elsewhere.Revoke("robot"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Bearer(lasting, away); err == nil {
		t.Error("a revoked token is good")
	}
	if _, ok := a.Session(cookie); ok {
		t.Error("a session outlived the revocation of its token")
	}
	for _, name := range []string{"", "a b", "../x", strings.Repeat("x", 41), "-x"} {
		if _, _, err := elsewhere.Create(name, Scopes{Read}, 0); err == nil {
			t.Errorf("a token named %q", name)
		}
	}
}

func TestThrottle_slowsDownGuessing(t *testing.T) {
	t.Parallel()
	a, _, c := rig(t)
	var waits []string
	for range 12 {
		_, err := a.Bearer("guess", away)
		wait, ok := errors.AsType[*WaitError](err)
		if !ok {
			waits = append(waits, "0s")
			continue
		}
		waits = append(waits, wait.Wait.String())
		if _, err := a.Bearer(chosen, away); err == nil {
			t.Fatal("the token was looked at during the delay: guessing costs nothing")
		}
		c.pass(wait.Wait)
	}
	if got, want := strings.Join(waits, " "), "0s 0s 0s 1s 2s 4s 8s 16s 32s 1m0s 1m0s 1m0s"; got != want {
		t.Errorf("delays %s, want %s", got, want)
	}
	if _, err := a.Bearer(chosen, away); err != nil {
		t.Errorf("the right token after the delay: %v", err)
	}
}

// Whatever others do, what cannot be guessed goes through: named tokens, sessions, codes, a random owner's token.
func TestThrottle_locksNobodyOut(t *testing.T) {
	t.Parallel()
	a, store, c := rig(t)
	named, _, err := a.Tokens.Create("robot", Scopes{Read}, 0)
	if err != nil {
		t.Fatal(err)
	}
	cookie := signIn(t, a, chosen, "")
	for range 20 {
		_, _ = a.Bearer("guess", home) // wrong on purpose
	}
	if _, err := a.Bearer(named, home); err != nil {
		t.Errorf("a named token: %v", err)
	}
	if _, ok := a.Session(cookie); !ok {
		t.Error("a session is refused")
	}
	code, _ := a.NewCode()
	signIn(t, a, code, "")
	b := access(t, store, c, "a random one", false)
	for range 20 {
		_, err = b.Bearer("guess", home)
	}
	if _, ok := errors.AsType[*WaitError](err); !ok {
		t.Errorf("wrong tokens are not delayed when the right one is random: %v", err)
	}
	if _, err := b.Bearer("a random one", home); err != nil {
		t.Errorf("a random owner's token: %v", err)
	}
}

func TestThrottle_manyAddresses(t *testing.T) {
	t.Parallel()
	a, _, c := rig(t)
	for i := range 2 * maxAddresses {
		_, _ = a.Bearer("guess", netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})) // wrong on purpose
		c.pass(maxDelayAll)
	}
	if n := len(a.throttle.by); n > maxAddresses {
		t.Errorf("%d addresses are remembered", n)
	}
	fresh := netip.MustParseAddr("203.0.113.9")
	for range 2 {
		_, _ = a.Bearer("guess", fresh) // wrong on purpose
	}
	if a.throttle.wait(netip.MustParseAddr("203.0.113.10")) == 0 {
		t.Error("an attacker with many addresses is not slowed down")
	}
	if wait := a.throttle.wait(home); wait > 0 {
		t.Errorf("other machines make this one wait %s", wait)
	}
	one, other := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::ffff:1")
	if network(one) != network(other) || network(netip.MustParseAddr("::ffff:192.0.2.7")) != network(away) {
		t.Error("one customer counts as many clients")
	}
}

func TestThrottle_manyAtOnce(t *testing.T) {
	t.Parallel()
	a, _, _ := rig(t)
	var group sync.WaitGroup
	var looked sync.Map
	for i := range 200 {
		group.Go(func() {
			if _, err := a.Bearer(fmt.Sprint("guess ", i), away); errors.Is(err, ErrWrong) {
				looked.Store(i, true)
			}
		})
	}
	group.Wait()
	n := 0
	looked.Range(func(any, any) bool { n++; return true })
	if n > freeGuesses {
		t.Errorf("%d of 200 guesses at the same time were looked at", n)
	}
}

func TestParseScopes(t *testing.T) {
	t.Parallel()
	got, err := ParseScopes([]string{"approve", "read", "read"})
	if err != nil || got.String() != "read,approve" {
		t.Errorf("%v %v", got, err)
	}
	for _, bad := range [][]string{nil, {""}, {"read", "admin"}, {"Read"}} {
		if got, err := ParseScopes(bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

// put returns a store whose file of sessions has this text.
func put(t *testing.T, sessions string) Store {
	t.Helper()
	dir := t.TempDir()
	if err := state.Write(dir, sessionsFile, []byte(sessions)); err != nil {
		t.Fatal(err)
	}
	return Store{Dir: dir}
}

func TestNew_refusesNothing(t *testing.T) {
	t.Parallel()
	c, empty, broken := &clock{}, Store{Dir: t.TempDir()}, put(t, "{")
	for _, bad := range []Config{
		{},
		{Store: empty, Key: []byte("k"), Now: c.now},
		{Store: empty, Owner: "x", Now: c.now},
		{Store: broken, Owner: "x", Key: []byte("k"), Now: c.now},
	} {
		if _, err := New(bad); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
	store := put(t, `[null, {"hash": ""}]`)
	if a, err := New(Config{Store: store, Owner: "x", Key: []byte("k"), Now: c.now}); err != nil || len(a.Sessions()) > 0 {
		t.Errorf("null entries: %v", err)
	}
	if _, ok := access(t, store, c, "x", false).Session(""); ok {
		t.Error("no cookie is a session")
	}
}
