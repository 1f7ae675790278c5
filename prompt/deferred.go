package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/policy"
)

// Deferred is a chunk for which the prompt has no room. Blocks are what read_chunks returns for it: its text, or its label
// and the picture.
type Deferred struct {
	ID     string
	Line   Line
	Blocks []content.Block
}

// deferred returns an item for read_chunks: in a frame of its own, so that its trust is known there too.
func (r *renderer) deferred(it *item) Deferred {
	out := Deferred{ID: it.line.ID, Line: *it.line}
	out.Line.Why = omission.Why{} // the chunk can be had
	open, end := "", ""
	if it.frame != nil {
		open, end = it.frame.open(r.nonce, it.line.ID)+"\n", it.frame.close(r.nonce)
	}
	switch {
	case it.role == roleMedia && r.out.candidates[it.media.cand].Kind == policy.Picture:
		label := marker(*it.line, *it.media, policy.Decision{Fate: policy.Sent})
		out.Blocks = []content.Block{content.Text{Value: open + label + "\n"}, r.picture(it), content.Text{Value: end + "\n"}}
	case it.role == roleMedia:
		out.Blocks = []content.Block{content.Text{Value: open + "[" + it.media.page + "]\n" + closed(it.words) + end + "\n"}}
	case it.role == roleText:
		out.Blocks = []content.Block{content.Text{Value: open + closed(it.words) + end + "\n"}}
	default:
		out.Blocks = []content.Block{content.Text{Value: open + "[its parts are chunks of their own, behind this one]\n" + end + "\n"}}
	}
	return out
}

// closed is a text that ends its line.
func closed(text string) string {
	if strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// digest is the SHA-256 of what the model reads, whatever the nonce.
func digest(p *Prompt, nonce string) string {
	sum := sha256.New()
	add := func(kind content.Type, text string) {
		//nolint:errcheck // a hash takes every write
		io.WriteString(sum, string(kind)+"\x00"+strings.ReplaceAll(text, "-"+nonce, "-NONCE")+"\x00")
	}
	add("system", p.System)
	for _, b := range p.Blocks {
		if t, ok := b.(content.Text); ok {
			add(content.TypeText, t.Value)
			continue
		}
		data, err := json.Marshal(b)
		if err != nil {
			data = []byte(b.Text()) // a block of this package always has a stored form
		}
		add(b.Type(), string(data))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// storedDeferred is the JSON form of a Deferred.
type storedDeferred struct {
	ID     string          `json:"id"`
	Line   Line            `json:"line"`
	Blocks json.RawMessage `json:"blocks"`
}

// MarshalJSON writes the stored form: names and digests, never bytes of media.
func (d Deferred) MarshalJSON() ([]byte, error) {
	blocks, err := content.MarshalBlocks(d.Blocks)
	if err != nil {
		return nil, err
	}
	return json.Marshal(storedDeferred{ID: d.ID, Line: d.Line, Blocks: blocks})
}

// UnmarshalJSON reads the stored form.
func (d *Deferred) UnmarshalJSON(data []byte) error {
	var s storedDeferred
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	blocks, err := content.UnmarshalBlocks(s.Blocks)
	*d = Deferred{ID: s.ID, Line: s.Line, Blocks: blocks}
	return err
}
