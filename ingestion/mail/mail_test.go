package mail

import (
	"fmt"
	"testing"
)

func TestRead_isBounded(t *testing.T) {
	t.Parallel()
	deep := "Subject: deep\n"
	for i := range 40 {
		deep += fmt.Sprintf("Content-Type: multipart/mixed; boundary=level%d.\n\n--level%d.\n", i, i)
	}
	if _, _, err := Read([]byte(deep)); err == nil {
		t.Error("a message of 40 levels was taken")
	}
	if _, _, err := Read([]byte("no header at all")); err == nil {
		t.Error("text without a header was taken")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("From: a\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Transfer-Encoding: base64\n\nAA==\n--x--"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, parts, err := Read(data)
		if err != nil {
			return
		}
		for _, p := range parts {
			_ = p.Text()
		}
		if len(parts) > maxParts {
			t.Errorf("%d parts", len(parts))
		}
	})
}
