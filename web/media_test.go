package web

import (
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
)

func TestMedia_servesPicturesByTheirBytes(t *testing.T) {
	t.Parallel()
	png := page(1, 40, 40)
	html := []byte("<html><script>alert(1)</script></html>")
	fsys := fstest.MapFS{
		"a b/ø#?.png":       {Data: png},
		"really png.md":     {Data: png},
		"really html.png":   {Data: html},
		"drawing.svg":       {Data: []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`)},
		"polyglot.gif":      {Data: append([]byte("GIF89a/*"), html...)},
		"secret.md":         {Data: []byte("text")},
		"empty.png":         {},
		".obsidian/app.png": {Data: png},
		"x/.hidden.png":     {Data: png},
	}
	w := &world{}
	s := w.server(t, fsys, nil)
	for path, want := range map[string]int{
		mediaURL("a b/ø#?.png"): 200, "/media/really%20png.md": 200, "/media/polyglot.gif": 200,
		"/media/really%20html.png": 415, "/media/drawing.svg": 415, "/media/secret.md": 415, "/media/empty.png": 415,
		"/media/.obsidian/app.png": 404, "/media/x/.hidden.png": 404, "/media/none.png": 404, "/media/a%20b": 404, "/media/": 404,
		"/media/%2e%2e/secret.md": 404, "/media/x%2f..%2fsecret.md": 404, "/media/%2fetc%2fpasswd": 404,
	} {
		got := get(t, s, path)
		if got.Code != want && (want != 404 || got.Code/100 != 3) {
			t.Errorf("%s: %d, want %d", path, got.Code, want)
		}
		if got.Code != http.StatusOK {
			continue
		}
		h := got.Header()
		if !strings.HasPrefix(h.Get("Content-Type"), "image/") || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Security-Policy") != "default-src 'none'; sandbox" {
			t.Errorf("%s: headers %v", path, h)
		}
	}
}

func TestPictures_neverLeaveTheBundle(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{
		"B/manifest.json": {Data: []byte(`{"pages":[{"n":1,"image":{"path":"../../secret.png","width":-5}},{"n":2,"image":{"path":"/etc/x.png"}},{"n":3,"image":{"path":"javascript:alert(1)"}},{"n":4,"error":"broken"},{"n":5,"label":"iv"}]}`)},
		"C/manifest.json": {Data: []byte(`{"pages":[`)},
	}
	b := &bundles{fsys: fsys}
	list, total := b.pictures("B", 100)
	if total != 5 || list[0].URL != "" || list[1].URL != "" || !strings.HasPrefix(list[2].URL, "/media/B/") || list[3].Error != "broken" || list[4].Label != "Page 5 (iv)" {
		t.Errorf("pictures %+v", list)
	}
	for _, bundle := range []string{"", "C", "none", "../B", ".hidden"} {
		if list, total := b.pictures(bundle, 10); len(list) != 0 || total != 0 {
			t.Errorf("bundle %q: %v", bundle, list)
		}
	}
}
