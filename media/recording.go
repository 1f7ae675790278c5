package media

import (
	"context"
	"errors"
	"fmt"

	"github.com/vaultflow/vaultflow/content"
)

// LoadMedia implements llm.MediaLoader: a recording goes as it is.
func (m *loader) LoadMedia(ctx context.Context, medium content.Block) (data []byte, mediaType string, err error) {
	var recording content.Video // the same fields
	switch b := medium.(type) {
	case content.Audio:
		recording = content.Video(b)
	case content.Video:
		recording = b
	}
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
