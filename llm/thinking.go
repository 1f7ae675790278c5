package llm

import (
	"regexp"
	"strconv"
)

// thinkingTokens translates the three words for models that want a number.
var thinkingTokens = map[string]int{"low": 4096, "medium": 10240, "high": 24576}

// leastThinking is the least number of tokens for reasoning that Claude takes.
const leastThinking = 1024

// defaultRoom is the room for reasoning of models that reason by default, when the request says nothing.
const defaultRoom = 10240

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

// The Claude models since 5 reason by default. Of those since 5.5, Sonnet's reasoning before the answer can be turned off in a way
// of its own, and that of Opus, Fable and Mythos cannot; their reasoning is bound to the turns before it. From the provider's pages
// "What's new in Claude Sonnet 5.5", "Preserved thinking" and the models overview, read in November 2026.
var (
	thinksUnasked = regexp.MustCompile(`claude-(?:(?:opus|sonnet|haiku)-[5-9]|fable|mythos)`)
	betweenTools  = regexp.MustCompile(`claude-sonnet-(?:5[-.][5-9]|[6-9])`)
	alwaysThinks  = regexp.MustCompile(`claude-(?:opus-(?:5[-.][5-9]|[6-9])|fable|mythos)`)
	bindsThinking = regexp.MustCompile(`claude-(?:(?:opus|sonnet|haiku)-(?:5[-.][5-9]|[6-9])|(?:fable|mythos)-(?:5[-.][1-9]|[6-9]))`)
)

// ClaudeThinksUnasked reports whether a model reasons if a request says nothing about it.
func ClaudeThinksUnasked(model string) bool { return thinksUnasked.MatchString(model) }

// ClaudeOff returns what to send to a Claude model for "off": the type of thinking that the service knows, or, for models that
// always reason, the least effort. The short notes of a model between calls come as reasoning even so.
func ClaudeOff(model string) (kind, effort string) {
	switch {
	case betweenTools.MatchString(model):
		return "between_tools", ""
	case alwaysThinks.MatchString(model):
		return "", "low"
	}
	return "disabled", ""
}

// ClaudeBindsThinking reports whether a model's reasoning is bound to the turns before it: some accounts get an error when it goes
// back after an earlier turn has changed.
func ClaudeBindsThinking(model string) bool { return bindsThinking.MatchString(model) }

// ThinkingRoom returns the most tokens of reasoning that a request may add to its answer. Adapters for Claude, whose limit counts both,
// add them to the limit; what a request costs at most is estimated with them.
func ThinkingRoom(model, level string) int {
	n, err := strconv.Atoi(level)
	switch words := thinkingTokens[level]; {
	case words > 0:
		return words
	case level == "" && thinksUnasked.MatchString(model), level == "on":
		return defaultRoom
	case level == "off" && alwaysThinks.MatchString(model):
		return thinkingTokens["low"]
	case level == "", level == "off":
		return 0
	case err != nil || n < 0:
		return thinkingTokens["high"]
	case budgetOnly.MatchString(model) || takesEither.MatchString(model):
		return max(n, leastThinking)
	}
	return n
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
