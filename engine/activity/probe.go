package activity

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

// Probe reads a picture's header and digest from a vault; it never decodes. It is a prompt.Builder's Probe.
func Probe(fsys fs.FS) func(name string) (prompt.Picture, error) {
	return func(name string) (prompt.Picture, error) {
		f, err := fsys.Open(name)
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
		if err != nil {
			return prompt.Picture{MediaType: info.MediaType, Size: stat.Size()}, err
		}
		return prompt.Picture{
			MediaType: info.MediaType, Width: info.Width, Height: info.Height, Size: stat.Size(), SHA256: hex.EncodeToString(sum.Sum(nil)),
		}, nil
	}
}

// readerAt hashes a file and gives random access to it: through the file itself when it can, through memory when not.
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
