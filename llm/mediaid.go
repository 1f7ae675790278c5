package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/vaultflow/vaultflow/content"
)

// shortID is the least number of hex digits in a name.
const shortID = 6

// MediaID returns a neutral name for a medium: the first hex digits of its content's digest. Services get it instead of the
// file's name, which could be worded like an instruction.
func MediaID(b content.Block) string { return mediaKey(b)[:shortID] }

// mediaKey returns a digest in hex that identifies the content. Two pages of one document are two contents.
func mediaKey(b content.Block) string {
	digest := ""
	switch m := b.(type) {
	case content.Image:
		if m.Page == 0 && m.Rect == nil {
			digest = m.SHA256
		}
	case content.Document:
		if m.PageRange == "" {
			digest = m.SHA256
		}
	case content.Audio:
		digest = m.SHA256
	case content.Video:
		digest = m.SHA256
	}
	if raw, err := hex.DecodeString(digest); err == nil && len(raw) == sha256.Size {
		return strings.ToLower(digest)
	}
	data, err := json.Marshal(b)
	if err != nil { // cannot happen: media are plain values
		data = []byte(b.Text())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// fileIDs names the files beside or after the tool results of a request. The zero value is ready to use. Use one for a whole
// request, so that no two contents share a name.
type fileIDs struct {
	keys map[string]string // by id
}

// id returns the shortest prefix of the content's digest that no other content has.
func (f *fileIDs) id(b content.Block) string {
	if f.keys == nil {
		f.keys = map[string]string{}
	}
	key := mediaKey(b)
	id := key
	for n := shortID; n <= len(key); n++ {
		if owner, taken := f.keys[key[:n]]; !taken || owner == key {
			id = key[:n]
			break
		}
	}
	f.keys[id] = key
	return id
}
