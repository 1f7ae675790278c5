package rewrite

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// errHelpless is returned when no change would make the service accept the request.
var errHelpless = errors.New("nothing can be changed")

// draft is a request on its way from the refused form to one that fits.
type draft struct {
	policy  OverflowPolicy
	request llm.Request // refused; then as it is to be sent
	failure *llm.Error
	limits  llm.PictureLimits // that its pictures meet now
	how     string            // what was changed, for people
	lost    []string          // names of media sent as text now
}

// remedies holds one for each class that a change can help. Nothing else is rewritten: rate limits, overload, billing,
// keys, unknown models, parameters, refusals, pairing, broken connections, encrypted documents.
var remedies = map[llm.Class]func(context.Context, *draft) error{
	llm.ClassImageDims:        shrinkSides,
	llm.ClassImagePixels:      shrinkPixels,
	llm.ClassImageBytes:       shrinkFiles,
	llm.ClassImageCount:       keepNewest,
	llm.ClassMediaMismatch:    encodeAnew,
	llm.ClassUnsupportedMedia: convert,
	llm.ClassContextTokens:    leaveOut,
	llm.ClassRequestBytes:     shrinkLargest,
	llm.ClassURLFetch:         inline,
	llm.ClassPDFPages:         cutPages,
	llm.ClassBoundThinking:    forget,
}

// forget leaves out what the model thought before.
func forget(_ context.Context, d *draft) error {
	if d.request.Changed == 1 || !slices.ContainsFunc(d.request.Messages, func(m llm.Message) bool { return len(m.Raw) > 0 }) {
		return errHelpless
	}
	d.request.Changed, d.how = 1, "the model's earlier reasoning was left out"
	return nil
}

// limitOr returns the limit that the service stated, else the published one if what was sent exceeds it, else half of what
// was sent.
func (d *draft) limitOr(published, sent int64) int64 {
	switch {
	case d.failure.Limit > 0:
		return d.failure.Limit
	case published > 0 && published < sent:
		return published
	}
	return max(sent/2, 1)
}

// replace replaces media of a request.
func (d *draft) replace(from llm.Request, list []loaded, instead func(m loaded) []content.Block) {
	made := edits{}
	for _, m := range list {
		made[m.spot] = instead(m)
	}
	d.request = edit(from, made)
}

// asText replaces media by their text and a reference.
func (d *draft) asText(from llm.Request, list []loaded) {
	d.replace(from, list, func(m loaded) []content.Block {
		d.lost = append(d.lost, content.NameOf(m.Block))
		return stub(from, m.medium)
	})
}

// keepNewest sends as many pictures as the service accepts, the newest, and the older ones as text.
func keepNewest(ctx context.Context, d *draft) error {
	all, err := load(ctx, d.request)
	if err != nil {
		return err
	}
	documentsToo := aboutDocuments.MatchString(d.failure.Message)
	all = slices.DeleteFunc(all, func(m loaded) bool {
		return m.gone || m.Type() != content.TypeImage && !(documentsToo && m.Type() == content.TypeDocument)
	})
	limit := d.limitOr(int64(d.policy.Limits.MaxImages), int64(len(all)))
	if int64(len(all)) <= limit {
		return errHelpless
	}
	d.how = fmt.Sprintf("the newest %d of %d pictures were sent, the others as text", limit, len(all))
	d.asText(d.request, all[:int64(len(all))-limit])
	return nil
}

// encodeAnew encodes all pictures again, so that their type is what their bytes say.
func encodeAnew(ctx context.Context, d *draft) error {
	before, err := load(ctx, d.request)
	if err != nil {
		return err
	}
	next, _ := fit(d.request, llm.PictureLimits{Reencode: true})
	after, err := load(ctx, next)
	if err != nil {
		return err
	}
	if slices.EqualFunc(before, after, func(a, b loaded) bool { return a.sum == b.sum }) {
		return errHelpless
	}
	d.request, d.limits.Reencode, d.how = next, true, "pictures were re-encoded"
	return nil
}

// What refusals of media are about.
var (
	unreadable     = regexp.MustCompile(`(?i)not valid|unable to process|invalid image|unsupported image|could not process|illegal base64|failed to (?:load|process) image`)
	aboutImages    = regexp.MustCompile(`(?i)image|vision|picture|mmproj`)
	aboutDocuments = regexp.MustCompile(`(?i)document|\bpdf\b|file (?:type|data|input)|application/|s3Uri|variant .file`)
	aboutAudio     = regexp.MustCompile(`(?i)audio`)
	aboutVideo     = regexp.MustCompile(`(?i)video`)
)

