package prompt

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/vaultflow/vaultflow/content"
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

// look fills in what the headers of the pictures tell: of all, or of those that come first for the budget.
func (c *collector) look() error {
	order := make([]*item, 0, len(c.candidates))
	for i := range c.items {
		if it := &c.items[i]; it.role == roleMedia && it.media.block == nil && it.words == "" {
			order = append(order, it)
		}
	}
	good := map[string]bool{}
	looked := map[string]bool{}
	for i := range order {
		it := order[i]
		if c.spec.Bounds.WhenExceeded == policy.DropOldest {
			it = order[len(order)-1-i]
		}
		cand := &c.candidates[it.media.cand]
		if cand.Kind != policy.Picture || cand.Remote || cand.Name == "" || cand.Missing || cand.Problem != "" {
			continue
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if !looked[cand.Name] && len(looked) >= maxLooks && len(good) >= c.spec.Bounds.MaxImages && c.spec.Caps.Has(policy.Vision) {
			cand.Unread = true
			continue
		}
		looked[cand.Name] = true
		if c.probe(cand, it.line) {
			good[cand.Name] = true
		}
	}
	for _, it := range order {
		c.recognised(it)
	}
	return nil
}

// probe looks at one picture, and tells whether it is one.
func (c *collector) probe(cand *policy.Candidate, l *Line) bool {
	p, seen := c.pictures[cand.Name]
	if !seen {
		p.err = errors.New("pictures cannot be read here")
		if c.builder.Probe != nil {
			p.picture, p.err = c.builder.Probe(cand.Name)
		}
		c.pictures[cand.Name] = p
	}
	switch {
	case errors.Is(p.err, fs.ErrNotExist):
		cand.Missing = true
	case p.err != nil:
		cand.Problem = reason(p.err)
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
func (c *collector) recognised(it *item) {
	cand := c.candidates[it.media.cand]
	if !c.spec.Caps.Has(policy.Vision) && cand.Mode != policy.Ignore && cand.Problem == "" && !cand.Missing {
		it.media.fallback = c.fallback(it.line.Name)
	}
}

// defaultRemote is how many pictures of the web one prompt may have.
const defaultRemote = 10

// fetched is a picture of the web, or why there is none.
type fetched struct {
	picture RemotePicture
	err     error
}

// fetch gets pictures of the web, in order, as many as the local ones leave room for.
func (c *collector) fetch() error {
	if c.builder.Remote == nil || !c.spec.Caps.Has(policy.Vision) {
		return nil
	}
	var remote []*item
	for i := range c.items {
		it := &c.items[i]
		if it.role != roleMedia || !it.media.remote {
			continue
		}
		if cand := c.candidates[it.media.cand]; cand.Mode != policy.Ignore && cand.Cut == "" && cand.Problem == "" {
			remote = append(remote, it)
		}
	}
	if len(remote) == 0 {
		return nil
	}
	local, err := c.trial()
	if err != nil {
		return err
	}
	room := c.spec.Bounds.MaxImages
	for i, d := range local {
		if d.Fate.Attached() && c.candidates[i].Kind == policy.Picture {
			room--
		}
	}
	attached := map[string]bool{}
	for _, it := range remote {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		url := c.candidates[it.media.cand].Name
		if room <= len(attached) && !attached[url] && c.spec.Bounds.WhenExceeded == policy.Fail {
			return &policy.ExceededError{Key: "max_images", From: c.spec.Bounds.From["max_images"], ID: "image " + url, Reason: "no room for it"}
		}
		if c.fetchOne(it, room-len(attached)) {
			attached[url] = true
		}
	}
	return nil
}

// fetchOne gets one picture of the web, and tells whether there is one.
func (c *collector) fetchOne(it *item, room int) bool {
	cand := &c.candidates[it.media.cand]
	limit := c.builder.MaxRemote
	if limit <= 0 {
		limit = defaultRemote
	}
	f, seen := c.remote[cand.Name]
	switch {
	case seen:
	case room <= 0:
		cand.Problem = "not fetched: the budget has no room for it"
		return false
	case c.fetches >= limit:
		cand.Problem = "not fetched: " + count(limit, "remote image") + " in one prompt"
		return false
	default:
		c.fetches++
		f.picture, f.err = c.builder.Remote(c.ctx, cand.Name)
		c.remote[cand.Name] = f
	}
	switch {
	case errors.Is(f.err, ErrNotFetched):
		cand.Problem = ErrNotFetched.Error()
		return false
	case f.err != nil:
		cand.Problem = "not fetched: " + reason(f.err)
		c.warn(Warning{Note: it.line.Source.Note, Line: it.line.Source.Lines[0], Target: it.line.Target, Message: "remote image " + cand.Problem})
		return false
	}
	fill(it.line, cand, f.picture.Picture)
	it.line.Name = cand.Name
	address, _, _ := strings.Cut(cand.Name, "?") // what follows may be a token, and records keep origins
	c.reads = append(c.reads, policy.Read{Kind: policy.ReadPicture, Name: address})
	it.media.block = content.Image{
		Name: cand.Name, MediaType: f.picture.MediaType, Width: f.picture.Width, Height: f.picture.Height, Size: f.picture.Size,
		SHA256: f.picture.SHA256, Source: content.SourceBlob, Alt: it.line.Alt,
	}
	return true
}

// trial decides without a bound of tokens and without side effects.
func (c *collector) trial() ([]policy.Decision, error) {
	b := c.spec.Bounds
	b.MaxPromptTokens, b.ReservedTokens, b.WhenExceeded = 0, 0, policy.Defer
	return policy.Decide(c.candidates, c.spec.Caps, policy.Auto, b)
}
