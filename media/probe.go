package media

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/prompt"
)

// Probe reads headers of pictures in a vault where there is no worker; see Source.Probe.
func Probe(fsys fs.FS) func(name string) (prompt.Picture, error) { return Source{FS: fsys}.Probe }

// Probe reads a picture's header and digest, and whether the file is whole; it never decodes. A picture that only the worker decodes is
// an error where there is none, and so is a torn one: the prompt says then what a run would find. It is a prompt.Builder's Probe.
func (m Source) Probe(name string) (prompt.Picture, error) {
	f, err := m.FS.Open(name)
	if err != nil {
		return prompt.Picture{}, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return prompt.Picture{}, err
	}
	if stat.Size() > maxMediaFile {
		return prompt.Picture{}, errTooLarge
	}
	at, err := readerAt(f)
	if err != nil {
		return prompt.Picture{}, fmt.Errorf("read: %w", err)
	}
	info, err := imaging.Probe(at, stat.Size())
	if err != nil {
		return prompt.Picture{MediaType: info.MediaType, Size: stat.Size()}, err
	}
	check := func() error { return imaging.Whole(at, stat.Size(), info.MediaType) }
	digest, err := m.Digests.picture(name, stat, io.NewSectionReader(at, 0, math.MaxInt64), check)
	if err != nil {
		return prompt.Picture{MediaType: info.MediaType, Size: stat.Size()}, err
	}
	if !info.Decodable && (m.Worker == nil || m.Worker.Ready() != nil) {
		return prompt.Picture{MediaType: info.MediaType, Size: stat.Size()}, fmt.Errorf("%s: %w", info.MediaType, ErrNoWorker)
	}
	return prompt.Picture{
		MediaType: info.MediaType, Width: info.Width, Height: info.Height, Size: stat.Size(), SHA256: digest,
	}, nil
}

// errTooLarge is the error of files above maxMediaFile.
var errTooLarge = omission.Wrap(omission.TooLarge, fmt.Errorf("too large: more than %d MB", maxMediaFile>>20))

// readerAt returns random access to a file: through the file itself when it can, through memory when not.
func readerAt(f fs.File) (io.ReaderAt, error) {
	if at, ok := f.(io.ReaderAt); ok {
		return at, nil
	}
	all, err := io.ReadAll(io.LimitReader(f, maxMediaFile+1))
	if err != nil {
		return nil, err
	}
	if len(all) > maxMediaFile {
		return nil, errTooLarge
	}
	return bytes.NewReader(all), nil
}