// convert sends what the service refused in another form: a broken picture encoded again, documents as pictures of their
// pages, everything else as its text.
func convert(ctx context.Context, d *draft) error {
	if unreadable.MatchString(d.failure.Message) {
		if err := encodeAnew(ctx, d); !errors.Is(err, errHelpless) {
			return err
		}
	}
	all, err := load(ctx, d.request)
	if err != nil {
		return err
	}
	refused := slices.DeleteFunc(slices.Clone(all), func(m loaded) bool { return m.gone || !d.concerns(m.Block) })
	if len(refused) == 0 {
		refused = slices.DeleteFunc(all, func(m loaded) bool { return m.gone })
	}
	if len(refused) == 0 {
		return errHelpless
	}
	paged, from := 0, d.request
	d.replace(from, refused, func(m loaded) []content.Block {
		if d.policy.Vision && !aboutImages.MatchString(d.failure.Message) {
			if pictures := pagePictures(ctx, from, m.Block); pictures != nil {
				paged++
				return pictures
			}
		}
		d.lost = append(d.lost, content.NameOf(m.Block))
		return stub(from, m.medium)
	})
	d.how = fmt.Sprintf("%d documents were sent as pictures of their pages, %d files as text", paged, len(d.lost))
	return ctx.Err()
}

// concerns reports whether the refusal is about such a block.
func (d *draft) concerns(b content.Block) bool {
	about := map[content.Type]*regexp.Regexp{
		content.TypeImage: aboutImages, content.TypeDocument: aboutDocuments, content.TypeAudio: aboutAudio, content.TypeVideo: aboutVideo,
	}[b.Type()]
	return about != nil && about.MatchString(d.failure.Message)
}

// pagePictures returns the pages of a document as pictures; nil for other blocks, if the pages cannot be drawn, or if there
// are too many.
func pagePictures(ctx context.Context, r llm.Request, b content.Block) []content.Block {
	d, ok := b.(content.Document)
	if !ok {
		return nil
	}
	pages := llm.PagePictures(d, llm.MaxPagePictures+1)
	if len(pages) == 0 || len(pages) > llm.MaxPagePictures {
		return nil
	}
	var pictures []content.Block
	for _, picture := range pages {
		pictures = append(pictures, picture)
	}
	if _, err := read(ctx, r, pictures[0]); err != nil {
		return nil
	}
	return pictures
}

// inline fetches the pictures that the service could not fetch, under our own rules, and sends the others as text.
func inline(ctx context.Context, d *draft) error {
	made := edits{}
	count := 0
	for _, m := range mediaOf(d.request) {
		picture, ok := m.Block.(content.Image)
		if !ok || picture.Source != content.SourceRemote {
			continue
		}
		if d.policy.Inline != nil {
			here, err := d.policy.Inline(ctx, picture)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil {
				made[m.spot] = []content.Block{here}
				count++
				continue
			}
		}
		made[m.spot] = []content.Block{content.Text{Value: picture.Text()}}
		d.lost = append(d.lost, picture.Name)
	}
	if len(made) == 0 {
		return errHelpless
	}
	d.request, d.how = edit(d.request, made), fmt.Sprintf("%d pictures were fetched here, %d sent as text", count, len(d.lost))
	return nil
}

// cutPages sends as many pages of documents as the service accepts, the first ones, and notes which. A document for which
// no page is left, or that cannot be cut, is sent as text.
func cutPages(ctx context.Context, d *draft) error {
	total := 0
	var documents []medium
	for _, m := range mediaOf(d.request) {
		if d, ok := m.Block.(content.Document); ok {
			documents, total = append(documents, m), total+d.PageCount()
		}
	}
	limit := int(d.limitOr(int64(d.policy.Limits.MaxPDFPages), int64(total)))
	if total <= limit {
		return errHelpless
	}
	made, left := edits{}, limit
	for _, m := range documents {
		document := m.Block.(content.Document) //nolint:forcetypeassert // selected above
		pages, _ := document.PageNumbers()     // none of an invalid range
		if len(pages) <= left && len(pages) > 0 {
			left -= len(pages)
			continue
		}
		d.lost = append(d.lost, document.Name)
		made[m.spot] = d.firstPages(ctx, m, document, pages[:min(len(pages), left)], pages[min(len(pages), left):])
		if len(made[m.spot]) > 1 {
			left = 0
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d.request, d.how = edit(d.request, made), fmt.Sprintf("the first %d of %d pages of documents were sent", limit-left, total)
	return nil
}

// firstPages returns the document cut to its first pages and a note, or its text.
func (d *draft) firstPages(ctx context.Context, m medium, document content.Document, first, rest []int) []content.Block {
	if len(first) > 0 && len(rest) > 0 {
		document.PageRange, document.Extracted = content.PageRange(first), ""
		if _, err := read(ctx, d.request, document); err == nil {
			note := fmt.Sprintf("[only pages %s of the document above are shown: the service takes %d pages at once. Not shown: pages %s.]",
				document.PageRange, len(first), content.PageRange(rest))
			return []content.Block{document, content.Text{Value: note}}
		}
	}
	return stub(d.request, m)
}
