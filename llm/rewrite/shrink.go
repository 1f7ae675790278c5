package rewrite

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// smallestPicture is the least size to which a picture is shrunk, in bytes of base64. Nothing smaller is legible.
const smallestPicture = 32 << 10

// shrinkSides scales pictures to the longest side that the service stated, or to its limit for requests with many pictures.
func shrinkSides(ctx context.Context, d *draft) error {
	return d.shrink(ctx, func(before []loaded) (llm.PictureLimits, func(loaded) bool) {
		largest, count := 0, 0
		for _, m := range before {
			if m.isPicture() {
				largest, count = max(largest, m.side()), count+1
			}
		}
		published := d.policy.Limits
		side := int(d.limitOr(int64(published.MaxSide), int64(largest)))
		if published.ManySide > 0 && count > published.ManyImages {
			side = min(side, published.ManySide)
		}
		d.how = fmt.Sprintf("pictures were scaled to %d pixels a side", side)
		return llm.PictureLimits{MaxSide: side}, func(m loaded) bool { return m.side() <= side }
	})
}

// maxPatches is the largest limit that counts patches. A limit in pixels is above it.
const maxPatches = 1_000_000

// shrinkPixels scales pictures to the number of pixels that the service stated, or of patches of 32 pixels.
func shrinkPixels(ctx context.Context, d *draft) error {
	return d.shrink(ctx, func(before []loaded) (llm.PictureLimits, func(loaded) bool) {
		largest := int64(0)
		for _, m := range before {
			if m.isPicture() {
				largest = max(largest, m.pixels())
			}
		}
		limit := d.limitOr(d.policy.Limits.MaxPixels, largest)
		if limit == d.failure.Limit && limit < maxPatches {
			d.how = fmt.Sprintf("pictures were scaled to %d patches", limit)
			return llm.PictureLimits{MaxPixels: limit * 32 * 32}, func(m loaded) bool { return m.patches() <= limit }
		}
		d.how = fmt.Sprintf("pictures were scaled to %d pixels", limit)
		return llm.PictureLimits{MaxPixels: limit}, func(m loaded) bool { return m.pixels() <= limit }
	})
}

// shrinkFiles encodes pictures to the file size that the service stated. Services count the base64.
func shrinkFiles(ctx context.Context, d *draft) error {
	return d.shrink(ctx, func(before []loaded) (llm.PictureLimits, func(loaded) bool) {
		largest := int64(0)
		for _, m := range before {
			if m.isPicture() {
				largest = max(largest, m.encoded())
			}
		}
		limit := d.limitOr(d.policy.Limits.MaxImageBytes/3*4, largest)
		d.how = fmt.Sprintf("pictures were encoded in less than %s each", content.FormatSize(limit))
		return llm.PictureLimits{MaxBytes: limit / 4 * 3}, func(m loaded) bool { return m.encoded() <= limit }
	})
}

// shrink fits pictures to limits, which guess derives from how they were sent. What cannot be shrunk is sent as text.
func (d *draft) shrink(ctx context.Context, guess func([]loaded) (llm.PictureLimits, func(loaded) bool)) error {
	before, err := load(ctx, d.request)
	if err != nil {
		return err
	}
	limits, fits := guess(before)
	wrong := func(m loaded) bool { return m.isPicture() && !fits(m) }
	if !slices.ContainsFunc(before, wrong) {
		return errHelpless
	}
	var next llm.Request
	var after []loaded
	for range 4 {
		next, _ = fit(d.request, limits)
		if after, err = load(ctx, next); err != nil {
			return err
		}
		if limits.MaxPixels == 0 || !slices.ContainsFunc(after, wrong) {
			break
		}
		limits.MaxPixels -= limits.MaxPixels / 10 // sides are rounded, and patches are whole
	}
	d.finish(next, before, after, limits, wrong)
	return nil
}

// finish completes a request whose pictures were fitted: those still too large, or lost on the way, are sent as text.
func (d *draft) finish(next llm.Request, before, after []loaded, limits llm.PictureLimits, wrong func(loaded) bool) {
	var gone []loaded
	for i, m := range after {
		if wrong(m) || m.gone && !before[i].gone {
			gone = append(gone, m)
		}
	}
	d.limits = limits
	d.asText(next, gone)
}

