package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

const openSesame = "öpen sesame 42"

// encrypted gives a document with a line and a field, encrypted by pdfcpu.
func encrypted(t *testing.T, aes bool, bits int, user, owner string) []byte {
	t.Helper()
	api.DisableConfigDir()
	conf := model.NewDefaultConfiguration()
	conf.EncryptUsingAES, conf.EncryptKeyLength, conf.UserPW, conf.OwnerPW = aes, bits, user, owner
	var b bytes.Buffer
	plain := pdftest.New().TextPage(pdftest.Text("Nobody but us")...).Field(pdftest.TextField("Code", "4711")).Bytes()
	if err := api.Encrypt(bytes.NewReader(plain), &b, conf); err != nil {
		t.Fatalf("encrypt: %v", err)
	}
	return b.Bytes()
}

func TestPDFium_opensWithPasswords(t *testing.T) {
	t.Parallel()
	ascii := "open sesame"
	cases := map[string]struct {
		data     []byte
		password string
	}{
		"RC4 40":  {pdftest.New().TextPage(pdftest.Text("Nobody but us")...).Field(pdftest.TextField("Code", "4711")).UserPassword(ascii).Bytes(), ascii},
		"RC4 128": {encrypted(t, false, 128, ascii, "owner"), ascii},
		"AES 128": {encrypted(t, true, 128, ascii, "owner"), ascii},
		"AES 256": {encrypted(t, true, 256, openSesame, "owner"), openSesame},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, doc, err := openedBy(t, c.data, extract.Open{Passwords: []string{"wrong", c.password}})
			if err != nil {
				t.Fatal(err)
			}
			if !doc.Encrypted || doc.Renderer != "pdfium" || !strings.HasPrefix(doc.Reason, "password: ") {
				t.Errorf("opened as %+v", doc)
			}
			page := ask(t, s, extract.PageRequest{N: 1, Text: true, Image: true, DPI: 144, Format: "png"})
			if page.Text.Markdown != "Nobody but us" || !strings.Contains(page.Text.Besides, "- Code: 4711") {
				t.Errorf("it says %q and %q", page.Text.Markdown, page.Text.Besides)
			}
			if n := seenAs(t, page, 72, 740, 372, 770, dark); n < 100 {
				t.Errorf("%d dark pixels where the text stands", n)
			}
			for _, wrong := range [][]string{nil, {"wrong", ascii + "x"}} {
				_, _, err := openedBy(t, c.data, extract.Open{Passwords: wrong})
				e, ok := errors.AsType[*extract.Error](err)
				if !ok || e.Code != failure.NeedsPassword {
					t.Fatalf("with %d wrong passwords: %v", len(wrong), err)
				}
				if strings.Contains(e.Error(), ascii) {
					t.Errorf("the error tells a password: %s", e)
				}
			}
		})
	}
}

func TestPDFium_leavesOwnerPasswordsAlone(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]byte{"RC4": encrypted(t, false, 128, "", "owner"), "AES": encrypted(t, true, 256, "", "owner")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, doc, err := openedBy(t, data, extract.Open{})
			if err != nil {
				t.Fatal(err)
			}
			page := ask(t, s, extract.PageRequest{N: 1, Text: true})
			if doc.Renderer != "mupdf" || !doc.Encrypted || page.Text.Markdown != "Nobody but us" || !strings.Contains(page.Text.Besides, "4711") {
				t.Errorf("%+v says %q and %q", doc, page.Text.Markdown, page.Text.Besides)
			}
		})
	}
}
