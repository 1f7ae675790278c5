package content

import (
	"fmt"
	"strings"
	"time"
)

// Audio is a recording of sound. Seconds and Size (bytes) are zero when not known.
type Audio struct {
	Name      string  `json:"name"` // slash path inside the vault
	MediaType string  `json:"media_type,omitempty"`
	Seconds   float64 `json:"seconds,omitempty"`
	Size      int64   `json:"size,omitempty"`
	SHA256    string  `json:"sha256,omitempty"`
	Source    string  `json:"source,omitempty"`   // SourceVault (empty too) or SourceBlob
	Fallback  string  `json:"fallback,omitempty"` // what to say instead of it: what is spoken in it, say
}

// Type implements Block.
func (Audio) Type() Type { return TypeAudio }

// Text implements Block: Fallback, or a line such as "[audio: a.mp3, 2.3 MB, mp3]".
func (a Audio) Text() string {
	return a.describe(TypeAudio)
}

// Video is a recording of moving pictures.
type Video Audio

// Type implements Block.
func (Video) Type() Type { return TypeVideo }

// Text implements Block: Fallback, or a line such as "[video: v.mp4, 1:05, 12.0 MB, mp4]".
func (v Video) Text() string {
	return Audio(v).describe(TypeVideo)
}

// shortTypes are what people call media types whose second half is another word.
var shortTypes = map[string]string{"mpeg": "mp3", "quicktime": "mov"}

func (a Audio) describe(kind Type) string {
	if strings.TrimSpace(a.Fallback) != "" {
		return a.Fallback
	}
	facts := []string{line(a.Name)}
	if a.Seconds > 0 {
		facts = append(facts, clock(a.Seconds))
	}
	if a.Size > 0 {
		facts = append(facts, FormatSize(a.Size))
	}
	short := line(a.MediaType[strings.LastIndexByte(a.MediaType, '/')+1:])
	if known, ok := shortTypes[short]; ok && (kind == TypeAudio || short != "mpeg") {
		short = known
	}
	if short != "" {
		facts = append(facts, short)
	}
	return "[" + string(kind) + ": " + strings.Join(facts, ", ") + "]"
}

// clock prints a length: "0:09", "1:05", "1:02:05".
func clock(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second)).Round(time.Second)
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	if h > 0 {
		return fmt.Sprintf("%d:%02d:%02d", h, m, s)
	}
	return fmt.Sprintf("%d:%02d", m, s)
}
