package prompt

import (
	"context"
	"errors"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/failure/omission"
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
	may     func(url string) error                                       // nil: every address
	limit   int
	caps    policy.Capabilities
	bounds  policy.Bounds
	fetched map[string]fetched
	fetches int
}

// get fetches pictures of the web, in order, as many as the local ones leave room for.
func (w *webPictures) get(ctx context.Context, out *outline) error {
	if w.fetch == nil {
		return nil
	}
	remote := w.wanted(out)
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

// wanted lists the pictures of the web that are to be fetched. Those that the settings exclude are no omissions.
func (w *webPictures) wanted(out *outline) []*item {
	var remote []*item
	for i := range out.items {
		it := &out.items[i]
		if it.role != roleMedia || !it.media.remote {
			continue
		}
		cand := &out.candidates[it.media.cand]
		if cand.Mode == policy.Ignore || cand.Problem != "" {
			continue
		}
		err := w.mayFetch(cand.Name)
		switch {
		case err != nil:
			cand.Problem = "not fetched: " + reason(err)
			w.warn(out, it, cand.Problem)
		case !w.caps.Has(policy.Vision):
			cand.Problem, cand.Why = "not fetched: the model has no vision", omission.Of(omission.Vision)
		case cand.Cut != "":
			cand.Problem, cand.Why = "not fetched: "+cand.Cut, w.bounds.Over("max_prompt_tokens")
		default:
			remote = append(remote, it)
		}
	}
	return remote
}

func (w *webPictures) mayFetch(url string) error {
	if w.may == nil {
		return nil
	}
	return w.may(url)
}

func (w *webPictures) warn(out *outline, it *item, problem string) {
	out.warn(Warning{Note: it.line.Source.Note, Line: it.line.Source.Lines[0], Target: it.line.Target, Message: "remote image " + problem})
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
		cand.Problem, cand.Why = "not fetched: the budget has no room for it", w.bounds.Over("max_images")
		return false
	case w.fetches >= limit:
		cand.Problem, cand.Why = "not fetched: "+count(limit, "remote image")+" in one prompt", omission.Of(omission.RemoteLimit)
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
		cand.Problem, cand.Why = "not fetched: "+reason(f.err), omission.Of(omission.Fetch)
		if e, ok := errors.AsType[*omission.Error](f.err); ok {
			cand.Why = omission.Of(e.Cause)
		}
		w.warn(out, it, cand.Problem)
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
