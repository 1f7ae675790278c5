package approval

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/vaultflow/vaultflow/engine"
)

// Keys makes what only this vault's state directory can make: the marks of boxes, and the tokens that say which pages of a
// proposal somebody was shown. Its zero value is of no use.
type Keys struct{ secret []byte }

// NewKeys returns the keys of a state directory with this secret.
func NewKeys(secret []byte) Keys { return Keys{secret} }

// sum is a keyed digest of parts for a purpose. Each part is preceded by its length.
func (k Keys) sum(purpose string, parts ...string) string {
	if len(k.secret) == 0 {
		panic("approval: keys without a secret")
	}
	h := hmac.New(sha256.New, k.secret)
	fmt.Fprintf(h, "%s\x00", purpose)
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// same compares keyed digests in constant time.
func same(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

// parts are what a proposal is known by: its place, and everything that a yes lets happen.
func parts(p engine.Proposal) []string {
	return []string{p.Run, fmt.Sprintf("%d %d %d", p.Item, p.Index, p.Batch), p.Digest()}
}

// mark names the box of a proposal in a note.
func (k Keys) mark(kind string, proposals ...engine.Proposal) string {
	var all []string
	for _, p := range proposals {
		all = append(all, parts(p)...)
	}
	return k.sum("box "+kind, all...)
}

// id identifies a secret.
func (k Keys) id() string { return k.sum("id")[:8] }

// seal is the keyed digest of a note's text.
func (k Keys) seal(run, text string) string { return k.sum("note", run, text) }

// Seen returns the token of a page of a proposal, counted from 1, for a viewer. It covers this page and all before it, with the
// proposal's present content. Each page carries it to the next one, and the last page puts it into its form.
func (k Keys) Seen(viewer string, p engine.Proposal, page int) string {
	return k.sum("seen", append(parts(p), viewer, fmt.Sprint(page))...)
}

// HasSeen reports whether a token is that of [Keys.Seen].
func (k Keys) HasSeen(token, viewer string, p engine.Proposal, page int) bool {
	return same(token, k.Seen(viewer, p, page))
}
