package policy_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/policy"
)

var (
	seeing = policy.Lookup("anthropic", "claude-sonnet-4-5", nil, nil)
	blind  = policy.Lookup("ollama", "llama3.2", nil, nil)
)

func bounds(change func(*policy.Bounds)) policy.Bounds {
	b := policy.DefaultBudget().Bound(policy.Limits("anthropic", "claude-sonnet-4-5"))
	if change != nil {
		change(&b)
	}
	return b
}

// picture is a candidate that fits.
func picture(n int, change ...func(*policy.Candidate)) policy.Candidate {
	c := policy.Candidate{
		ID: fmt.Sprintf("c%d", n), Name: fmt.Sprintf("p%d.png", n), SHA256: fmt.Sprintf("%064x", n),
		MediaType: "image/png", Width: 800, Height: 600, Size: 100_000,
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func TestDecide_situations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*policy.Candidate)
		caps   policy.Capabilities
		want   policy.Decision
	}{
		{"attached", nil, seeing, policy.Decision{ID: "c1", Fate: policy.Sent, Width: 800, Height: 600, Bytes: 100_000, Tokens: 640}},
		{"missing", func(c *policy.Candidate) { c.Missing = true }, seeing, policy.Decision{ID: "c1", Fate: policy.Missing, Reason: "not found", Why: omission.Of(omission.Missing)}},
		{"remote", func(c *policy.Candidate) { c.Remote, c.SHA256 = true, "" }, seeing, policy.Decision{ID: "c1", Fate: policy.Reference, Reason: "remote image, not fetched"}},
		{"remote, failed", func(c *policy.Candidate) {
			c.Remote, c.SHA256, c.Problem, c.Why = true, "", "not fetched: refused", omission.Of(omission.Fetch)
		}, seeing, policy.Decision{ID: "c1", Fate: policy.Refused, Reason: "remote image, not fetched: refused", Why: omission.Of(omission.Fetch)}},
		{"corrupt", func(c *policy.Candidate) { c.Problem, c.Why = "corrupt", omission.Of(omission.Damaged) }, seeing, policy.Decision{ID: "c1", Fate: policy.Refused, Reason: "corrupt", Why: omission.Of(omission.Damaged)}},
		{"no picture", func(c *policy.Candidate) { c.Problem = "not an image" }, seeing, policy.Decision{ID: "c1", Fate: policy.Refused, Reason: "not an image", Why: omission.Of(omission.Unreadable)}},
		{"ignored", func(c *policy.Candidate) { c.Mode = policy.Ignore }, seeing, policy.Decision{ID: "c1", Fate: policy.Reference, Reason: "images=ignore"}},
		{"ignored comes before missing", func(c *policy.Candidate) { c.Mode, c.Missing = policy.Ignore, true }, blind, policy.Decision{ID: "c1", Fate: policy.Reference, Reason: "images=ignore"}},
		{"icon", func(c *policy.Candidate) { c.Width, c.Height = 18, 18 }, seeing, policy.Decision{ID: "c1", Fate: policy.Reference, Reason: "longest side 18 < 24", Bound: "min_image_side"}},
		{"an svg icon is not refused", func(c *policy.Candidate) { c.Width, c.Height, c.MediaType = 18, 18, "image/svg+xml" }, seeing, policy.Decision{ID: "c1", Fate: policy.Reference, Reason: "longest side 18 < 24", Bound: "min_image_side"}},
		{"svg", func(c *policy.Candidate) { c.MediaType = "image/svg+xml" }, seeing, policy.Decision{ID: "c1", Fate: policy.Sent, Reason: "svg is sent as png or jpeg", Width: 800, Height: 600, Bytes: 240_000, Tokens: 640}},
		{"a kind that nothing decodes", func(c *policy.Candidate) { c.MediaType = "image/jp2" }, seeing, policy.Decision{ID: "c1", Fate: policy.Refused, Reason: "jp2 is not accepted by the model and cannot be converted in this version", Why: omission.Of(omission.Kind)}},
		{"bomb", func(c *policy.Candidate) { c.Width, c.Height = 50_000, 50_000 }, seeing, policy.Decision{ID: "c1", Fate: policy.Refused, Reason: "too many pixels: 2500000000 > 100000000", Bound: "max_decode_pixels", Why: omission.Over("max_decode_pixels", "")}},
		{"no vision", nil, blind, policy.Decision{ID: "c1", Fate: policy.Converted, Reason: "the model has no vision"}},
		{"no vision, missing", func(c *policy.Candidate) { c.Missing = true }, blind, policy.Decision{ID: "c1", Fate: policy.Missing, Reason: "not found", Why: omission.Of(omission.Missing)}},
		{"wide", func(c *policy.Candidate) { c.Width, c.Height = 4000, 3000 }, seeing, policy.Decision{ID: "c1", Fate: policy.Resized, Reason: "longest side 4000 > 2000", Width: 2000, Height: 1500, Bytes: 1_500_000, Tokens: 1600}},
		{"heavy", func(c *policy.Candidate) { c.Size = 5 << 20 }, seeing, policy.Decision{ID: "c1", Fate: policy.Resized, Reason: "5.00 MB > 3.75 MB", Width: 800, Height: 600, Bytes: 3_932_160, Tokens: 640}},
		{"bmp", func(c *policy.Candidate) { c.MediaType = "image/bmp" }, seeing, policy.Decision{ID: "c1", Fate: policy.Sent, Reason: "bmp is sent as png or jpeg", Width: 800, Height: 600, Bytes: 240_000, Tokens: 640}},
	} {
		cand := picture(1)
		if c.change != nil {
			c.change(&cand)
		}
		got, err := policy.Decide([]policy.Candidate{cand}, c.caps, policy.Auto, bounds(nil))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff([]policy.Decision{c.want}, got, cmp.AllowUnexported(omission.Why{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestDecide_sameImageIsNotCounted(t *testing.T) {
	t.Parallel()
	cands := []policy.Candidate{
		picture(1), picture(2),
		picture(3, func(c *policy.Candidate) { c.Name = "p1.png" }),
		picture(4, func(c *policy.Candidate) { c.SHA256 = picture(2).SHA256 }),
		picture(5),
	}
	got, err := policy.Decide(cands, seeing, policy.Auto, bounds(func(b *policy.Bounds) { b.MaxImages = 3 }))
	if err != nil {
		t.Fatal(err)
	}
	want := []policy.Fate{policy.Sent, policy.Sent, policy.Deduplicated, policy.Deduplicated, policy.Sent}
	if diff := cmp.Diff(want, fates(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got[2].Same != 1 || got[3].Same != 2 {
		t.Errorf("same as %d and %d, want 1 and 2", got[2].Same, got[3].Same)
	}
}

func fates(list []policy.Decision) []policy.Fate {
	out := make([]policy.Fate, len(list))
	for i, d := range list {
		out[i] = d.Fate
	}
	return out
}

func TestDecide_whenExceeded(t *testing.T) {
	t.Parallel()
	cands := []policy.Candidate{picture(1), picture(2), picture(3)}
	two := func(e policy.Exceeded) policy.Bounds {
		return bounds(func(b *policy.Bounds) { b.MaxImages, b.WhenExceeded = 2, e })
	}
	const sent, deferred, omitted, ref = policy.Sent, policy.Deferred, policy.Omitted, policy.Reference
	for e, want := range map[policy.Exceeded][]policy.Fate{
		policy.Defer:      {sent, sent, deferred},
		policy.DropNewest: {sent, sent, omitted},
		policy.DropOldest: {omitted, sent, sent},
		policy.RefsOnly:   {ref, ref, ref},
	} {
		got, err := policy.Decide(cands, seeing, policy.Auto, two(e))
		if err != nil {
			t.Errorf("%s: %v", e, err)
			continue
		}
		if diff := cmp.Diff(want, fates(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", e, diff)
		}
	}
	_, err := policy.Decide(cands, seeing, policy.Auto, two(policy.Fail))
	var exceeded *policy.ExceededError
	if !errors.As(err, &exceeded) || exceeded.Key != "max_images" || exceeded.ID != "c3" || exceeded.From != "default" {
		t.Errorf("fail: got %v, want max_images at c3 from default", err)
	}
}

func TestDecide_localBeforeRemote(t *testing.T) {
	t.Parallel()
	cands := []policy.Candidate{picture(1, func(c *policy.Candidate) { c.Remote = true }), picture(2), picture(3)}
	got, err := policy.Decide(cands, seeing, policy.Auto, bounds(func(b *policy.Bounds) { b.MaxImages = 2 }))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]policy.Fate{policy.Deferred, policy.Sent, policy.Sent}, fates(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDecide_whatDoesNotFitLeavesItsRoom(t *testing.T) {
	t.Parallel()
	cands := []policy.Candidate{picture(1), picture(2, func(c *policy.Candidate) { c.Size = 900_000 }), picture(3)}
	got, err := policy.Decide(cands, seeing, policy.Auto, bounds(func(b *policy.Bounds) { b.MaxTotalBytes = 500_000 }))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]policy.Fate{policy.Sent, policy.Deferred, policy.Sent}, fates(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	tokens, err := policy.Decide(cands, seeing, policy.Auto, bounds(func(b *policy.Bounds) { b.MaxPromptTokens, b.ReservedTokens = 2000, 800 }))
	if err != nil {
		t.Fatal(err)
	}
	if tokens[1].Fate != policy.Deferred || tokens[1].Bound != "max_prompt_tokens" {
		t.Errorf("tokens: got %v, want the second deferred by max_prompt_tokens", tokens[1])
	}
}

func TestDecide_requiredWithoutVision(t *testing.T) {
	t.Parallel()
	_, err := policy.Decide([]policy.Candidate{picture(1)}, blind, policy.Required, bounds(nil))
	var lacking *policy.CapabilityError
	if !errors.As(err, &lacking) || lacking.Need != policy.Vision || lacking.ID != "c1" {
		t.Fatalf("got %v, want a CapabilityError about vision at c1", err)
	}
	if lacking.Hint() == "" {
		t.Error("no hint")
	}
	got, err := policy.Decide([]policy.Candidate{picture(1)}, seeing, policy.Required, bounds(nil))
	if err != nil || got[0].Fate != policy.Sent {
		t.Errorf("with vision: got %v, %v", got, err)
	}
}

// FuzzDecide: one decision for each candidate, in order; what is attached stays within every bound; a duplicate points at
// an earlier candidate with the same name or digest.
func FuzzDecide(f *testing.F) {
	f.Add([]byte{}, uint8(3), uint16(2000), uint32(1<<20), uint32(1<<20), uint16(5000), uint8(0))
	f.Add([]byte("a stream of bytes that makes some candidates of many kinds, long enough for several of them"), uint8(2), uint16(600), uint32(1<<16), uint32(1<<18), uint16(900), uint8(0))
	f.Add([]byte("0123456789012345678901234567890123456789012345678901234567890123456789"), uint8(20), uint16(0), uint32(0), uint32(1<<30), uint16(0), uint8(2))
	f.Fuzz(func(t *testing.T, raw []byte, images uint8, side uint16, imageBytes, total uint32, tokens uint16, react uint8) {
		reactions := []policy.Exceeded{policy.Defer, policy.DropOldest, policy.DropNewest, policy.RefsOnly, policy.Fail}
		b := policy.Bounds{
			MaxImages: int(images), MaxSide: int(side), MaxImageBytes: int64(imageBytes), MaxTotalBytes: int64(total), MinSide: 24,
			MaxPages: int(images) % 5, MaxDecodePixels: 1e8, MaxPromptTokens: int(tokens), ReservedTokens: int(tokens) / 8, Tokens: policy.FormulaAnthropic,
			WhenExceeded: reactions[int(react)%len(reactions)], Accept: []string{"image/png", "image/jpeg"},
		}
		cands := candidates(raw)
		got, err := policy.Decide(cands, seeing, policy.Auto, b)
		if err != nil {
			var exceeded *policy.ExceededError
			if b.WhenExceeded != policy.Fail || !errors.As(err, &exceeded) {
				t.Fatalf("%v: %v", b, err)
			}
			return
		}
		checkDecisions(t, cands, got, b)
	})
}

func candidates(raw []byte) []policy.Candidate {
	media := []string{"image/png", "image/jpeg", "image/bmp", "image/svg+xml", ""}
	var list []policy.Candidate
	for i := 0; i+10 <= len(raw); i += 10 {
		p := raw[i : i+10]
		list = append(list, policy.Candidate{
			ID: fmt.Sprintf("c%d", i), Name: fmt.Sprintf("n%d", p[0]%16), SHA256: fmt.Sprintf("s%d", p[1]%16), MediaType: media[int(p[2])%len(media)],
			Width: int(binary.BigEndian.Uint16(p[3:])), Height: int(binary.BigEndian.Uint16(p[5:])), Size: int64(p[7]) << (p[8] % 17),
			Kind: []string{policy.Picture, policy.Picture, policy.PageText, policy.PageDocument}[p[0]>>6], Page: []string{"", "", "p1", "p2", "p3"}[int(p[1]>>4)%5],
			Pages: int(p[2] >> 5), Tokens: int(p[3]), Unread: p[8]&128 > 0, Cut: []string{"", "", "", "the prompt is cut"}[p[2]>>3&3],
			Missing: p[9]&1 > 0 && p[9]&2 > 0, Remote: p[9]&4 > 0, Mode: []policy.ImageMode{"", policy.Auto, policy.Ignore, policy.Required}[p[9]>>6],
		})
	}
	return list
}

func checkDecisions(t *testing.T, cands []policy.Candidate, got []policy.Decision, b policy.Bounds) {
	t.Helper()
	if len(got) != len(cands) {
		t.Fatalf("%d decisions for %d candidates", len(got), len(cands))
	}
	images, files, bytes, tokens := 0, 0, int64(0), b.ReservedTokens
	pages := map[string]bool{}
	for i, d := range got {
		c := cands[i]
		if d.ID != c.ID || d.Fate == "" {
			t.Fatalf("decision %d is %+v for %s", i, d, c.ID)
		}
		if d.Fate == policy.Deduplicated {
			if d.Same < 1 || d.Same > i || cands[d.Same-1].Name != c.Name && cands[d.Same-1].SHA256 != c.SHA256 {
				t.Errorf("candidate %d is not the same as %d", i+1, d.Same)
			}
		}
		if !d.Fate.Attached() {
			continue
		}
		bytes, tokens = bytes+d.Bytes, tokens+d.Tokens
		switch c.Kind {
		case policy.Picture:
			images++
		case policy.PageDocument:
			files += c.Pages
		}
		if c.Page != "" && c.Kind != policy.PageDocument {
			pages[c.Page] = true
		}
		if c.Kind == policy.Picture && (b.MaxImageBytes > 0 && d.Bytes > b.MaxImageBytes || b.MaxSide > 0 && max(d.Width, d.Height) > b.MaxSide) {
			t.Errorf("%+v is over %+v", d, b)
		}
		if c.Missing || c.Mode == policy.Ignore || c.Cut != "" || c.Unread {
			t.Errorf("%+v is attached", c)
		}
	}
	if images > b.MaxImages || len(pages)+files > b.MaxPages || bytes > b.MaxTotalBytes || b.MaxPromptTokens > 0 && tokens > b.MaxPromptTokens && tokens > b.ReservedTokens {
		t.Errorf("%d images, %d and %d pages, %d bytes, %d tokens are over %+v", images, len(pages), files, bytes, tokens, b)
	}
}

// A page counts once, however many candidates show it; text pages need no vision and take no image's place.
func TestDecide_pages(t *testing.T) {
	t.Parallel()
	text := func(page string) policy.Candidate {
		return policy.Candidate{Kind: policy.PageText, Page: page, Tokens: 10}
	}
	image := func(page string) policy.Candidate {
		return picture(1, func(c *policy.Candidate) { c.Page, c.Name, c.SHA256 = page, page, page })
	}
	file := policy.Candidate{Kind: policy.PageDocument, Name: "b.pdf", Pages: 3, Size: 1000}
	sent, deferred := policy.Sent, policy.Deferred
	for _, c := range []struct {
		name  string
		cands []policy.Candidate
		pages int
		want  []policy.Fate
	}{
		{"text and picture of a page", []policy.Candidate{text("1"), image("1"), text("2"), image("2")}, 1, []policy.Fate{sent, sent, deferred, deferred}},
		{"none is allowed", []policy.Candidate{text("1"), image("2"), picture(3)}, 0, []policy.Fate{deferred, deferred, sent}},
		{"a file counts its pages", []policy.Candidate{file, text("1"), text("2")}, 4, []policy.Fate{sent, sent, deferred}},
		{"a file goes as a whole", []policy.Candidate{text("1"), file, text("2")}, 3, []policy.Fate{sent, deferred, sent}},
		{"text is not the same as text", []policy.Candidate{text("1"), text("1")}, 1, []policy.Fate{sent, sent}},
	} {
		got, err := policy.Decide(c.cands, seeing, policy.Auto, bounds(func(b *policy.Bounds) { b.MaxPages = c.pages }))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, fates(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	got, err := policy.Decide([]policy.Candidate{text("1"), file}, blind, policy.Required, bounds(nil))
	if err != nil || !got[0].Fate.Attached() || !got[1].Fate.Attached() {
		t.Errorf("without vision: %v, %v", got, err)
	}
}

// What stands behind a cut, and what nobody looked at, gets nothing; what is wrong with it is still said.
func TestDecide_cutAndUnread(t *testing.T) {
	t.Parallel()
	cands := []policy.Candidate{
		picture(1, func(c *policy.Candidate) { c.Cut = "max_prompt_tokens 9 reached" }),
		picture(2, func(c *policy.Candidate) { c.Cut, c.Missing = "max_prompt_tokens 9 reached", true }),
		picture(3, func(c *policy.Candidate) { c.Unread = true }),
		picture(4),
	}
	got, err := policy.Decide(cands, seeing, policy.Auto, bounds(nil))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]policy.Fate{policy.Deferred, policy.Missing, policy.Deferred, policy.Sent}, fates(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got[0].Bound != "max_prompt_tokens" || got[2].Bound != "max_images" {
		t.Errorf("bound by %q and %q", got[0].Bound, got[2].Bound)
	}
}

func ExampleDecide() {
	budget := policy.DefaultBudget()
	budget.MaxImages = 1
	b := budget.Bound(policy.Limits("ollama", "llava"))
	decisions, err := policy.Decide([]policy.Candidate{
		{ID: "c2", Name: "a.png", SHA256: "aa", MediaType: "image/png", Width: 640, Height: 480, Size: 9000},
		{ID: "c4", Name: "b.png", SHA256: "bb", MediaType: "image/png", Width: 640, Height: 480, Size: 9000},
	}, policy.Lookup("ollama", "llava", nil, nil), policy.Auto, b)
	if err != nil {
		fmt.Println(err)
	}
	for _, d := range decisions {
		fmt.Println(d.ID, d.Fate)
	}
	// Output:
	// c2 sent
	// c4 deferred
}
