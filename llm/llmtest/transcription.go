package llmtest

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
)

// Transcription is a request for the text of a recording.
type Transcription struct {
	Fields    map[string]string
	Name      string // of the file
	MediaType string // as declared
	Data      []byte
}

// maxTranscription is the most that OpenAI takes of a recording, in bytes.
const maxTranscription = 25 << 20

// ReadTranscription reads a request as OpenAI's /v1/audio/transcriptions does, and refuses what that would refuse.
func ReadTranscription(r *http.Request, key string) (Transcription, error) {
	got := Transcription{Fields: map[string]string{}}
	if r.Method != http.MethodPost || r.URL.Path != "/v1/audio/transcriptions" {
		return got, fmt.Errorf("%s %s: no such method", r.Method, r.URL.Path)
	}
	if given := r.Header.Get("Authorization"); given != "Bearer "+key && (given != "" || key != "") {
		return got, errors.New("the key is wrong")
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" || r.ContentLength <= 0 {
		return got, fmt.Errorf("content type %q with %d bytes", kind, r.ContentLength)
	}
	form := multipart.NewReader(r.Body, params["boundary"])
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return got, fmt.Errorf("read the form: %w", err)
		}
		data, err := io.ReadAll(io.LimitReader(part, maxTranscription+1))
		if err != nil {
			return got, fmt.Errorf("read the form: %w", err)
		}
		switch name := part.FormName(); {
		case name == "file" && part.FileName() != "" && got.Data == nil:
			got.Name, got.MediaType, got.Data = part.FileName(), part.Header.Get("Content-Type"), data
		case slices.Contains([]string{"model", "response_format", "language"}, name) && len(data) > 0 && got.Fields[name] == "":
			got.Fields[name] = string(data)
		default:
			return got, fmt.Errorf("the field %q is unknown, empty, or there twice", name)
		}
	}
	switch {
	case len(got.Data) == 0 || len(got.Data) > maxTranscription:
		return got, fmt.Errorf("a file of %d bytes", len(got.Data))
	case got.Fields["model"] == "":
		return got, errors.New("no model")
	}
	return got, nil
}
