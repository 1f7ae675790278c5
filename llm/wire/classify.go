package wire

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/llm"
)

// Failure is a provider's refusal: HTTP status, its code or type, and its message.
type Failure struct {
	Status  int // 0 for a failure inside a stream that began with 200
	Code    string
	Message string

	RetryAfter time.Duration // 0: not in the answer's body
}

// Classify returns the class of a failure and the numbers in its message. The order is: status and code if they are
// sufficient, exclusions (messages that only look like an overflow), media, context, and last the bare status.
func Classify(f Failure) (class llm.Class, actual, limit int64) {
	code := strings.ToLower(f.Code)
	if class, sure := byCode(f.Status, code, f.Message); sure {
		return class, 0, 0
	}
	for _, r := range rules {
		pattern := r.pattern()
		if m := pattern.FindStringSubmatch(f.Message); m != nil {
			return r.class, number(pattern, m, "actual"), max(number(pattern, m, "limit"), megabytes(pattern, m))
		}
	}
	return byStatus(f, code), 0, 0
}

// byCode classifies what needs no message.
func byCode(status int, code, message string) (llm.Class, bool) {
	switch code {
	case "insufficient_quota", "billing_error", "billing_not_active", "insufficient_credits", "billing_hard_limit_reached":
		return llm.ClassBilling, true
	case "authentication_error", "invalid_api_key", "permission_error", "permission_denied", "unauthenticated":
		return llm.ClassAuth, true
	case "overloaded_error", "server_error", "api_error", "internal_server_error", "unavailable", "engine_overloaded":
		return llm.ClassOverloaded, true
	case "content_filter", "content_policy_violation":
		return llm.ClassRefusal, true
	case "context_length_exceeded":
		return llm.ClassContextTokens, !rules.match(message) // its sentence has the numbers
	case "model_not_found":
		return llm.ClassNotFound, true
	}
	switch status {
	case http.StatusTooManyRequests:
		if spent.MatchString(message) {
			return llm.ClassBilling, true
		}
		return llm.ClassRateLimit, true
	case http.StatusUnauthorized:
		return llm.ClassAuth, true
	case http.StatusPaymentRequired:
		return llm.ClassBilling, true
	}
	return "", false
}

// spent matches a 429 that waiting does not cure.
var spent = regexp.MustCompile(`(?i)exceeded your current quota|check your plan and billing|credit balance|insufficient (credit|balance|funds)`)

// byStatus is the last resort.
func byStatus(f Failure, code string) llm.Class {
	switch {
	case code == "rate_limit_error" || code == "rate_limit_exceeded" || code == "429":
		return llm.ClassRateLimit
	case code == "not_found_error" || f.Status == http.StatusNotFound:
		return llm.ClassNotFound
	case f.Status == http.StatusForbidden:
		return llm.ClassAuth
	case f.Status == http.StatusRequestTimeout, f.Status == 425, f.Status == 409:
		return llm.ClassNetwork
	case f.Status == http.StatusRequestEntityTooLarge && f.Message == "":
		return llm.ClassRequestBytes
	case code == "request_too_large":
		return llm.ClassRequestBytes
	case f.Status == 529 || f.Status >= 500:
		return llm.ClassOverloaded
	}
	return llm.ClassOther
}

type rule struct {
	class   llm.Class
	pattern func() *regexp.Regexp // compiled when an answer has failed, not at every start
}

type ruleList []rule

func (l ruleList) match(message string) bool {
	for _, r := range l {
		if r.pattern().MatchString(message) {
			return true
		}
	}
	return false
}

// number reads a named group as digits, which may be separated by commas or underscores.
func number(p *regexp.Regexp, match []string, group string) int64 {
	i := p.SubexpIndex(group)
	if i < 0 || match[i] == "" {
		return 0
	}
	n, err := strconv.ParseInt(strings.NewReplacer(",", "", "_", "").Replace(match[i]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// megabytes reads the group "limitmb" as bytes.
func megabytes(p *regexp.Regexp, match []string) int64 {
	i := p.SubexpIndex("limitmb")
	if i < 0 {
		return 0
	}
	mb, err := strconv.ParseFloat(match[i], 64)
	if err != nil {
		return 0
	}
	return int64(mb * (1 << 20))
}
