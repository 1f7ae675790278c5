package mail

import (
	"strings"
	"testing"
)

// TestCutOff cuts a message at each place: only what lacks nothing but its last line break is whole.
func TestCutOff(t *testing.T) {
	t.Parallel()
	for name, message := range map[string]string{
		"plain": strings.ReplaceAll(`Subject: x
Content-Type: multipart/mixed; boundary=M

--M
Content-Type: text/plain

See below, all of you.
--M
Content-Type: image/png; name=dot.png
Content-Transfer-Encoding: base64

iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ
--M--
`, "\n", "\r\n"),
		// The inner part has no closing boundary; that of the outer one ends it.
		"inner": `Subject: x
Content-Type: multipart/mixed; boundary=M

--M
Content-Type: multipart/alternative; boundary=N

--N
Content-Type: text/plain

See below, all of you.

--M--`,
	} {
		_, parts, err := Read([]byte(message))
		if why := CutOff(parts); err != nil || why != "" {
			t.Errorf("%s: the whole message: %v, %s", name, err, why)
		}
		end := strings.Index(message, "all of")
		for n := end; n < strings.LastIndex(message, "--M--"); n++ {
			_, parts, err := Read([]byte(message[:n]))
			if why := CutOff(parts); err != nil || why == "" {
				t.Fatalf("%s: %d of %d bytes: %v, not cut off", name, n, len(message), err)
			}
		}
	}
	_, parts, err := Read([]byte("Content-Type: multipart/mixed; boundary=M\n\n--M\nContent-Type: image/png; name=a.png\nContent-Transfer-Encoding: base64\n\niVBORw0KG\n--M--\n"))
	if why := CutOff(parts); err != nil || !strings.Contains(why, "cut off in a.png") {
		t.Errorf("base64 that ends early: %v, %q", err, why)
	}
	_, parts, err = Read([]byte("Content-Transfer-Encoding: base64\n\niVBORw0KG"))
	if why := CutOff(parts); err != nil || !strings.Contains(why, "cut off in its text") {
		t.Errorf("a body of base64 that ends early: %v, %q", err, why)
	}
	for message, cut := range map[string]bool{
		"Content-Length: 9\n\nSee below": false, "Content-Length: 9\n\nSee b": true, "Content-Length: 11\r\n\r\nSee\r\nbelow\r\n": false, "Subject: x\n\nSee b": false,
		"Content-Type: text/html\n\n<html><body>See": true, "Content-Type: text/html\n\n<html><body>See</html>": false, "Content-Type: text/html\n\n<p>See": false,
	} {
		_, parts, err := Read([]byte(message))
		if why := CutOff(parts); err != nil || (why != "") != cut {
			t.Errorf("%q: %v, %q", message, err, why)
		}
	}
}
