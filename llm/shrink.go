package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/content"
)

// smallestPicture is the least that a picture may be made to take, in bytes of base64: below it nothing can be read in it.
const smallestPicture = 32 << 10

// shrinkSides scales pictures to the longest side that was stated, or to that for requests with many pictures.
func shrinkSides(ctx context.Context, c *change) error {
	return c.shrink(ctx, func(before []loaded) (PictureLimits, func(loaded) bool) {
		largest, count := 0, 0
		for _, m := range before {
			if m.isPicture() {
				largest, count = max(largest, m.side()), count+1
			}
		}
		published := c.policy.Limits
		side := int(c.limitOr(int64(published.MaxSide), int64(largest)))
		if published.ManySide > 0 && count > published.ManyImages {
			side = min(side, published.ManySide)
		}
		c.how = fmt.Sprintf("pictures were scaled to %d pixels a side", side)
		return PictureLimits{MaxSide: side}, func(m loaded) bool { return m.side() <= side }
	})
}

// maxPatches is the largest limit that is one of patches: a limit in pixels is above it.
const maxPatches = 1_000_000

// shrinkPixels scales pictures to the number of pixels that was stated, or of patches of 32 pixels.
func shrinkPixels(ctx context.Context, c *change) error {
	return c.shrink(ctx, func(before []loaded) (PictureLimits, func(loaded) bool) {
		largest := int64(0)
		for _, m := range before {
			if m.isPicture() {
				largest = max(largest, m.pixels())
			}
		}
		limit := c.limitOr(c.policy.Limits.MaxPixels, largest)
		if limit == c.failure.Limit && limit < maxPatches {
			c.how = fmt.Sprintf("pictures were scaled to %d patches", limit)
			return PictureLimits{MaxPixels: limit * 32 * 32}, func(m loaded) bool { return m.patches() <= limit }
		}
		c.how = fmt.Sprintf("pictures were scaled to %d pixels", limit)
		return PictureLimits{MaxPixels: limit}, func(m loaded) bool { return m.pixels() <= limit }
	})
}

// shrinkFiles encodes pictures so that each is below the size that was stated. Services count the base64.
func shrinkFiles(ctx context.Context, c *change) error {
	return c.shrink(ctx, func(before []loaded) (PictureLimits, func(loaded) bool) {
		largest := int64(0)
		for _, m := range before {
			if m.isPicture() {
				largest = max(largest, m.encoded())
			}
		}
		limit := c.limitOr(c.policy.Limits.MaxImageBytes/3*4, largest)
		c.how = fmt.Sprintf("pictures were encoded in less than %s each", content.FormatSize(limit))
		return PictureLimits{MaxBytes: limit / 4 * 3}, func(m loaded) bool { return m.encoded() <= limit }
	})
}

// shrink makes pictures fit limits, which guess takes from how they were sent. One that cannot be made to fit goes as text.
func (c *change) shrink(ctx context.Context, guess func([]loaded) (PictureLimits, func(loaded) bool)) error {
	before, err := c.request.load(ctx)
	if err != nil {
		return err
	}
	limits, fits := guess(before)
	wrong := func(m loaded) bool { return m.isPicture() && !fits(m) }
	if !slices.ContainsFunc(before, wrong) {
		return errHelpless
	}
	var next Request
	var after []loaded
	for range 4 {
		next = c.request.fitted(limits)
		if after, err = next.load(ctx); err != nil {
			return err
		}
		if limits.MaxPixels == 0 || !slices.ContainsFunc(after, wrong) {
			break
		}
		limits.MaxPixels -= limits.MaxPixels / 10 // sides are rounded, patches are counted whole
	}
	c.finish(next, before, after, limits, wrong)
	return nil
}

// finish takes a request whose pictures were made to fit. Those that still do not, and those that cannot be made so small,
// go as text.
func (c *change) finish(next Request, before, after []loaded, limits PictureLimits, wrong func(loaded) bool) {
	var gone []loaded
	for i, m := range after {
		if wrong(m) || m.gone && !before[i].gone {
			gone = append(gone, m)
		}
	}
	c.limits = limits
	c.asText(next, gone)
}

// shrinkLargest makes the largest media smaller until the whole request fits: documents go as text when they take more
// than half of the room that pictures need too, and pictures share what is left, so that the small ones stay as they are.
func shrinkLargest(ctx context.Context, c *change) error {
	before, err := c.request.load(ctx)
	if err != nil {
		return err
	}
	size := c.request.size(before)
	published := c.policy.Limits.MaxRequest
	if c.policy.Limits.CountsBase64 {
		published = published / 3 * 4
	}
	limit := c.limitOr(published, max(size, c.failure.Actual))
	unseen := max(c.failure.Actual-size, limit/50) // what we do not count: names of members, and the like
	room := limit - unseen - c.request.size(nil)
	if room < 0 || len(before) == 0 {
		return errHelpless
	}
	f := filling{room: room}
	for _, m := range before {
		switch {
		case m.isPicture():
			f.pictures = append(f.pictures, m)
		case !m.gone:
			f.others = append(f.others, m)
		}
	}
	_, scales := c.request.Media.(Fitter)
	limits := f.fill(scales)
	return c.finishSize(ctx, before, f.gone, limits, limit-unseen)
}

