package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"
	"unicode/utf8"
)

// Limits bound what one scope keeps. Zero fields mean the defaults.
type Limits struct {
	MaxAge   time.Duration // 14 days
	MaxFiles int           // 96
	MaxBytes int64         // 256 MiB; also the most of one artifact
}

func (l Limits) withDefaults() Limits {
	if l.MaxAge <= 0 {
		l.MaxAge = 14 * 24 * time.Hour
	}
	if l.MaxFiles <= 0 {
		l.MaxFiles = 96
	}
	if l.MaxBytes <= 0 {
		l.MaxBytes = 256 << 20
	}
	return l
}

// ErrNone is matched when there is no such artifact, or no more.
var ErrNone = errors.New("there is no such artifact")

// ErrTooLarge is matched when a content has more bytes than a scope may keep.
var ErrTooLarge = errors.New("the content is too large for an artifact")

// Store is a folder of artifacts. It may be used by many goroutines of one process: the one that holds the state directory.
type Store struct {
	dir    string
	limits Limits
	live   func(run string) bool
	now    func() time.Time

	mu    sync.Mutex // guards what follows
	lines *os.File
	kept  map[string]Artifact
	torn  bool // the manifest does not end with a line break
}

// Open opens the store in a folder, which it creates, and removes files that no line of the manifest names. live reports
// whether a run may still continue; what such a run refers to is never removed. broken counts unreadable lines.
func Open(dir string, limits Limits, live func(run string) bool, now func() time.Time) (s *Store, broken int, err error) {
	s = &Store{dir: dir, limits: limits.withDefaults(), live: live, now: now}
	if err := os.MkdirAll(filepath.Join(dir, files), 0o700); err != nil {
		return nil, 0, fmt.Errorf("make the folder of artifacts: %w", err)
	}
	s.lines, err = os.OpenFile(filepath.Join(dir, "manifest.jsonl"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("open the manifest of artifacts: %w", err)
	}
	s.kept, broken, s.torn, err = replay(s.lines)
	if err == nil {
		err = s.settle()
	}
	if err != nil {
		return nil, 0, errors.Join(err, s.lines.Close())
	}
	return s, broken, nil
}

// settle makes files and lines agree again after a crash.
func (s *Store) settle() error {
	entries, err := os.ReadDir(filepath.Join(s.dir, files))
	if err != nil {
		return fmt.Errorf("list artifacts: %w", err)
	}
	there := map[string]bool{}
	for _, e := range entries {
		info, err := e.Info()
		a, named := s.kept[e.Name()]
		if err == nil && named && info.Mode().IsRegular() && info.Size() == a.SizeBytes {
			there[e.Name()] = true
			continue
		}
		if err := os.RemoveAll(filepath.Join(s.dir, files, e.Name())); err != nil {
			return fmt.Errorf("remove what is left of an artifact: %w", err)
		}
	}
	maps.DeleteFunc(s.kept, func(ref string, _ Artifact) bool { return !there[ref] })
	return nil
}

// Close closes the manifest. No other method may be called afterwards.
func (s *Store) Close() error { return s.lines.Close() }

// Source describes a content and the run that it is kept for.
type Source struct {
	Scope, Run, MediaType, URL string
}

// ErrFull is returned when runs that may still continue refer to all that a scope may keep, so nothing can be removed.
var ErrFull = errors.New("the run has kept as much as it may")

// Put keeps a content. The same content from the same address in the same scope is the same artifact, of now; the runs
// that put it all refer to it. Afterwards the scope is brought within its limits.
func (s *Store) Put(ctx context.Context, r io.Reader, from Source) (Artifact, error) {
	temp, err := os.CreateTemp(filepath.Join(s.dir, files), ".new-*")
	if err != nil {
		return Artifact{}, fmt.Errorf("keep an artifact: %w", err)
	}
	defer os.Remove(temp.Name()) // renamed, or of no use
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(temp, sum), io.LimitReader(r, s.limits.MaxBytes+1))
	if err = errors.Join(err, ctx.Err()); err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return Artifact{}, fmt.Errorf("keep an artifact: %w", err)
	}
	if size > s.limits.MaxBytes {
		return Artifact{}, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, s.limits.MaxBytes)
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	ref := refOf(from.Scope, from.URL, digest)
	a := Artifact{
		Ref: ref, Path: fileName(ref), MediaType: from.MediaType, SizeBytes: size, SHA256: digest, SourceURL: from.URL,
		CreatedAt: s.now().UTC(), Scope: from.Scope,
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a.Runs = slices.Clone(s.kept[ref].Runs)
	if from.Run != "" && !slices.Contains(a.Runs, from.Run) {
		a.Runs = append(slices.DeleteFunc(a.Runs, func(run string) bool { return !s.live(run) }), from.Run)
	}
	if err := s.room(a, from.Run); err != nil {
		return Artifact{}, err
	}
	if err := os.Rename(temp.Name(), filepath.Join(s.dir, a.Path)); err != nil {
		return Artifact{}, fmt.Errorf("keep an artifact: %w", err)
	}
	if err := syncDir(filepath.Join(s.dir, files)); err != nil {
		return Artifact{}, fmt.Errorf("keep an artifact: %w", err)
	}
	if err := s.record(entry{Artifact: a}); err != nil {
		return Artifact{}, err
	}
	s.kept[ref] = a
	_, err = s.sweep(ref)
	return a, err
}

