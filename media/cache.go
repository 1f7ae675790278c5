package media

import (
	"container/list"
	"encoding/json"
	"sync"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/imaging"
)

// Cache remembers pictures that were made to be sent, by their content and limits: a conversation with tools sends the same ones
// with every turn. The least used go first. It is safe for concurrent use; nil remembers nothing.
type Cache struct {
	most int64 // bytes

	mu    sync.Mutex
	bytes int64                    // guarded by mu
	order *list.List               // of *keptPicture, the last used first; guarded by mu
	by    map[string]*list.Element // guarded by mu
}

type keptPicture struct {
	key, mediaType string
	data           []byte
}

// NewCache remembers pictures of at most so many bytes together.
func NewCache(most int64) *Cache {
	return &Cache{most: most, order: list.New(), by: map[string]*list.Element{}}
}

// keyOf is the same for requests that lead to the same bytes; empty when that is not known. Pictures from outside are made in
// another way.
func keyOf(image content.Image, l imaging.Limits, outside bool) string {
	if image.SHA256 == "" {
		return ""
	}
	key, err := json.Marshal([]any{image.Source, image.SHA256, image.Page, image.Rect, l, outside})
	if err != nil {
		return ""
	}
	return string(key)
}

func (k *Cache) get(key string) (data []byte, mediaType string, ok bool) {
	if k == nil || key == "" {
		return nil, "", false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.by[key]
	if !ok {
		return nil, "", false
	}
	k.order.MoveToFront(e)
	p := e.Value.(*keptPicture) //nolint:forcetypeassert // nothing else is put in
	return p.data, p.mediaType, true
}

func (k *Cache) put(key string, data []byte, mediaType string) {
	if k == nil || key == "" || int64(len(data)) > k.most/4 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, there := k.by[key]; there {
		return
	}
	k.by[key] = k.order.PushFront(&keptPicture{key, mediaType, data})
	for k.bytes += int64(len(data)); k.bytes > k.most; {
		last := k.order.Remove(k.order.Back()).(*keptPicture) //nolint:forcetypeassert // likewise
		delete(k.by, last.key)
		k.bytes -= int64(len(last.data))
	}
}
