package media

import (
	"context"
	"errors"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/llm"
)

// errMetadata is a picture that would say more than its pixels.
var errMetadata = errors.New("its metadata cannot be removed")

// bare removes a picture's metadata: where it was taken, with what, by whom. Its pixels stay as they are encoded. A picture whose
// metadata cannot be found is decoded and encoded again, or is not sent.
func (m *loader) bare(ctx context.Context, made imaging.Encoded) (imaging.Encoded, error) {
	data, ok := imaging.WithoutMetadata(made.MediaType, made.Data)
	if !ok {
		anew, err := m.converted(ctx, made.Data)
		if err != nil {
			return imaging.Encoded{}, err
		}
		if data, ok = imaging.WithoutMetadata(anew.MediaType, anew.Data); !ok {
			return imaging.Encoded{}, errMetadata
		}
		made = anew
	}
	made.Data = data
	return made, nil
}

// Memory loads one medium that is in memory, for requests that are about it alone: a picture without its metadata, or a recording.
type Memory struct {
	Data      []byte
	MediaType string
}

var _ llm.Loader = Memory{}

// Load implements llm.Loader.
func (m Memory) Load(_ context.Context, medium content.Block) (data []byte, mediaType string, err error) {
	if medium.Type() == content.TypeAudio {
		return m.Data, m.MediaType, nil
	}
	data, ok := imaging.WithoutMetadata(m.MediaType, m.Data)
	if !ok {
		return nil, "", errMetadata
	}
	return data, m.MediaType, nil
}

// Fit implements llm.Loader: the medium is sent at its own size.
func (m Memory) Fit(llm.PictureLimits) (llm.Loader, error) { return nil, errors.ErrUnsupported }
