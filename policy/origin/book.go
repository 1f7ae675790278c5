package origin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"
)

// maxText is the largest file whose sentences are compared, in bytes. For larger ones only the digest counts.
const maxText = 64 << 20

// Book knows where content comes from, and records it. It is safe for concurrent use if its parts are. Without a Store, Rules
// alone decide.
type Book struct {
	FS    fs.FS // the vault
	Rules Rules
	Store Store
	// ReadOnly keeps it from recording its findings, for a preview next to a running process.
	ReadOnly bool
}

// Finding is what is known about a file.
type Finding struct {
	Name    string   `json:"name"`             // vault name after following links
	Digest  string   `json:"digest,omitempty"` // of the content that was examined
	Size    int64    `json:"size,omitempty"`   // of that content
	Foreign bool     `json:"foreign"`
	Why     string   `json:"why,omitempty"`     // how it was recognised
	Origins []string `json:"origins,omitempty"` // where it comes from, as far as known
	Spans   []Span   `json:"spans,omitempty"`   // the lines known to be foreign; set by Explain
}

// Why a file counts as foreign, apart from the place and the property in Rules.
const (
	WhyContent = "the same content is on record"
	WhyName    = "an earlier version of it is on record"
	WhyText    = "some of its text is on record"
	WhyBundle  = "it belongs to an import"
)

// Of reports where the present content of a file comes from. A link counts as its target. Findings are recorded, so that they
// hold after the next rename or edit too. After an error the caller must treat the file as foreign.
func (b *Book) Of(ctx context.Context, name string) (Finding, error) {
	if real, err := Real(b.FS, path.Clean(name)); err == nil && b.Rules.Place(real) == "" {
		if own, err := b.plain(ctx, real); err == nil && own {
			return Finding{Name: real}, nil
		}
	}
	f, _, err := b.judge(ctx, name)
	return f, err
}

// maxHead is how much of a file plain reads.
const maxHead = 4 << 10

// plain reports whether a file, such as a picture, is the owner's for certain without its digest: it is no text, and nothing of its
// size or name is on record. A prompt may ask about hundreds of pictures.
func (b *Book) plain(ctx context.Context, name string) (bool, error) {
	f, err := b.FS.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false, err
	}
	head := make([]byte, min(info.Size(), maxHead))
	if _, err := io.ReadFull(f, head); err != nil || bytes.IndexByte(head, 0) < 0 || hasProperties(head) || bundle(b.FS, name) != "" {
		return false, err
	}
	if b.Store == nil {
		return true, nil
	}
	if may, err := b.Store.MayHave(ctx, info.Size()); err != nil || may {
		return false, err
	}
	r, err := b.Store.Name(ctx, name)
	return !r.Foreign(), err
}

// size returns the size of a file, or 0.
func (b *Book) size(name string) int64 {
	if info, err := fs.Stat(b.FS, name); err == nil {
		return info.Size()
	}
	return 0
}

// Named reports what is known about a name alone, without reading the file: whether somebody else may have chosen it.
func (b *Book) Named(ctx context.Context, name string) (Finding, error) {
	name = path.Clean(name)
	f := Finding{Name: name}
	if f.Why = b.Rules.Place(name); f.Why != "" {
		f.Foreign = true
	}
	if b.Store == nil {
		return f, nil
	}
	r, err := b.Store.Name(ctx, name)
	if err != nil {
		return f, fmt.Errorf("look up the origin of %q: %w", name, err)
	}
	if r.Foreign() {
		f.Foreign, f.Origins = true, r.Origins
		if f.Why == "" {
			f.Why = WhyName
		}
	}
	return f, nil
}

// Explain is Of plus the lines known to be foreign. It records nothing.
func (b *Book) Explain(ctx context.Context, name string) (Finding, error) {
	reader := *b
	reader.ReadOnly = true
	f, text, err := reader.judge(ctx, name)
	if err != nil || b.Store == nil {
		return f, err
	}
	f.Spans, _, err = b.compare(ctx, text)
	return f, err
}

// judge decides about a file. text is nil if it is not text or too large.
func (b *Book) judge(ctx context.Context, name string) (f Finding, text []byte, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("look up the origin of %q: %w", name, err)
		}
	}()
	f.Name = name
	real, err := Real(b.FS, path.Clean(name))
	if err != nil {
		return f, nil, err
	}
	f.Name = real
	if text, f.Digest, f.Size, err = read(b.FS, real); err != nil {
		return f, nil, err
	}
	if b.Store != nil && f.Digest != emptyDigest {
		r, err := b.Store.Content(ctx, f.Digest)
		if err != nil {
			return f, text, err
		}
		if r.Known {
			return b.found(ctx, f, r.Foreign(), WhyContent, r.Origins, nil), text, nil
		}
	}
	if why := b.Rules.Place(real); why != "" {
		origins, err := b.ofPlace(ctx, real)
		if err != nil {
			return f, text, err
		}
		return b.found(ctx, f, true, why, origins, text), text, nil
	}
	if o := bundle(b.FS, real); o != "" {
		return b.found(ctx, f, true, WhyBundle, []string{o}, text), text, nil
	}
	f, err = b.byRecord(ctx, f, text)
	return f, text, err
}