// filling shares out the room of a request among its media.
type filling struct {
	room             int64 // bytes of base64
	pictures, others []loaded
	gone             []loaded // go as text
}

// fill drops media until the others fit, and says how small the pictures must be.
func (f *filling) fill(scales bool) PictureLimits {
	largestFirst := func(a, b loaded) int { return cmp.Compare(b.bytes, a.bytes) }
	slices.SortStableFunc(f.pictures, largestFirst)
	slices.SortStableFunc(f.others, largestFirst)
	for len(f.others) > 0 && f.over() > 0 && (len(f.pictures) == 0 || sum(f.others) > f.room/2) {
		f.drop(&f.others)
	}
	for len(f.pictures) > 0 && f.over() > 0 && (!scales || f.share() < smallestPicture) {
		f.drop(&f.pictures)
	}
	if len(f.pictures) == 0 || f.over() <= 0 {
		return PictureLimits{}
	}
	return PictureLimits{MaxBytes: f.share() / 4 * 3}
}

// over is how many bytes there are too many.
func (f *filling) over() int64 { return sum(f.pictures) + sum(f.others) - f.room }

// drop lets the largest go as text.
func (f *filling) drop(list *[]loaded) {
	largest := (*list)[0]
	f.gone, *list = append(f.gone, largest), (*list)[1:]
	f.room -= jsonSize(largest.block.Text()) + 3*mediaFrame // and its reference
}

// finishSize drops, scales and measures; a request that does not fit then is not sent.
func (c *change) finishSize(ctx context.Context, before, gone []loaded, limits PictureLimits, limit int64) error {
	next := c.request
	if limits != (PictureLimits{}) {
		next = next.fitted(limits)
	}
	after, err := next.load(ctx)
	if err != nil {
		return err
	}
	c.finish(next, before, after, limits, func(m loaded) bool {
		dropped := slices.ContainsFunc(gone, func(g loaded) bool { return g.spot == m.spot })
		return dropped || limits.MaxBytes > 0 && m.isPicture() && m.bytes > limits.MaxBytes
	})
	last, err := c.request.load(ctx)
	if err != nil {
		return err
	}
	if c.request.size(last) > limit {
		return errHelpless
	}
	c.how = fmt.Sprintf("the largest files were made smaller, %d sent as text, to fit %s", len(c.lost), content.FormatSize(limit))
	return nil
}

func sum(list []loaded) int64 {
	n := int64(0)
	for _, m := range list {
		n += m.encoded() + mediaFrame
	}
	return n
}

// mediaFrame is what stands around a medium in a request, in bytes.
const mediaFrame = 160

// share is the most that each of the pictures may take so that all of them fit: those below it stay as they are.
func (f *filling) share() int64 {
	room := f.room - sum(f.others)
	for i := range f.pictures {
		rest := room - sum(f.pictures[i+1:]) // the smaller ones as they are
		each := rest/int64(i+1) - mediaFrame
		if i+1 == len(f.pictures) || each >= f.pictures[i+1].encoded() {
			return each
		}
	}
	return room
}

// size estimates the request in bytes: its texts, and media as they would be sent.
func (r Request) size(media []loaded) int64 {
	n := sum(media)
	for _, m := range media {
		if m.gone {
			n += int64(len(m.block.Text())) - mediaFrame
		}
	}
	n += jsonSize(r.System) + int64(len(r.Schema))
	for _, t := range r.Tools {
		n += jsonSize(t.Description) + int64(len(t.Name)+len(t.Parameters)) + mediaFrame
	}
	for _, m := range r.Messages {
		n += mediaFrame
		if m.Role == Assistant {
			n += max(int64(len(m.Raw)), jsonSize(content.Join(m.Blocks)))
		}
	}
	r.blocks(func(p spot, b content.Block) {
		if content.IsMedia(b) {
			return
		}
		if result, ok := b.(content.ToolResult); ok {
			result.Blocks = nil
			b = result
		}
		n += jsonSize(b.Text()) + mediaFrame/2
	})
	return n
}

// jsonSize is how long a text is in JSON.
func jsonSize(text string) int64 {
	data, err := json.Marshal(text)
	if err != nil { // cannot happen: a string always has a JSON form
		return int64(len(text))
	}
	return int64(len(data))
}
