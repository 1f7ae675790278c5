package prompt

import (
	"context"
	"errors"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
)

// defaultRemote is how many pictures of the web one prompt may have.
const defaultRemote = 10

// fetched is a picture of the web, or why there is none.
type fetched struct {
	picture RemotePicture
	err     error
}

// webPictures fetches each picture of the web once in a Build.
type webPictures struct {
	fetch   func(ctx context.Context, url string) (RemotePicture, error) // nil: nothing is fetched
	limit   int
	caps    policy.Capabilities
	bounds  policy.Bounds
	fetched map[string]fetched
	fetches int
}

// get fetches pictures of the web, in order, as many as the local ones leave room for.
func (w *webPictures) get(ctx context.Context, out *outline) error {
	if w.fetch == nil || !w.caps.Has(policy.Vision) {
		return nil
	}
	var remote []*item
	for i := range out.items {
		it := &out.items[i]
		if it.role != roleMedia || !it.media.remote {
			continue
		}
		if cand := out.candidates[it.media.cand]; cand.Mode != policy.Ignore && cand.Cut == "" && cand.Problem == "" {
			remote = append(remote, it)
		}
	}
	if len(remote) == 0 {
		return nil
	}
	local, err := trial(out.candidates, w.caps, w.bounds)
	if err != nil {
		return err
	}
	room := w.bounds.MaxImages
	for i, d := range local {
		if d.Fate.Attached() && out.candidates[i].Kind == policy.Picture {
			room--
		}
	}
	attached := map[string]bool{}
	for _, it := range remote {
		if err := ctx.Err(); err != nil {
			return err
		}
		url := out.candidates[it.media.cand].Name
		if room <= len(attached) && !attached[url] && w.bounds.WhenExceeded == policy.Fail {
			return &policy.ExceededError{Key: "max_images", From: w.bounds.From["max_images"], ID: "image " + url, Reason: "no room for it"}
		}
		if w.getOne(ctx, out, it, room-len(attached)) {
			attached[url] = true
		}
	}
	return nil
}

// getOne fetches one picture of the web, and reports whether there is one.
func (w *webPictures) getOne(ctx context.Context, out *outline, it *item, room int) bool {
	cand := &out.candidates[it.media.cand]
	limit := w.limit
	if limit <= 0 {
		limit = defaultRemote
	}
	f, seen := w.fetched[cand.Name]
	switch {
	case seen:
	case room <= 0:
		cand.Problem = "not fetched: the budget has no room for it"
		return false
	case w.fetches >= limit:
		cand.Problem = "not fetched: " + count(limit, "remote image") + " in one prompt"
		return false
	default:
		w.fetches++
		f.picture, f.err = w.fetch(ctx, cand.Name)
		w.fetched[cand.Name] = f
	}
	switch {
	case errors.Is(f.err, ErrNotFetched):
		cand.Problem = ErrNotFetched.Error()
		return false
	case f.err != nil:
		cand.Problem = "not fetched: " + reason(f.err)
		out.warn(Warning{Note: it.line.Source.Note, Line: it.line.Source.Lines[0], Target: it.line.Target, Message: "remote image " + cand.Problem})
		return false
	}
	fill(it.line, cand, f.picture.Picture)
	it.line.Name = cand.Name
	address, _, _ := strings.Cut(cand.Name, "?") // what follows may be a token, and records keep origins
	out.reads = append(out.reads, policy.Read{Kind: policy.ReadPicture, Name: address})
	it.media.block = content.Image{
		Name: cand.Name, MediaType: f.picture.MediaType, Width: f.picture.Width, Height: f.picture.Height, Size: f.picture.Size,
		SHA256: f.picture.SHA256, Source: content.SourceBlob, Alt: it.line.Alt,
	}
	return true
}