// ofPlace returns the finding about a file that its place makes foreign.
func (b *Book) ofPlace(ctx context.Context, name string) ([]string, error) {
	if b.Store != nil {
		if r, err := b.Store.Name(ctx, name); err != nil || r.Foreign() {
			return r.Origins, err
		}
	}
	if o := bundle(b.FS, name); o != "" {
		return []string{o}, nil
	}
	return nil, nil
}

// byRecord checks the name, the properties and the sentences.
func (b *Book) byRecord(ctx context.Context, f Finding, text []byte) (Finding, error) {
	var named Record
	var err error
	if b.Store != nil {
		if named, err = b.Store.Name(ctx, f.Name); err != nil {
			return f, err
		}
	}
	if named.Foreign() {
		return b.found(ctx, f, true, WhyName, named.Origins, nil), nil
	}
	origins, err := b.byText(ctx, text)
	if err != nil {
		return f, err
	}
	if p := b.Rules.property(text); p != "" && !named.Known {
		return b.found(ctx, f, true, "it has the property "+p, origins, text), nil
	}
	if len(origins) == 0 {
		return f, nil
	}
	return b.found(ctx, f, true, WhyText, origins, nil), nil
}

// byText returns where the foreign sentences of a text come from, if there are enough of them.
func (b *Book) byText(ctx context.Context, text []byte) (origins []string, err error) {
	if b.Store == nil {
		return nil, nil
	}
	spans, weight, err := b.compare(ctx, text)
	if err != nil || weight < enough {
		return nil, err
	}
	for _, s := range spans {
		origins = Join(origins, s.Origins...)
	}
	return origins, nil
}

// compare finds the foreign sentences of a text.
func (b *Book) compare(ctx context.Context, text []byte) ([]Span, int, error) {
	all := sentences(text)
	if len(all) == 0 {
		return nil, 0, nil
	}
	known, err := b.Store.Pieces(ctx, distinct(all))
	spans, weight := match(all, known)
	return spans, weight, err
}

// found completes a finding, and records it if it is foreign: the name for the next edit, the digest for the next move, and
// new sentences. A failure to store it does not change the answer: the next check finds the same.
func (b *Book) found(ctx context.Context, f Finding, foreign bool, why string, origins []string, text []byte) Finding {
	if f.Foreign = foreign; !foreign {
		return f
	}
	f.Why, f.Origins = why, origins
	if b.Store == nil || b.ReadOnly {
		return f
	}
	if len(origins) == 0 {
		origins = []string{oneLine(kindFile + f.Name)}
	}
	named, err := b.Store.Name(ctx, f.Name)
	if err == nil && why == WhyContent && named.Foreign() {
		return f
	}
	entry := Entry{Digest: f.Digest, Size: f.Size, Pieces: Pieces(text), Origins: origins}
	if text != nil && tiny(text) {
		entry.Digest = ""
	}
	if !named.Foreign() {
		entry.Name = f.Name
	}
	_ = b.Store.Keep(ctx, entry) // see above
	return f
}

// read returns the bytes of a file that is small enough, and the digest and size of any.
func read(files fs.FS, name string) (data []byte, digest string, size int64, err error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, "", 0, err
	}
	defer f.Close()
	var buffer bytes.Buffer
	if info, err := f.Stat(); err == nil {
		buffer.Grow(int(min(info.Size(), maxText)) + bytes.MinRead) // or it is copied each time it grows
	}
	if _, err := buffer.ReadFrom(io.LimitReader(f, maxText+1)); err != nil {
		return nil, "", 0, err
	}
	hash := sha256.New()
	data = buffer.Bytes()
	hash.Write(data)
	if size = int64(len(data)); size > maxText {
		more, err := io.Copy(hash, f)
		if err != nil {
			return nil, "", 0, err
		}
		data, size = nil, size+more
	}
	return data, hex.EncodeToString(hash.Sum(nil)), size, nil
}

// Write is content that a run writes to a file.
type Write struct {
	Name     string
	Before   []byte // the old content; nil if there was none
	After    []byte
	Replaces bool     // there was a file
	Origins  []string // where the new text comes from, see OfRun; none: it is the owner's
	Approved bool     // the user saw and approved the new text
	Restores bool     // it restores earlier content, whose origin counts
}

