package llmtest

import (
	"bytes"
	"io"
	"net/http"
)

// Whole passes on the requests that arrive in full. A client that is killed in the middle of one has asked nothing, and a
// service neither answers nor charges it.
func Whole(serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		serve(w, r)
	})
}
