package llm

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/vaultflow/vaultflow/content"
)

// errHelpless says that nothing can be changed so that the request would be taken.
var errHelpless = errors.New("nothing can be changed")

// change is a request on its way from the refused form to one that fits.
type change struct {
	overflowing
	request Request // refused; then as it is to be sent
	failure *Error
	limits  PictureLimits // that its pictures were made to fit
	how     string        // what was changed, in words
	lost    []string      // names of media that go as text now
}

// remedies has one for each class that a change can help. Everything else is never rewritten: rate limits, overload,
// billing, keys, unknown models, parameters, refusals, pairing, broken connections, encrypted documents.
var remedies = map[Class]func(context.Context, *change) error{
	ClassImageDims:        shrinkSides,
	ClassImagePixels:      shrinkPixels,
	ClassImageBytes:       shrinkFiles,
	ClassImageCount:       keepNewest,
	ClassMediaMismatch:    encodeAnew,
	ClassUnsupportedMedia: convert,
	ClassContextTokens:    leaveOut,
	ClassRequestBytes:     shrinkLargest,
	ClassURLFetch:         inline,
	ClassPDFPages:         cutPages,
}

// limitOr is the limit that the service stated, else the published one when what was sent is above it, else half of that.
func (c *change) limitOr(published, sent int64) int64 {
	switch {
	case c.failure.Limit > 0:
		return c.failure.Limit
	case published > 0 && published < sent:
		return published
	}
	return max(sent/2, 1)
}

// replace puts something else in the place of media.
func (c *change) replace(from Request, list []loaded, instead func(m loaded, tool string) []content.Block) {
	tools, made := from.toolNames(), edits{}
	for _, m := range list {
		tool := ""
		if result, ok := from.Messages[m.spot.message].Blocks[m.spot.block].(content.ToolResult); ok {
			tool = tools[result.CallID]
		}
		made[m.spot] = instead(m, tool)
	}
	c.request = from.with(made)
}

// asText sends media as the text that stands for them, and where they are kept.
func (c *change) asText(from Request, list []loaded) {
	c.replace(from, list, func(m loaded, tool string) []content.Block {
		c.lost = append(c.lost, content.NameOf(m.block))
		return from.stub(m.block, tool)
	})
}

// keepNewest sends the newest pictures that the service takes at once, and the older ones as text.
func keepNewest(ctx context.Context, c *change) error {
	all, err := c.request.load(ctx)
	if err != nil {
		return err
	}
	documentsToo := aboutDocuments.MatchString(c.failure.Message)
	all = slices.DeleteFunc(all, func(m loaded) bool {
		return m.gone || m.block.Type() != content.TypeImage && !(documentsToo && m.block.Type() == content.TypeDocument)
	})
	limit := c.limitOr(int64(c.policy.Limits.MaxImages), int64(len(all)))
	if int64(len(all)) <= limit {
		return errHelpless
	}
	c.how = fmt.Sprintf("the newest %d of %d pictures were sent, the others as text", limit, len(all))
	c.asText(c.request, all[:int64(len(all))-limit])
	return nil
}

// encodeAnew makes new files of all pictures, whose type is then what their bytes say.
func encodeAnew(ctx context.Context, c *change) error {
	before, err := c.request.load(ctx)
	if err != nil {
		return err
	}
	next := c.request.fitted(PictureLimits{Reencode: true})
	after, err := next.load(ctx)
	if err != nil {
		return err
	}
	if slices.EqualFunc(before, after, func(a, b loaded) bool { return a.sum == b.sum }) {
		return errHelpless
	}
	c.request, c.limits.Reencode, c.how = next, true, "pictures were encoded anew"
	return nil
}

// What refusals of media speak of.
var (
	unreadable     = regexp.MustCompile(`(?i)not valid|unable to process|invalid image|unsupported image|could not process|illegal base64|failed to (?:load|process) image`)
	aboutImages    = regexp.MustCompile(`(?i)image|vision|picture|mmproj`)
	aboutDocuments = regexp.MustCompile(`(?i)document|\bpdf\b|file (?:type|data|input)|application/|s3Uri|variant .file`)
	aboutAudio     = regexp.MustCompile(`(?i)audio`)
	aboutVideo     = regexp.MustCompile(`(?i)video`)
)