// Wrote records a write. Call it before writing the file, so that a crash leaves no foreign text without a record.
func (b *Book) Wrote(ctx context.Context, w Write) error {
	if b.Store == nil || b.ReadOnly {
		return nil
	}
	if len(bytes.TrimSpace(w.After)) == 0 {
		return nil
	}
	before, err := b.before(ctx, w)
	if err != nil {
		return fmt.Errorf("record the origin of %q: %w", w.Name, err)
	}
	var entries []Entry
	digest := sum(w.After)
	if tiny(w.After) {
		digest = ""
	}
	switch {
	case w.Restores:
		if entries, err = b.restored(ctx, w, sum(w.After), before); err != nil {
			return fmt.Errorf("record the origin of %q: %w", w.Name, err)
		}
	case len(w.Origins) > 0 && !w.Approved:
		entries = tainted(w, digest, before)
	case len(w.Origins) > 0:
		entries = append(entries, Entry{Pieces: Added(w.Before, w.After), Override: true})
		if before.Foreign() {
			entries = append(entries, Entry{Digest: digest, Size: int64(len(w.After)), Origins: before.Origins})
		} else {
			entries = append(entries, Entry{Name: w.Name, Digest: digest, Size: int64(len(w.After)), Override: true})
		}
	default:
		if entries, err = b.clean(ctx, w, digest, before); err != nil {
			return fmt.Errorf("record the origin of %q: %w", w.Name, err)
		}
	}
	if len(entries) == 0 {
		return nil
	}
	if err := b.Store.Keep(ctx, entries...); err != nil {
		return fmt.Errorf("record the origin of %q: %w", w.Name, err)
	}
	return nil
}

// tainted returns the entries for a write of foreign text. The old content remains the owner's if it was, so that an undo
// restores it as such.
func tainted(w Write, digest string, before Record) []Entry {
	origins := w.Origins
	var entries []Entry
	if before.Foreign() {
		origins = Join(origins, before.Origins...)
		entries = append(entries, Entry{Digest: sum(w.Before), Size: int64(len(w.Before)), Origins: before.Origins})
	} else if w.Replaces && len(bytes.TrimSpace(w.Before)) > 0 {
		entries = append(entries, Entry{Digest: sum(w.Before), Size: int64(len(w.Before))})
	}
	return append(entries, Entry{Name: w.Name, Digest: digest, Size: int64(len(w.After)), Origins: origins}, Entry{Pieces: Added(w.Before, w.After), Origins: w.Origins})
}

// clean returns the entries for a write by a step that was shown nothing foreign. Its sentences that are on record as foreign
// are common phrases of models, so they no longer identify an origin.
func (b *Book) clean(ctx context.Context, w Write, digest string, before Record) ([]Entry, error) {
	known, err := b.Store.Pieces(ctx, Added(w.Before, w.After))
	if err != nil {
		return nil, err
	}
	var entries []Entry
	if common := slices.Sorted(maps.Keys(known)); len(common) > 0 {
		entries = append(entries, Entry{Pieces: common, Override: true})
	}
	switch {
	case before.Foreign() && !keepsLines(w.Before, w.After): // it was replaced completely
		entries = append(entries, Entry{Name: w.Name, Digest: digest, Size: int64(len(w.After))})
	case before.Foreign():
		entries = append(entries, Entry{Digest: digest, Size: int64(len(w.After)), Origins: before.Origins})
	}
	return entries, nil
}

// restored returns the entries for restored content.
func (b *Book) restored(ctx context.Context, w Write, digest string, before Record) ([]Entry, error) {
	r, err := b.Store.Content(ctx, digest)
	switch {
	case err != nil:
		return nil, err
	case r.Known:
		return []Entry{{Name: w.Name, Origins: r.Origins}}, nil
	case before.Foreign():
		return []Entry{{Name: w.Name, Digest: digest, Size: int64(len(w.After)), Origins: before.Origins}}, nil
	}
	return nil, nil
}

// before returns what is known about the file to be overwritten.
func (b *Book) before(ctx context.Context, w Write) (Record, error) {
	if !w.Replaces {
		return Record{}, nil
	}
	if r, err := b.Store.Content(ctx, sum(w.Before)); err != nil || r.Known {
		return r, err
	}
	r, err := b.Store.Name(ctx, w.Name)
	if err != nil || r.Foreign() {
		return r, err
	}
	if why := b.Rules.Place(w.Name); why != "" {
		return Record{true, []string{oneLine(kindFile + w.Name)}}, nil
	}
	origins, err := b.byText(ctx, w.Before)
	return Record{len(origins) > 0, origins}, err
}

