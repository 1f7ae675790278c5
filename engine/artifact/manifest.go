package artifact

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// Artifact is one kept file, and a line of the manifest.
type Artifact struct {
	Ref       string    `json:"artifact_ref"`
	Path      string    `json:"path"` // below the store's folder
	MediaType string    `json:"media_type"`
	SizeBytes int64     `json:"size_bytes"`
	SHA256    string    `json:"sha256"`
	SourceURL string    `json:"source_url,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	Scope     string    `json:"scope"` // what its retention is counted over, such as a workflow
	Runs      []string  `json:"runs,omitempty"`
}

// Line is the artifact in a prompt, on one line. The address is quoted: it is somebody else's text.
func (a Artifact) Line() string {
	from := ""
	if a.SourceURL != "" {
		from = fmt.Sprintf(", from %.500q", a.SourceURL)
	}
	return fmt.Sprintf("[artifact %s: %s, %d bytes%s]", a.Ref, a.MediaType, a.SizeBytes, from)
}

// entry is a line: an artifact that came, or that one is gone.
type entry struct {
	Artifact
	RemovedAt *time.Time `json:"removed_at,omitempty"`
}

// maxLine is the most bytes of a line.
const maxLine = 64 << 10

// replay reads the manifest: what its lines leave, how many of them were of no use, and whether the last one was torn.
func replay(r io.Reader) (kept map[string]Artifact, broken int, torn bool, err error) {
	kept = map[string]Artifact{}
	in := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			if len(line) > 0 {
				broken, torn = broken+1, true
			}
			return kept, broken, torn, nil
		case errors.Is(err, bufio.ErrBufferFull):
			broken++
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
			if errors.Is(err, io.EOF) {
				return kept, broken, true, nil
			}
			continue
		case err != nil:
			return nil, 0, false, fmt.Errorf("read the manifest of artifacts: %w", err)
		}
		var e entry
		if json.Unmarshal(bytes.TrimSpace(line), &e) != nil || !validRef(e.Ref) || e.RemovedAt == nil && e.Path != fileName(e.Ref) {
			broken++
			continue
		}
		if e.RemovedAt != nil {
			delete(kept, e.Ref)
			continue
		}
		kept[e.Ref] = e.Artifact
	}
}

// record appends a line and waits until it is on the disk. After an error the tail of the file may be torn; the next line
// then begins with a line break.
func (s *Store) record(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write the manifest of artifacts: %w", err)
	}
	if len(line) >= maxLine {
		return fmt.Errorf("write the manifest of artifacts: a line of %d bytes", len(line))
	}
	if s.torn {
		line = append([]byte("\n"), line...)
	}
	s.torn = true
	if _, err := s.lines.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write the manifest of artifacts: %w", err)
	}
	s.torn = false
	if err := s.lines.Sync(); err != nil {
		return fmt.Errorf("write the manifest of artifacts: %w", err)
	}
	return nil
}

// oldestFirst lists artifacts by their time, and by their ref where that is the same.
func oldestFirst(all []Artifact) {
	slices.SortFunc(all, func(a, b Artifact) int {
		if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
			return c
		}
		return bytes.Compare([]byte(a.Ref), []byte(b.Ref))
	})
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