// room reports whether a run may keep one more artifact. The caller holds mu.
func (s *Store) room(a Artifact, run string) error {
	if run == "" || !s.live(run) {
		return nil
	}
	count, bytes := 1, a.SizeBytes
	for _, other := range s.kept {
		if other.Ref != a.Ref && slices.Contains(other.Runs, run) {
			count, bytes = count+1, bytes+other.SizeBytes
		}
	}
	if count > s.limits.MaxFiles || bytes > s.limits.MaxBytes {
		return fmt.Errorf("%w: %d artifacts of %d bytes together", ErrFull, s.limits.MaxFiles, s.limits.MaxBytes)
	}
	return nil
}

// Get returns an artifact; ErrNone is matched when there is none.
func (s *Store) Get(ref string) (Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.kept[ref]
	if !ok {
		return Artifact{}, fmt.Errorf("%w: %.40q", ErrNone, ref)
	}
	return a, nil
}

// Of lists what a run refers to, the oldest first.
func (s *Store) Of(run string) []Artifact {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Artifact
	for _, a := range s.kept {
		if slices.Contains(a.Runs, run) {
			all = append(all, a)
		}
	}
	oldestFirst(all)
	return all
}

// Open opens an artifact's content. It stays readable when the artifact is removed meanwhile.
func (s *Store) Open(ref string) (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.kept[ref]
	if !ok {
		return nil, fmt.Errorf("%w: %.40q", ErrNone, ref)
	}
	return os.Open(filepath.Join(s.dir, a.Path))
}

// ExcerptLength is the most characters of an excerpt.
const ExcerptLength = 3200

// Excerpt returns an artifact's first characters; none when the bytes there are no text.
func (s *Store) Excerpt(ref string) (string, error) {
	f, err := s.Open(ref)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, ExcerptLength*utf8.UTFMax)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", fmt.Errorf("read %s: %w", ref, err)
	}
	end := 0
	for count := 0; end < n && count < ExcerptLength; count++ {
		r, size := utf8.DecodeRune(head[end:n])
		if r == 0 || r == utf8.RuneError && size == 1 {
			return "", nil
		}
		end += size
	}
	return string(head[:end]), nil
}

// files is the folder of the contents.
const files = "files"

func fileName(ref string) string { return files + "/" + ref }

var refForm = regexp.MustCompile(`^art_[0-9a-f]{24}$`)

func validRef(ref string) bool { return refForm.MatchString(ref) }

func refOf(scope, url, digest string) string {
	sum := sha256.Sum256([]byte(scope + "\x00" + url + "\x00" + digest))
	return "art_" + hex.EncodeToString(sum[:12])
}

// Sweep removes what is beyond the limits: what is too old, and of each scope the oldest until it has few enough files and
// bytes. What a live run refers to stays, and counts.
func (s *Store) Sweep() (removed int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sweep("")
}

// sweep is Sweep that also keeps one artifact. The caller holds mu.
func (s *Store) sweep(keep string) (removed int, err error) {
	scopes := map[string][]Artifact{}
	for _, a := range s.kept {
		scopes[a.Scope] = append(scopes[a.Scope], a)
	}
	oldest := s.now().Add(-s.limits.MaxAge)
	for _, all := range scopes {
		oldestFirst(all)
		count, bytes := len(all), int64(0)
		for _, a := range all {
			bytes += a.SizeBytes
		}
		for _, a := range all {
			if !a.CreatedAt.Before(oldest) && count <= s.limits.MaxFiles && bytes <= s.limits.MaxBytes {
				break
			}
			if a.Ref == keep || slices.ContainsFunc(a.Runs, s.live) {
				continue
			}
			if err := s.remove(a, s.now()); err != nil {
				return removed, err
			}
			removed, count, bytes = removed+1, count-1, bytes-a.SizeBytes
		}
	}
	return removed, nil
}

func (s *Store) remove(a Artifact, at time.Time) error {
	at = at.UTC()
	if err := s.record(entry{Artifact: Artifact{Ref: a.Ref, Scope: a.Scope, CreatedAt: a.CreatedAt}, RemovedAt: &at}); err != nil {
		return err
	}
	delete(s.kept, a.Ref)
	if err := os.Remove(filepath.Join(s.dir, a.Path)); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("remove an artifact: %w", err)
	}
	return nil
}
