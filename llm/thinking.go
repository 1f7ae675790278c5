package llm

import (
	"regexp"
	"strconv"
)

// thinkingTokens translates the three words for models that want a number.
var thinkingTokens = map[string]int{"low": 4096, "medium": 10240, "high": 24576}

// leastThinking is the least number of tokens for reasoning that Claude takes.
const leastThinking = 1024

// budgetOnly matches the Claude models that take a number of tokens and no effort, takesEither those that take both; later
// ones take only an effort. From the provider's pages on extended and adaptive thinking, read in November 2026.
var (
	budgetOnly  = regexp.MustCompile(`claude-(?:3|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8}|-latest|@.*|$))`)
	takesEither = regexp.MustCompile(`claude-(?:opus|sonnet|haiku)-4[-.]6`)
)

// ClaudeThinking translates Request.Thinking for a Claude model on any service: to a number of tokens, or to an effort (low,
// medium, high) for models that choose the number themselves. Both are empty for "off" and for the service's default.
func ClaudeThinking(model, level string) (tokens int, effort string) {
	n, err := strconv.Atoi(level)
	isNumber := err == nil && n > 0
	words, isWord := thinkingTokens[level]
	switch {
	case isNumber && (budgetOnly.MatchString(model) || takesEither.MatchString(model)):
		return max(n, leastThinking), ""
	case isNumber:
		return 0, nearestEffort(n)
	case isWord && budgetOnly.MatchString(model):
		return words, ""
	case isWord:
		return 0, level
	}
	return 0, ""
}

// ClaudeTemperature returns the temperature to send to a Claude model: models after 4.6 refuse every value but the
// default. From the deprecation note in the vendor's SDK (@anthropic-ai/sdk 0.137.0), read in November 2026.
func ClaudeTemperature(model string, wanted *float64) *float64 {
	if budgetOnly.MatchString(model) || takesEither.MatchString(model) {
		return wanted
	}
	return nil
}

// nearestEffort returns the word for a number of tokens.
func nearestEffort(tokens int) string {
	for _, word := range []string{"low", "medium"} {
		if tokens <= thinkingTokens[word] {
			return word
		}
	}
	return "high"
}
