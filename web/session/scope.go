package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Scope is one thing that a request may do.
type Scope string

// The scopes of tokens and sessions.
const (
	Read    Scope = "read"    // pages, lists, pictures, live streams
	Run     Scope = "run"     // start, cancel, retry and undo runs
	Approve Scope = "approve" // decide about proposals
	Import  Scope = "import"  // upload files
	Trust   Scope = "trust"   // grant what a vault asks for; sessions and tokens
)

// Scopes is a set of scopes in the order of [All].
type Scopes []Scope

// All returns every scope.
func All() Scopes { return Scopes{Read, Run, Approve, Import, Trust} }

// Has reports whether the set holds a scope.
func (s Scopes) Has(one Scope) bool { return slices.Contains(s, one) }

// String joins the scopes with commas.
func (s Scopes) String() string {
	words := make([]string, len(s))
	for i, one := range s {
		words[i] = string(one)
	}
	return strings.Join(words, ",")
}

// ParseScopes reads scope names. Nothing, an unknown name or an empty one is an error that lists the known ones.
func ParseScopes(names []string) (Scopes, error) {
	var set Scopes
	for _, known := range All() {
		if slices.Contains(names, string(known)) {
			set = append(set, known)
		}
	}
	for _, name := range names {
		if !set.Has(Scope(name)) {
			return nil, fmt.Errorf("there is no scope %q; scopes are %s", name, All())
		}
	}
	if len(set) == 0 {
		return nil, fmt.Errorf("name at least one scope of %s", All())
	}
	return set, nil
}

// Identity is who a request comes from.
type Identity struct {
	Name    string // of a token, or of a user that a trusted proxy names; empty for the owner
	Scopes  Scopes
	Session string // public id of the browser session, if it is one
}

// Owner is the identity with every scope and no name.
func Owner() Identity { return Identity{Scopes: All()} }

type identityKey struct{}

// With returns a context that carries an identity.
func With(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, id)
}

// From returns the identity that [With] put into a context. Without one, it returns an identity that may do nothing.
func From(ctx context.Context) Identity {
	id, _ := ctx.Value(identityKey{}).(Identity)
	return id
}
