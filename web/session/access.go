package session

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// How long sessions and sign-in codes last, and how many there may be.
const (
	IdleTime    = 7 * 24 * time.Hour  // a session that nobody uses
	MaxTime     = 30 * 24 * time.Hour // any session
	CodeTime    = 10 * time.Minute
	maxSessions = 200
	maxCodes    = 32
	saveSeen    = 5 * time.Minute // how exactly the last use is kept
)

// ErrWrong reports a secret that is not known.
var ErrWrong = errors.New("this code or token is not valid")

// WaitError refuses an attempt that came too early after wrong ones.
type WaitError struct{ Wait time.Duration }

func (e *WaitError) Error() string {
	return fmt.Sprintf("too many wrong tokens; try again in %s", max(time.Second, e.Wait.Round(time.Second)))
}

// Config is what [New] needs. All fields but Chosen are required.
type Config struct {
	Store  Store
	Owner  string // the owner's token
	Chosen bool   // Owner was chosen by the user, so it could be guessed: it is subject to the delay
	Key    []byte // secret of this installation; sessions end when Owner changes, which its digest under Key shows
	Now    func() time.Time
}

// Access knows the tokens, sessions and codes of a dashboard.
type Access struct {
	Tokens Tokens

	cfg      Config
	owner    string // digest of the owner's token under the key
	throttle throttle

	mu       sync.Mutex
	sessions map[string]*Session  // by digest of the cookie; guarded by mu
	codes    map[string]time.Time // when they end, by digest; guarded by mu
}

// Session is a browser that signed in.
type Session struct {
	ID      string    `json:"id"` // public: a part of Hash
	Hash    string    `json:"hash"`
	Owner   string    `json:"owner,omitempty"` // digest of the owner's token at sign-in
	Token   string    `json:"token,omitempty"` // digest of the named token that was used instead
	Created time.Time `json:"created"`
	Seen    time.Time `json:"seen"`
	About   string    `json:"about,omitempty"` // browser
	From    string    `json:"from,omitempty"`  // address
	Name    string    `json:"name,omitempty"`  // of the named token

	saved time.Time // the value of Seen in the store
}

// New reads the sessions of the store that are still good.
func New(c Config) (*Access, error) {
	if c.Owner == "" || len(c.Key) == 0 || c.Store.Dir == "" || c.Now == nil {
		return nil, errors.New("sessions need a store, a clock, a key and the owner's token")
	}
	a := &Access{
		Tokens: Tokens{Store: c.Store, Now: c.Now}, cfg: c, owner: keyed(c.Key, c.Owner),
		sessions: map[string]*Session{}, codes: map[string]time.Time{}, throttle: throttle{now: c.Now},
	}
	list, err := load[*Session](c.Store, sessionsFile)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		if s == nil || !a.good(s) {
			continue
		}
		s.saved = s.Seen
		a.sessions[s.Hash] = s
	}
	return a, nil
}

// keyed is the digest of a secret that the user may have chosen: without the key, nobody can search for it.
func keyed(key []byte, secret string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("dashboard owner\x00" + secret))
	return hex.EncodeToString(h.Sum(nil))
}

// good reports whether a session has not ended by time and its owner's token is still the same.
func (a *Access) good(s *Session) bool {
	now := a.cfg.Now()
	switch {
	case now.Sub(s.Seen) >= IdleTime, now.Sub(s.Created) >= MaxTime, now.Before(s.Created.Add(-time.Hour)): // the last: a clock that was set back
		return false
	}
	return s.Token != "" || s.Owner == a.owner
}

// Bearer returns who sends a token with a request. The error is [ErrWrong], a *[WaitError], or one of the store.
func (a *Access) Bearer(secret string, from netip.Addr) (Identity, error) {
	if id, ok, err := a.named(hash(secret)); ok || err != nil {
		return id, err
	}
	return a.ownerToken(secret, from)
}

// named returns the identity of a named token. Its secret cannot be guessed, so it is never delayed.
func (a *Access) named(digest string) (Identity, bool, error) {
	t, ok, err := a.Tokens.byHash(digest)
	return Identity{Name: t.Name, Scopes: t.Scopes}, ok, err
}

func (a *Access) ownerToken(secret string, from netip.Addr) (Identity, error) {
	right := func() bool { return same(secret, a.cfg.Owner) }
	if !a.cfg.Chosen && right() { // random: nobody guesses it, and so nobody can lock its owner out
		return Owner(), nil
	}
	ok, wait := a.throttle.try(from, right)
	switch {
	case ok:
		return Owner(), nil
	case wait > 0:
		return Identity{}, &WaitError{wait}
	}
	return Identity{}, ErrWrong
}

