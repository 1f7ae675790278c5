package media

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/imaging"
)

func TestMedia_loadsRecordings(t *testing.T) {
	t.Parallel()
	blobs := memoryBlobs{}
	digest, err := blobs.Put(t.Context(), []byte("RIFF....WAVE"))
	if err != nil {
		t.Fatal(err)
	}
	load := Source{FS: fstest.MapFS{"a.wav": {Data: blobs[digest]}}, Blobs: blobs}.Loader(imaging.Limits{})
	for _, c := range []struct {
		medium content.Block
		want   string // of the error
	}{
		{content.Audio{Name: "a.wav", SHA256: digest}, ""},
		{content.Video{Name: "a.wav"}, ""},
		{content.Audio{Name: "fetched", Source: content.SourceBlob, SHA256: digest}, ""},
		{content.Audio{Name: "a.wav", SHA256: strings.Repeat("0", 64)}, ErrChanged.Error()},
		{content.Video{Name: "gone.mp4"}, "load gone.mp4"},
		{content.Audio{Name: "https://a.example/b.mp3", Source: content.SourceRemote}, "not available"},
	} {
		data, _, err := load.Load(t.Context(), c.medium)
		if c.want == "" && (err != nil || string(data) != "RIFF....WAVE") || c.want != "" && (data != nil || err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %q, %v, want %q", c.medium, data, err, c.want)
		}
	}
	if _, _, err := (&loader{}).Load(t.Context(), content.Audio{Source: content.SourceBlob}); err == nil || errors.Is(err, ErrChanged) {
		t.Errorf("without blobs: %v", err)
	}
}
