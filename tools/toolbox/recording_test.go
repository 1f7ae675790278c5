package toolbox

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
)

// TestReadFile_recordings: a model that hears gets a recording, behind its name; any other, and one too large, gets a word.
func TestReadFile_recordings(t *testing.T) {
	t.Parallel()
	wav := "RIFF\x24\x00\x00\x00WAVEfmt " + strings.Repeat("x", 100)
	files := map[string]string{
		"talk.wav": wav, "talk.ogg": "OggS\x00\x02\x00\x00" + strings.Repeat("x", 100), "film.mp4": "\x00\x00\x00\x18ftypisom" + strings.Repeat("x", 100),
		"Imported/a/original.wav": wav, "long.wav": wav + strings.Repeat("x", maxRecording), "short.bin": "\x00\x01",
	}
	for _, c := range []struct {
		name string
		caps []string
		want string // of the error; empty: it is given
	}{
		{"talk.wav", []string{"tools", "audio_input"}, ""},
		{"Imported/a/original.wav", []string{"tools", "audio_input"}, ""},
		{"talk.wav", []string{"tools", "vision"}, "cannot be shown"},
		{"talk.ogg", []string{"tools", "audio_input"}, "cannot be shown"}, // a format that does not go to this service
		{"film.mp4", []string{"tools", "audio_input", "video_input"}, "cannot be shown"},
		{"long.wav", []string{"tools", "audio_input"}, "the most that fits into one request"},
		{"short.bin", []string{"tools", "audio_input"}, "cannot be shown"},
	} {
		d := newDesk(t, files, "read_file")
		caps, err := policy.ExactOverride(c.caps)
		if err != nil {
			t.Fatal(err)
		}
		m := d.models["seer"]
		m.Capabilities = policy.Lookup(m.Kind, m.ID, caps, nil)
		d.models["seer"] = m
		out, results := d.use(tool("read_file", in{"path": c.name}))
		r := results[0]
		if c.want != "" {
			if r.Success || !strings.Contains(r.Error, c.want) {
				t.Errorf("%s, %v: %+v, want %q", c.name, c.caps, r, c.want)
			}
			continue
		}
		recording, ok := r.Blocks[len(r.Blocks)-1].(content.Audio)
		if !r.Success || !ok || recording.Name != c.name || recording.MediaType != "audio/wav" || recording.SHA256 != sha([]byte(wav)) || recording.Size != int64(len(wav)) {
			t.Errorf("%s: %+v", c.name, r)
		}
		outside := strings.HasPrefix(c.name, "Imported/")
		if text := r.Blocks[0].Text(); !strings.HasPrefix(text, "[audio: "+c.name+"]") || strings.Contains(text, "from outside") != outside || len(out.Origins) > 0 != outside {
			t.Errorf("%s: %q, origins %v", c.name, text, out.Origins)
		}
		if out.Media != 1 {
			t.Errorf("%s counts as %d media", c.name, out.Media)
		}
	}
}