// NewCode returns a code with which one browser can sign in once, soon. The caller has proved to be the owner.
func (a *Access) NewCode() (code string, expires time.Time) {
	code, expires = random(), a.cfg.Now().Add(CodeTime)
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.codes) >= maxCodes {
		oldest := ""
		for digest, end := range a.codes {
			if oldest == "" || end.Before(a.codes[oldest]) {
				oldest = digest
			}
		}
		delete(a.codes, oldest)
	}
	a.codes[hash(code)] = expires
	return code, expires
}

// takeCode uses a code up.
func (a *Access) takeCode(code string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	digest := hash(code)
	end, ok := a.codes[digest]
	delete(a.codes, digest)
	return ok && a.cfg.Now().Before(end)
}

// Client describes a browser for the list of sessions.
type Client struct {
	From  netip.Addr
	About string // what it says about itself
}

// SignIn starts a session with a code, a named token or the owner's token, and returns its cookie. The session of the old
// cookie, if any, ends: an id that somebody planted before is worth nothing after.
func (a *Access) SignIn(secret, old string, c Client) (cookie string, err error) {
	secret = strings.TrimSpace(secret)
	now := a.cfg.Now()
	s := &Session{Created: now, Seen: now, saved: now, About: clip(c.About, 200), Owner: a.owner}
	if c.From.IsValid() {
		s.From = c.From.String()
	}
	if !a.takeCode(secret) {
		id, err := a.Bearer(secret, c.From)
		if err != nil {
			return "", err
		}
		if id.Name != "" {
			s.Owner, s.Token, s.Name = "", hash(secret), id.Name
		}
	}
	cookie = random()
	s.Hash = hash(cookie)
	s.ID = s.Hash[:16]
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.sessions, hash(old))
	a.sessions[s.Hash] = s
	a.makeRoom()
	return cookie, a.save()
}

func clip(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s), "")
}

// Session returns who a cookie belongs to. It counts as a use.
func (a *Access) Session(cookie string) (Identity, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, known := a.sessions[hash(cookie)]
	if !known {
		return Identity{}, false
	}
	id, ok := a.identity(s)
	if !ok {
		delete(a.sessions, s.Hash)
		return Identity{}, false
	}
	s.Seen = a.cfg.Now()
	if s.Seen.Sub(s.saved) >= saveSeen {
		_ = a.save() // at worst, the session ends a few minutes early after a restart
	}
	return id, true
}

// identity returns who a session belongs to, unless it has ended.
func (a *Access) identity(s *Session) (Identity, bool) {
	if !a.good(s) {
		return Identity{}, false
	}
	id := Owner()
	if s.Token != "" {
		named, ok, err := a.named(s.Token)
		if !ok || err != nil {
			return Identity{}, false
		}
		id = named
	}
	id.Session = s.ID
	return id, true
}

// Sessions returns the open sessions, those used last first.
func (a *Access) Sessions() []Session {
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []Session
	for _, s := range a.sessions {
		if _, ok := a.identity(s); ok {
			list = append(list, *s)
		}
	}
	slices.SortFunc(list, func(x, y Session) int { return cmp.Or(y.Seen.Compare(x.Seen), cmp.Compare(x.ID, y.ID)) })
	return list
}

// End ends the session with a public id. An unknown one has ended already.
func (a *Access) End(id string) error {
	return a.end(func(s *Session) bool { return s.ID == id })
}

// EndAll ends every session.
func (a *Access) EndAll() error { return a.end(func(*Session) bool { return true }) }

func (a *Access) end(which func(*Session) bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for digest, s := range a.sessions {
		if which(s) {
			delete(a.sessions, digest)
		}
	}
	return a.save()
}

// makeRoom ends the sessions that nobody used for the longest time when there are too many. The caller holds mu.
func (a *Access) makeRoom() {
	for len(a.sessions) > maxSessions {
		var idle *Session
		for _, s := range a.sessions {
			if idle == nil || s.Seen.Before(idle.Seen) {
				idle = s
			}
		}
		delete(a.sessions, idle.Hash)
	}
}

// save stores the sessions that are good. The caller holds mu.
func (a *Access) save() error {
	var list []*Session
	for digest, s := range a.sessions {
		if !a.good(s) {
			delete(a.sessions, digest)
			continue
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(x, y *Session) int { return cmp.Compare(x.ID, y.ID) })
	err := update(a.cfg.Store, sessionsFile, func([]*Session) ([]*Session, error) { return list, nil })
	if err != nil {
		return fmt.Errorf("store the sessions: %w", err)
	}
	for _, s := range list {
		s.saved = s.Seen
	}
	return nil
}
