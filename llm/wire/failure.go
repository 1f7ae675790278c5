package wire

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// hidden replaces a key, as llm.Secret prints it.
const hidden = "***"

// maxMessage is how many bytes of a provider's message are kept.
const maxMessage = 600

// maxRetryDelay is the longest credible wait.
const maxRetryDelay = 24 * time.Hour

// ParseFailure finds code and message in a failed answer. It reads only named fields, never the whole answer: some servers
// echo the request.
func ParseFailure(data []byte) Failure {
	var list []json.RawMessage // Gemini-like services send [{"error":…}]
	if json.Unmarshal(data, &list) == nil && len(list) > 0 {
		data = list[0]
	}
	var body struct {
		Error   json.RawMessage `json:"error"`
		Message any             `json:"message"`
		Detail  any             `json:"detail"`
		Type    string          `json:"type"`
		Code    any             `json:"code"`
	}
	if json.Unmarshal(data, &body) != nil {
		return Failure{Message: plainText(data)}
	}
	if f, ok := parseInner(body.Error); ok {
		return f
	}
	f := Failure{Code: firstText(body.Code, body.Type), Message: firstText(body.Message)}
	if f.Message == "" {
		f.Message = details(body.Detail)
	}
	if f.Message == "" {
		f.Message = details(body.Message)
	}
	return f
}

// parseInner reads the "error" member: a sentence, or an object, which a gateway may have wrapped around another.
func parseInner(raw json.RawMessage) (Failure, bool) {
	var sentence string
	if json.Unmarshal(raw, &sentence) == nil && sentence != "" {
		return Failure{Message: sentence}, true
	}
	var inner struct {
		Message  any    `json:"message"`
		Type     string `json:"type"`
		Status   string `json:"status"`
		Code     any    `json:"code"`
		Metadata struct {
			Raw json.RawMessage `json:"raw"` // the answer of the service behind a gateway: JSON as a text, or as it is
		} `json:"metadata"`
		Details json.RawMessage `json:"details"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &inner) != nil {
		return Failure{}, false
	}
	f := Failure{Code: firstText(inner.Code, inner.Type, inner.Status), Message: firstText(inner.Message)}
	f.RetryAfter = retryDelay(inner.Details)
	if upstream := rawText(inner.Metadata.Raw); upstream != "" {
		if u := ParseFailure([]byte(upstream)); u.Message != "" {
			f.Message = strings.TrimSpace(f.Message + ": " + u.Message)
			if _, err := strconv.Atoi(f.Code); u.Code != "" && (f.Code == "" || err == nil) {
				f.Code = u.Code // the gateway's own is a status
			}
		}
	}
	return f, f.Code != "" || f.Message != ""
}

// rawText returns a text, or the JSON found instead of one.
func rawText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// retryDelay finds Google's RetryInfo among the details of a failure: `"retryDelay": "7s"`.
func retryDelay(details json.RawMessage) time.Duration {
	var list []struct {
		RetryDelay string `json:"retryDelay"`
	}
	if json.Unmarshal(details, &list) != nil {
		return 0 // other services use the name differently
	}
	for _, d := range list {
		if delay, err := time.ParseDuration(d.RetryDelay); err == nil && delay > 0 {
			return min(delay, maxRetryDelay)
		}
	}
	return 0
}

// details reads a list of validation faults: their "msg", never their "input".
func details(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		if inner, ok := v["detail"]; ok {
			return details(inner)
		}
		return firstText(v["msg"], v["message"])
	case []any:
		var all []string
		for _, one := range v {
			if text := details(one); text != "" {
				all = append(all, text)
			}
		}
		return strings.Join(all, "; ")
	}
	return ""
}

func firstText(values ...any) string {
	for _, v := range values {
		switch v := v.(type) {
		case string:
			if v != "" {
				return v
			}
		case float64:
			if data, err := json.Marshal(v); err == nil {
				return string(data)
			}
		}
	}
	return ""
}

// plainText returns a message that is not JSON; it ignores web pages.
func plainText(data []byte) string {
	text := strings.TrimSpace(string(data))
	if strings.HasPrefix(text, "<") || !utf8.ValidString(text) {
		return ""
	}
	line, _, _ := strings.Cut(text, "\n")
	return line
}

var (
	encodedRun = regexp.MustCompile(`(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/_-]{80,}={0,2}`)
	dataURI    = regexp.MustCompile(`data:[\w/+.-]+;base64,[A-Za-z0-9+/=_-]*`)
	keyLike    = regexp.MustCompile(`(?i)\b(?:sk|gsk|xai|pk|rk|key)-[\w*.-]{6,}|\bAIza[\w-]{10,}|\bbearer\s+\S+`)
)

// clean prepares a provider's message for a log: one short line without our keys, anything like a key, or media.
func (e *Endpoint) clean(message string) string {
	for _, secret := range e.secrets {
		if len(secret) >= 4 {
			message = strings.ReplaceAll(message, secret, hidden)
		}
	}
	message = dataURI.ReplaceAllString(message, "[data]")
	message = encodedRun.ReplaceAllString(message, "[data]")
	message = keyLike.ReplaceAllString(message, hidden)
	message = strings.Join(strings.FieldsFunc(message, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if len(message) <= maxMessage {
		return strings.ToValidUTF8(message, "�")
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "…"
}
