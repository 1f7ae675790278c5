package fonts_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/fonts"
)

// font makes a file with one table that claims these code pages, starting at an offset of the file.
func font(at uint32, length uint32, bits ...int) []byte {
	var pages uint32
	for _, b := range bits {
		pages |= 1 << b
	}
	data := binary.BigEndian.AppendUint16([]byte{0, 1, 0, 0}, 2)
	data = append(data, make([]byte, 6)...)
	data = append(append(data, "name"...), make([]byte, 12)...)
	data = append(append(data, "OS/2"...), make([]byte, 4)...)
	data = binary.BigEndian.AppendUint32(data, at+44)
	data = binary.BigEndian.AppendUint32(data, length)
	data = append(data, make([]byte, 78)...)
	data = binary.BigEndian.AppendUint32(data, pages)
	return append(data, make([]byte, 16)...)
}

func collection(bits ...int) []byte {
	head := append([]byte("ttcf\x00\x01\x00\x00"), 0, 0, 0, 2)
	head = binary.BigEndian.AppendUint32(head, 20)
	first := font(20, 96, bits[:1]...)
	head = binary.BigEndian.AppendUint32(head, uint32(20+len(first)))
	return append(append(head, first...), font(uint32(20+len(first)), 96, bits[1:]...)...)
}

func TestMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string][]byte
		want  []string
	}{
		"no folder":           {nil, fonts.Languages()},
		"Latin alone":         {map[string][]byte{"a.ttf": font(0, 96, 0, 1)}, fonts.Languages()},
		"one for all":         {map[string][]byte{"deep/er/a.TTF": font(0, 96, 17, 18, 20, 21)}, nil},
		"Johab is Korean":     {map[string][]byte{"a.otf": font(0, 96, 17, 18, 19, 20)}, nil},
		"a collection":        {map[string][]byte{"a.ttc": collection(17, 18, 19)}, []string{"traditional Chinese"}},
		"several files":       {map[string][]byte{"a.ttf": font(0, 96, 20), "b.ttf": font(0, 96, 17)}, []string{"simplified Chinese", "Korean"}},
		"a name PDFium skips": {map[string][]byte{"a.pfb": font(0, 96, 17, 18, 20, 21)}, fonts.Languages()},
		"an old table":        {map[string][]byte{"a.ttf": font(0, 78, 17, 18, 20, 21)}, fonts.Languages()},
		"torn files":          {map[string][]byte{"a.ttf": font(0, 96, 17)[:30], "b.ttf": nil, "c.ttc": []byte("ttcf\x00\x01\x00\x00\xff\xff\xff\xff")}, fonts.Languages()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, data := range c.files {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := fonts.Missing([]string{filepath.Join(dir, "none"), dir}); !slices.Equal(got, c.want) {
				t.Errorf("missing %q, want %q", got, c.want)
			}
		})
	}
}
