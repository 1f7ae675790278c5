package pdftest

import (
	"crypto/md5"
	"crypto/rc4"
	"encoding/binary"
	"fmt"
)

// padding fills passwords up to 32 bytes; PDF 32000-1, 7.6.3.3.
const padding = "\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A"

// permissions allow everything.
const permissions = -4

const fileID = "vaultflowpdftest"

// cipher is the standard security handler, revision 2: RC4 with 40 bits. It proves nothing but that a file is encrypted.
type cipher struct{ key, owner, user []byte }

func newCipher(password string) *cipher {
	padded := []byte((password + padding)[:32])
	ownerKey := md5.Sum([]byte(("owner" + padding)[:32]))
	c := &cipher{owner: rc4Of(ownerKey[:5], padded)}
	h := md5.New()
	h.Write(padded)
	h.Write(c.owner)
	mode := int32(permissions)
	_ = binary.Write(h, binary.LittleEndian, mode) // a hash accepts everything
	h.Write([]byte(fileID))
	c.key = h.Sum(nil)[:5]
	c.user = rc4Of(c.key, []byte(padding))
	return c
}

// apply encrypts a string or stream of object n.
func (c *cipher) apply(n int, data []byte) []byte {
	sum := md5.Sum(append(append([]byte{}, c.key...), byte(n), byte(n>>8), byte(n>>16), 0, 0))
	return rc4Of(sum[:10], data)
}

func (c *cipher) dictionary() string {
	return fmt.Sprintf(" /ID [<%X> <%X>] /Encrypt << /Filter /Standard /V 1 /R 2 /O <%X> /U <%X> /P %d >>", fileID, fileID, c.owner, c.user, permissions)
}

func rc4Of(key, data []byte) []byte {
	stream, err := rc4.NewCipher(key)
	if err != nil {
		panic(err) // keys of 5 and 10 bytes are right
	}
	out := make([]byte, len(data))
	stream.XORKeyStream(out, data)
	return out
}