// Moving records that a file with this digest is about to be renamed. Call Removed with the old name afterwards.
func (b *Book) Moving(ctx context.Context, from, to, digest string) error {
	if b.Store == nil || b.ReadOnly {
		return nil
	}
	r, err := b.Store.Content(ctx, digest)
	if err == nil && !r.Known {
		if r, err = b.Store.Name(ctx, from); err == nil && !r.Known && b.Rules.Place(from) != "" {
			r = Record{true, []string{oneLine(kindFile + from)}}
		}
	}
	if err == nil && r.Known {
		err = b.Store.Keep(ctx, Entry{Name: to, Digest: digest, Size: b.size(from), Origins: r.Origins})
	}
	if err != nil {
		return fmt.Errorf("record the origin of %q: %w", to, err)
	}
	return nil
}

// Changed handles a change that the watcher saw: it records known content at a new name, and new content at a known name.
func (b *Book) Changed(ctx context.Context, name, digest string) error {
	if b.Store == nil || digest == "" || digest == emptyDigest {
		return nil
	}
	content, err := b.Store.Content(ctx, digest)
	if err != nil {
		return err
	}
	named, err := b.Store.Name(ctx, name)
	switch {
	case err != nil:
		return err
	case content.Foreign() && !named.Foreign():
		return b.Store.Keep(ctx, Entry{Name: name, Origins: content.Origins})
	case named.Foreign() && !content.Known:
		return b.Store.Keep(ctx, Entry{Digest: digest, Size: b.size(name), Origins: named.Origins})
	}
	return nil
}

// minContent is the shortest text recognized by its digest, in letters and digits: shorter ones may be equal by chance.
const minContent = 12

// tiny reports whether a text is too short to be recognized by its digest.
func tiny(data []byte) bool {
	if len(data) > 4*minContent || bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return false
	}
	_, weight := normalise(string(data))
	return weight < minContent
}

// Removed forgets a name whose file is gone, so that another file with this name is not judged by it.
func (b *Book) Removed(ctx context.Context, name string) error {
	if b.Store == nil || b.ReadOnly {
		return nil
	}
	return b.Store.Forget(ctx, name)
}

// Arrived records bytes that arrived from outside, by their digest, before they are processed.
func (b *Book) Arrived(ctx context.Context, digest string, size int64, origin string) error {
	if b.Store == nil || b.ReadOnly || digest == "" || digest == emptyDigest {
		return nil
	}
	return b.Store.Keep(ctx, Entry{Digest: digest, Size: size, Origins: []string{origin}})
}

// Imported records the files of a bundle: the digest and name of each, and the sentences of texts.
func (b *Book) Imported(ctx context.Context, dir, origin string) error {
	if b.Store == nil || b.ReadOnly {
		return nil
	}
	batches := make(chan []Entry)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { // stores some files while the next are read
		for entries := range batches {
			if err := b.Store.Keep(ctx, entries...); err != nil {
				return err
			}
		}
		return nil
	})
	group.Go(func() error {
		defer close(batches)
		return b.readBundle(ctx, dir, origin, batches)
	})
	if err := group.Wait(); err != nil {
		return fmt.Errorf("record the origin of %q: %w", dir, err)
	}
	return nil
}

// batchSize is how many files are recorded in one transaction.
const batchSize = 64

// readBundle sends what is recorded about the files of a bundle. What is gone meanwhile is left out.
func (b *Book) readBundle(ctx context.Context, dir, origin string, batches chan<- []Entry) error {
	var entries []Entry
	send := func() error {
		select {
		case batches <- entries:
			entries = nil
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := fs.WalkDir(b.FS, dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case !d.Type().IsRegular() || path.Base(name) == "manifest.json":
			return nil
		}
		data, digest, size, err := read(b.FS, name)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		e := Entry{Name: name, Digest: digest, Size: size, Pieces: Pieces(data), Origins: []string{origin}}
		if data != nil && tiny(data) {
			e.Digest = ""
		}
		if entries = append(entries, e); len(entries) < batchSize {
			return nil
		}
		return send()
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return send()
}

// Clear records that the user trusts the present content of a file: from now on its bytes, name and sentences are the
// owner's. In a folder of foreign files this covers exactly this content.
func (b *Book) Clear(ctx context.Context, name string) error {
	if b.Store == nil || b.ReadOnly {
		return errors.New("there is no record to change")
	}
	real, err := Real(b.FS, path.Clean(name))
	if err != nil {
		return err
	}
	data, digest, size, err := read(b.FS, real)
	if err != nil {
		return err
	}
	return b.Store.Keep(ctx, Entry{Name: real, Digest: digest, Size: size, Pieces: Pieces(data), Override: true})
}

// Describe returns a sentence about where a file comes from: "Notes/a.md comes from import 01J… (report.pdf)".
func (f Finding) Describe() string {
	switch {
	case !f.Foreign:
		return f.Name + " is your own"
	case len(f.Origins) == 0:
		return f.Name + " comes from outside (" + f.Why + ")"
	}
	return f.Name + " comes from " + strings.Join(f.Origins, ", ") + " (" + f.Why + ")"
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

var emptyDigest = sum(nil)