// convert sends what the service does not take in another form: a broken picture encoded anew, documents as pictures of
// their pages, and everything else as the text that stands for it.
func convert(ctx context.Context, c *change) error {
	if unreadable.MatchString(c.failure.Message) {
		if err := encodeAnew(ctx, c); !errors.Is(err, errHelpless) {
			return err
		}
	}
	all, err := c.request.load(ctx)
	if err != nil {
		return err
	}
	refused := slices.DeleteFunc(slices.Clone(all), func(m loaded) bool { return m.gone || !c.speaksOf(m.block) })
	if len(refused) == 0 {
		refused = slices.DeleteFunc(all, func(m loaded) bool { return m.gone })
	}
	if len(refused) == 0 {
		return errHelpless
	}
	paged, from := 0, c.request
	c.replace(from, refused, func(m loaded, tool string) []content.Block {
		if c.policy.Vision && !aboutImages.MatchString(c.failure.Message) {
			if pictures := from.pagePictures(ctx, m.block); pictures != nil {
				paged++
				return pictures
			}
		}
		c.lost = append(c.lost, content.NameOf(m.block))
		return from.stub(m.block, tool)
	})
	c.how = fmt.Sprintf("%d documents were sent as pictures of their pages, %d files as text", paged, len(c.lost))
	return ctx.Err()
}

// speaksOf tells whether a refusal is about such a block.
func (c *change) speaksOf(b content.Block) bool {
	about := map[content.Type]*regexp.Regexp{
		content.TypeImage: aboutImages, content.TypeDocument: aboutDocuments, content.TypeAudio: aboutAudio, content.TypeVideo: aboutVideo,
	}[b.Type()]
	return about != nil && about.MatchString(c.failure.Message)
}

// pagePictures are the pages of a document as pictures; nil when it is none, when they cannot be made, or when it has too
// many.
func (r Request) pagePictures(ctx context.Context, b content.Block) []content.Block {
	d, ok := b.(content.Document)
	if n := len(pageNumbers(d)); !ok || n == 0 || n > maxPagePictures {
		return nil
	}
	var pictures []content.Block
	for _, picture := range PagePictures(d, maxPagePictures) {
		pictures = append(pictures, picture)
	}
	if _, err := r.bytes(ctx, pictures[0]); err != nil {
		return nil
	}
	return pictures
}

// inline sends pictures that the service could not fetch as their bytes, fetched here under our own rules; else as text.
func inline(ctx context.Context, c *change) error {
	made := edits{}
	count := 0
	for _, p := range c.request.media() {
		picture, ok := c.request.at(p).(content.Image)
		if !ok || picture.Source != content.SourceRemote {
			continue
		}
		if c.policy.Inline != nil {
			here, err := c.policy.Inline(ctx, picture)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil {
				made[p] = []content.Block{here}
				count++
				continue
			}
		}
		made[p] = []content.Block{content.Text{Value: picture.Text()}}
		c.lost = append(c.lost, picture.Name)
	}
	if len(made) == 0 {
		return errHelpless
	}
	c.request, c.how = c.request.with(made), fmt.Sprintf("%d pictures were fetched here, %d sent as text", count, len(c.lost))
	return nil
}

// cutPages sends as many pages of documents as the service takes, the first ones, and says which. A document that no page is
// left for, or that cannot be cut, goes as text.
func cutPages(ctx context.Context, c *change) error {
	total := 0
	var documents []spot
	for _, p := range c.request.media() {
		if d, ok := c.request.at(p).(content.Document); ok {
			documents, total = append(documents, p), total+pageCount(d)
		}
	}
	limit := int(c.limitOr(int64(c.policy.Limits.MaxPDFPages), int64(total)))
	if total <= limit {
		return errHelpless
	}
	made, left := edits{}, limit
	for _, p := range documents {
		d := c.request.at(p).(content.Document) //nolint:forcetypeassert // chosen so above
		pages := pageNumbers(d)
		if len(pages) <= left && len(pages) > 0 {
			left -= len(pages)
			continue
		}
		c.lost = append(c.lost, d.Name)
		made[p] = c.firstPages(ctx, d, pages, left)
		if len(made[p]) > 1 {
			left = 0
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.request, c.how = c.request.with(made), fmt.Sprintf("the first %d of %d pages of documents were sent", limit-left, total)
	return nil
}

// firstPages is a document cut to n pages with a note, or its text.
func (c *change) firstPages(ctx context.Context, d content.Document, pages []int, n int) []content.Block {
	if n > 0 && len(pages) > n {
		cut := d
		cut.PageRange, cut.Extracted = content.PageRange(pages[:n]), ""
		if _, err := c.request.bytes(ctx, cut); err == nil {
			note := fmt.Sprintf("[only pages %s of the document above are shown: the service takes %d pages at once. Not shown: pages %s.]",
				cut.PageRange, n, content.PageRange(pages[n:]))
			return []content.Block{cut, content.Text{Value: note}}
		}
	}
	return c.request.stub(d, "")
}
