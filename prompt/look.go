package prompt

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/policy"
)

// maxLooks is how many pictures of a prompt are looked at when the budget for their number is used up: a note may name
// thousands, and to look at one its bytes are read.
const maxLooks = 256

// probed is what is known about a file that should be a picture.
type probed struct {
	picture Picture
	err     error
}

// pictureReader reads the header of each picture once in a Build.
type pictureReader struct {
	probe     func(name string) (Picture, error)
	fallbacks func(name string) string
	caps      policy.Capabilities
	bounds    policy.Bounds
	probed    map[string]probed
}

// look fills in what the headers of the pictures tell: of all, or of those that come first for the budget.
func (r *pictureReader) look(ctx context.Context, out *outline) error {
	order := make([]*item, 0, len(out.candidates))
	for i := range out.items {
		if it := &out.items[i]; it.role == roleMedia && it.media.block == nil && it.words == "" {
			order = append(order, it)
		}
	}
	good := map[string]bool{}
	looked := map[string]bool{}
	for i := range order {
		it := order[i]
		if r.bounds.WhenExceeded == policy.DropOldest {
			it = order[len(order)-1-i]
		}
		cand := &out.candidates[it.media.cand]
		if cand.Kind != policy.Picture || cand.Remote || cand.Name == "" || cand.Missing || cand.Problem != "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if !looked[cand.Name] && len(looked) >= maxLooks && len(good) >= r.bounds.MaxImages && r.caps.Has(policy.Vision) {
			cand.Unread = true
			continue
		}
		looked[cand.Name] = true
		if r.read(cand, it.line) {
			good[cand.Name] = true
		}
	}
	for _, it := range order {
		r.recognised(out, it)
	}
	return nil
}

// read examines a picture, and reports whether it is one.
func (r *pictureReader) read(cand *policy.Candidate, l *Line) bool {
	p, seen := r.probed[cand.Name]
	if !seen {
		p.err = errors.New("pictures cannot be read here")
		if r.probe != nil {
			p.picture, p.err = r.probe(cand.Name)
		}
		r.probed[cand.Name] = p
	}
	switch {
	case errors.Is(p.err, fs.ErrNotExist):
		cand.Missing = true
	case p.err != nil:
		cand.Problem, cand.Why = reason(p.err), omission.From(p.err)
	}
	fill(l, cand, p.picture)
	return p.err == nil
}

// fill copies what is known about a picture.
func fill(l *Line, cand *policy.Candidate, p Picture) {
	l.MediaType, l.Width, l.Height, l.Size, l.SHA256 = p.MediaType, p.Width, p.Height, p.Size, p.SHA256
	cand.MediaType, cand.Width, cand.Height, cand.Size, cand.SHA256 = p.MediaType, p.Width, p.Height, p.Size, p.SHA256
}

// recognised fills in the text of a picture for a model that cannot see.
func (r *pictureReader) recognised(out *outline, it *item) {
	cand := out.candidates[it.media.cand]
	if !r.caps.Has(policy.Vision) && cand.Mode != policy.Ignore && cand.Problem == "" && !cand.Missing {
		it.media.fallback = r.fallback(it.line.Name)
	}
}

// fallback is the text that was recognised in the picture.
func (r *pictureReader) fallback(name string) string {
	if r.fallbacks == nil || name == "" {
		return ""
	}
	return strings.TrimSpace(r.fallbacks(name))
}
