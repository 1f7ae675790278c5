package activity

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/imaging"
)

// maxMediaFile bounds what is read of one picture before it is made to fit: 512 MiB, the import limit.
const maxMediaFile = 512 << 20

// media gives a picture's bytes at the moment when the request is written: read, checked against the digest that the
// prompt was built with, turned upright, scaled and encoded. One picture at a time is in memory.
type media struct {
	fs     fs.FS
	limits imaging.Limits
}

// errChanged says that a picture is not the one that the prompt was built with; its fallback text is sent.
var errChanged = errors.New("changed since the prompt was built")

// Load implements llm.Loader.
func (m *media) Load(ctx context.Context, image content.Image) ([]byte, string, error) {
	if image.Source != "" && image.Source != content.SourceVault {
		return nil, "", fmt.Errorf("load %s: source %q is not available", image.Name, image.Source)
	}
	f, err := m.fs.Open(image.Name)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxMediaFile+1))
	if err != nil {
		return nil, "", fmt.Errorf("load %s: %w", image.Name, err)
	}
	if sum := sha256.Sum256(data); image.SHA256 != "" && hex.EncodeToString(sum[:]) != image.SHA256 {
		return nil, "", fmt.Errorf("load %s: %w", image.Name, errChanged)
	}
	encoded, err := imaging.Normalise(ctx, bytes.NewReader(data), int64(len(data)), m.limits)
	if err != nil {
		return nil, "", fmt.Errorf("load %s: %w", image.Name, err)
	}
	return encoded.Data, encoded.MediaType, nil
}
