package llmtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// strict reads JSON into v and refuses members that v does not have.
func strict(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if dec.More() {
		return errors.New("something follows the request")
	}
	return nil
}

// picture decodes base64 and checks that the bytes are a file of an accepted type.
func picture(encoded string, accepted ...string) (Part, error) {
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return Part{}, fmt.Errorf("illegal base64: %w", err)
	}
	kind := http.DetectContentType(data)
	if !slices.Contains(accepted, kind) {
		return Part{}, fmt.Errorf("file of type %s", kind)
	}
	return Part{MediaType: kind, Data: data}, nil
}

func typeOf(raw json.RawMessage) string {
	var head struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(raw, &head) // no type is an unknown type
	return head.Type
}

func notBlank(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("text content blocks must contain non-whitespace text")
	}
	return nil
}

// send writes one piece of a stream and flushes it.
func send(w http.ResponseWriter, format string, args ...any) {
	fmt.Fprintf(w, format, args...)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

func toJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // a programmer's mistake in a test
	}
	return string(data)
}

func fail(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	send(w, "%s", toJSON(body))
}