// shrinkLargest shrinks the largest media until the whole request fits. Documents are sent as text if they take more than
// half of the room that pictures need too; pictures share what is left, and small ones do not change.
func shrinkLargest(ctx context.Context, d *draft) error {
	before, err := load(ctx, d.request)
	if err != nil {
		return err
	}
	size := sizeOf(d.request, before)
	published := d.policy.Limits.MaxRequest
	if d.policy.Limits.CountsBase64 {
		published = published / 3 * 4
	}
	limit := d.limitOr(published, max(size, d.failure.Actual))
	uncounted := max(d.failure.Actual-size, limit/50) // names of members, and the like
	room := limit - uncounted - sizeOf(d.request, nil)
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
	_, scales := fit(d.request, llm.PictureLimits{})
	limits := f.fill(scales)
	return d.finishSize(ctx, before, f.gone, limits, limit-uncounted)
}

// filling divides the room of a request among its media.
type filling struct {
	room             int64 // bytes of base64
	pictures, others []loaded
	gone             []loaded // sent as text
}

// fill drops media until the others fit, and returns the limits for the pictures.
func (f *filling) fill(scales bool) llm.PictureLimits {
	largestFirst := func(a, b loaded) int { return cmp.Compare(b.bytes, a.bytes) }
	slices.SortStableFunc(f.pictures, largestFirst)
	slices.SortStableFunc(f.others, largestFirst)
	for len(f.others) > 0 && f.excess() > 0 && (len(f.pictures) == 0 || sum(f.others) > f.room/2) {
		f.drop(&f.others)
	}
	for len(f.pictures) > 0 && f.excess() > 0 && (!scales || f.share() < smallestPicture) {
		f.drop(&f.pictures)
	}
	if len(f.pictures) == 0 || f.excess() <= 0 {
		return llm.PictureLimits{}
	}
	return llm.PictureLimits{MaxBytes: f.share() / 4 * 3}
}

// excess returns the number of bytes that do not fit.
func (f *filling) excess() int64 { return sum(f.pictures) + sum(f.others) - f.room }

// drop has the largest sent as text.
func (f *filling) drop(list *[]loaded) {
	largest := (*list)[0]
	f.gone, *list = append(f.gone, largest), (*list)[1:]
	f.room -= jsonSize(largest.Text()) + 3*mediaFrame // and its reference
}

// finishSize drops, scales and measures. A request that does not fit after that is not sent.
func (d *draft) finishSize(ctx context.Context, before, gone []loaded, limits llm.PictureLimits, limit int64) error {
	next := d.request
	if limits != (llm.PictureLimits{}) {
		next, _ = fit(next, limits)
	}
	after, err := load(ctx, next)
	if err != nil {
		return err
	}
	d.finish(next, before, after, limits, func(m loaded) bool {
		dropped := slices.ContainsFunc(gone, func(g loaded) bool { return g.spot == m.spot })
		return dropped || limits.MaxBytes > 0 && m.isPicture() && m.bytes > limits.MaxBytes
	})
	last, err := load(ctx, d.request)
	if err != nil {
		return err
	}
	if sizeOf(d.request, last) > limit {
		return errHelpless
	}
	d.how = fmt.Sprintf("the largest files were made smaller, %d sent as text, to fit %s", len(d.lost), content.FormatSize(limit))
	return nil
}

func sum(list []loaded) int64 {
	n := int64(0)
	for _, m := range list {
		n += m.encoded() + mediaFrame
	}
	return n
}

// mediaFrame is the size of the JSON around a medium in a request, in bytes.
const mediaFrame = 160

// share returns the most that each picture may take so that all of them fit. Smaller ones do not change.
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

// sizeOf estimates the request in bytes: its texts, and media as they would be sent.
func sizeOf(r llm.Request, media []loaded) int64 {
	n := sum(media)
	for _, m := range media {
		if m.gone {
			n += int64(len(m.Text())) - mediaFrame
		}
	}
	n += jsonSize(r.System) + int64(len(r.Schema))
	for _, t := range r.Tools {
		n += jsonSize(t.Description) + int64(len(t.Name)+len(t.Parameters)) + mediaFrame
	}
	for _, m := range r.Messages {
		n += mediaFrame
		if m.Role == llm.Assistant {
			n += max(int64(len(m.Raw)), jsonSize(content.Join(m.Blocks)))
		}
	}
	visit(r, func(_ spot, b content.Block) {
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

// jsonSize returns the length of a text in JSON.
func jsonSize(text string) int64 {
	data, err := json.Marshal(text)
	if err != nil { // cannot happen: a string always has a JSON form
		return int64(len(text))
	}
	return int64(len(data))
}
