package wire

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/textproto"
)

// Upload is a form (multipart/form-data) with one file in memory, for services that take no JSON.
type Upload struct {
	Fields    [][2]string // name and value, in order
	Field     string      // of the file
	Name      string      // of the file, for the service: never a name of the vault
	MediaType string
	Data      []byte
}

// Body returns the request. The file is not copied.
func (u Upload) Body() (*Body, error) {
	var head bytes.Buffer
	form := multipart.NewWriter(&head)
	for _, f := range u.Fields {
		if err := form.WriteField(f[0], f[1]); err != nil {
			return nil, fmt.Errorf("write the form: %w", err)
		}
	}
	header := textproto.MIMEHeader{}
	header.Set("Content-Disposition", multipart.FileContentDisposition(u.Field, u.Name))
	header.Set("Content-Type", u.MediaType)
	if _, err := form.CreatePart(header); err != nil {
		return nil, fmt.Errorf("write the form: %w", err)
	}
	before := head.Len()
	if err := form.Close(); err != nil {
		return nil, fmt.Errorf("write the form: %w", err)
	}
	whole := head.Bytes()
	return &Body{drawing: &Drawing{}, mediaType: form.FormDataContentType(), whole: [][]byte{whole[:before], u.Data, whole[before:]}}, nil
}
