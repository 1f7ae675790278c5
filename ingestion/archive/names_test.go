package archive

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"testing"
)

// Names that a ZIP file does not declare as UTF-8 are read in the encoding of the system that wrote them, and no two become one.
func TestWalk_namesOfOldZIPs(t *testing.T) {
	t.Parallel()
	const gbk = "\xba\xcf\xcd\xac.pdf" // 合同
	extra := binary.LittleEndian.AppendUint16(nil, unicodePath)
	extra = binary.LittleEndian.AppendUint16(extra, uint16(5+len("день.txt")))
	extra = append(binary.LittleEndian.AppendUint32(append(extra, 1), crc32.ChecksumIEEE([]byte("????.txt"))), "день.txt"...)
	for name, c := range map[string]struct {
		files []zip.FileHeader
		want  []string
	}{
		"GBK":       {[]zip.FileHeader{{Name: gbk}, {Name: "plain.txt"}}, []string{"合同.pdf", "plain.txt"}},
		"CP437":     {[]zip.FileHeader{{Name: "\x9abung.txt"}, {Name: "\x8erger.txt"}}, []string{"Übung.txt", "Ärger.txt"}},
		"CP866":     {[]zip.FileHeader{{Name: "\xa4\xa5\xad\xec.txt"}, {Name: "\xad\xae\xe7\xec.txt"}}, []string{"день.txt", "ночь.txt"}},
		"Shift-JIS": {[]zip.FileHeader{{Name: "\x95\x5c\x8e\xa6/\x83\x5c.txt"}}, []string{"表示/ソ.txt"}}, // with bytes of a backslash
		"its own":   {[]zip.FileHeader{{Name: "????.txt", Extra: extra}}, []string{"день.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			z := zip.NewWriter(&b)
			for _, h := range c.files {
				h.NonUTF8 = true
				if _, err := z.CreateHeader(&h); err != nil {
					t.Fatal(err)
				}
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			var got []string
			err := Walk(bytes.NewReader(b.Bytes()), int64(b.Len()), "application/zip", "a.zip", func(m Member, _ io.Reader) error {
				got = append(got, m.Name)
				return nil
			})
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}
