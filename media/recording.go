package media

import (
	"context"
	"errors"
	"fmt"

	"github.com/vaultflow/vaultflow/content"
)

// recording loads audio or video, which is sent unchanged.
func (m *loader) recording(ctx context.Context, recording content.Audio) (data []byte, mediaType string, err error) {
	switch recording.Source {
	case "", content.SourceVault:
		if data, err = readAll(m.FS, recording.Name); err == nil && !hasDigest(data, recording.SHA256) {
			err = ErrChanged
		}
	case content.SourceBlob:
		if m.Blobs == nil {
			return nil, "", errors.New("there is no place for fetched files")
		}
		data, err = m.Blobs.Get(ctx, recording.SHA256)
	default:
		err = fmt.Errorf("source %q is not available", recording.Source)
	}
	if err != nil {
		return nil, "", fmt.Errorf("load %s: %w", recording.Name, err)
	}
	return data, recording.MediaType, nil
}
