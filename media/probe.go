package media

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/prompt"
)

// Probe reads headers of pictures in a vault where there is no worker; see Source.Probe.
func Probe(fsys fs.FS) func(name string) (prompt.Picture, error) { return Source{FS: fsys}.Probe }

// Probe reads a picture's header and digest; it never decodes. A picture that only the worker decodes is an error where
// there is none. It is a prompt.Builder's Probe.
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
		return prompt.Picture{}, fmt.Errorf("too large: more than %d MB", maxMediaFile>>20)
	}
	sum := sha256.New()
	at, err := readerAt(f, sum)
	if err != nil {
		return prompt.Picture{}, fmt.Errorf("read: %w", err)
	}
	info, err := imaging.Probe(at, stat.Size())
	if err == nil && !info.Decodable && (m.Worker == nil || m.Worker.Ready() != nil) {
		err = fmt.Errorf("%s: %w", info.MediaType, ErrNoWorker)
	}
	if err != nil {
		return prompt.Picture{MediaType: info.MediaType, Size: stat.Size()}, err
	}
	return prompt.Picture{
		MediaType: info.MediaType, Width: info.Width, Height: info.Height, Size: stat.Size(), SHA256: hex.EncodeToString(sum.Sum(nil)),
	}, nil
}

// readerAt hashes a file and returns random access to it: through the file itself when it can, through memory when not.
func readerAt(f fs.File, sum io.Writer) (io.ReaderAt, error) {
	if at, ok := f.(io.ReaderAt); ok {
		_, err := io.Copy(sum, f)
		return at, err
	}
	var all bytes.Buffer
	if _, err := io.Copy(io.MultiWriter(&all, sum), io.LimitReader(f, maxMediaFile+1)); err != nil {
		return nil, err
	}
	if all.Len() > maxMediaFile {
		return nil, errors.New("too large")
	}
	return bytes.NewReader(all.Bytes()), nil
}
