package session

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"
)

// tokenPrefix begins every named token, so that scanners for leaked secrets know it.
const tokenPrefix = "vft_"

// maxTokens bounds the named tokens of a vault.
const maxTokens = 200

// ErrNoToken reports that no token has a name.
var ErrNoToken = errors.New("there is no token of this name")

// Token is a named key for programs. Only a digest of its secret is kept.
type Token struct {
	Name    string    `json:"name"`
	Scopes  Scopes    `json:"scopes"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"` // never when zero
	Hash    string    `json:"hash"`
}

// Expired reports whether the token has ended.
func (t Token) Expired(now time.Time) bool { return !t.Expires.IsZero() && !now.Before(t.Expires) }

// Tokens are the named tokens in a store. They are read each time, so that a token revoked by another process is refused at
// once.
type Tokens struct {
	Store Store
	Now   func() time.Time
}

var tokenName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

// Create makes a token and returns its secret, which is kept nowhere. A lifetime of 0 means that the token does not expire.
func (t Tokens) Create(name string, scopes Scopes, lifetime time.Duration) (secret string, made Token, err error) {
	switch {
	case !tokenName.MatchString(name):
		return "", made, fmt.Errorf("a token's name has letters, digits, dots, dashes and underscores, 40 at most; %q does not", name)
	case len(scopes) == 0:
		return "", made, fmt.Errorf("name at least one scope of %s", All())
	case lifetime < 0:
		return "", made, errors.New("a token cannot expire in the past")
	}
	now := t.Now().UTC()
	secret = tokenPrefix + random()
	made = Token{Name: name, Scopes: scopes, Created: now, Hash: hash(secret)}
	if lifetime > 0 {
		made.Expires = now.Add(lifetime)
	}
	err = update(t.Store, tokensFile, func(list []Token) ([]Token, error) {
		if slices.ContainsFunc(list, func(o Token) bool { return o.Name == name }) {
			return nil, fmt.Errorf("there is a token %q already; revoke it first or choose another name", name)
		}
		if len(list) >= maxTokens {
			return nil, fmt.Errorf("there are %d tokens; revoke some first", len(list))
		}
		return append(list, made), nil
	})
	return secret, made, err
}

// List returns all tokens, expired ones included, in the order of their making.
func (t Tokens) List() ([]Token, error) { return load[Token](t.Store, tokensFile) }

// Revoke ends a token and every session that was signed in with it. Without such a token, the error matches [ErrNoToken].
func (t Tokens) Revoke(name string) error {
	return update(t.Store, tokensFile, func(list []Token) ([]Token, error) {
		rest := slices.DeleteFunc(slices.Clone(list), func(o Token) bool { return o.Name == name })
		if len(rest) == len(list) {
			return nil, fmt.Errorf("%q: %w", name, ErrNoToken)
		}
		return rest, nil
	})
}

// byHash returns the token with a digest, unless it has expired.
func (t Tokens) byHash(digest string) (Token, bool, error) {
	list, err := t.List()
	for _, one := range list {
		if same(one.Hash, digest) {
			return one, !one.Expired(t.Now()), err
		}
	}
	return Token{}, false, err
}
