package wire

import (
	"regexp"
	"sync"

	"github.com/vaultflow/vaultflow/llm"
)

// rules are tried in this order; the first that matches decides. The messages they come from are in
// testdata/provider_errors.tsv. The named groups "actual" and "limit" are numbers, "limitmb" is a limit in megabytes of
// 1,048,576 bytes.
var rules = concat(exclusions, mediaRules, contextRules)

// exclusions match messages that mention tokens, contexts or models but are no overflow.
var exclusions = ruleList{
	is(llm.ClassBoundThinking, "invalid `signature` in `thinking` block|bound to a different conversation"),
	is(llm.ClassRateLimit, `throttl|too many requests|rate.?limit|(?:tokens|requests) per (?:min|hour|day)|\bTPM\b|\bRPM\b`),
	is(llm.ClassBilling, `credit balance is too low|exceeded your current quota|check your plan and billing|insufficient (?:credit|balance|funds)`),
	is(llm.ClassAuth, `(?:invalid|incorrect|missing) (?:x-)?api.?key|api key not valid|no auth credentials`),
	is(llm.ClassParameter, `max(?:_completion|_output)?_tokens[^.]{0,80}(?:too large|must be|is greater|exceeds?)|unsupported (?:parameter|value)|unknown parameter|budget_tokens|does not support thinking`),
	is(llm.ClassParameter, `(?:does not|doesn.t) support (?:tool|function|structured)|response_format|output_config\.format|json schema in format|tools\.\d+\.|failed to parse grammar`),
	is(llm.ClassOther, `doesn't support counting tokens|endpoint is unavailable|set 'n_ctx' explicitly`),
	is(llm.ClassPairing, `tool result blocks cannot be provided in the same turn|no tool output found for|unexpected role '\w+' after role|tool_use.{0,40}without.{0,20}tool_result|must be followed by tool messages|roles must alternate|number of toolResult blocks|expected toolResult blocks`),
	is(llm.ClassNotFound, `model\b.{0,120}\b(?:not found|does not exist)|no such model|unknown model|model identifier is invalid|with on-demand throughput isn.t supported`),
	is(llm.ClassOverloaded, `overloaded|over capacity|temporarily unavailable`),
}

// mediaRules come before contextRules: a message about pictures may also mention limits.
var mediaRules = ruleList{
	is(llm.ClassMediaMismatch, `does not match the (?:provided media type|specified image format)|the image appears to be an? `),
	is(llm.ClassImageBytes, `image exceeds [\d.]+ ?MB maximum: (?P<actual>\d+) bytes > (?P<limit>\d+) bytes`),
	is(llm.ClassImageBytes, `image exceeds (?P<limitmb>[\d.]+) ?MB maximum`),
	is(llm.ClassImageDims, `exceed max allowed size.{0,60}?: (?P<limit>\d+) pixels`),
	is(llm.ClassImagePixels, `requires (?P<actual>\d+) patches.{0,60}limit of (?P<limit>\d+)`),
	is(llm.ClassImagePixels, `maximum allowed total pixels.*?= (?P<actual>\d+) pixels.*?allowed: (?P<limit>\d+)`),
	is(llm.ClassImagePixels, `(?:total|too many) pixels`),
	is(llm.ClassImageCount, `too many images.{0,40}?: (?P<actual>\d+)(?: \+ \d+)? > (?P<limit>\d+)`),
	is(llm.ClassImageCount, `too many images.{0,40}?: (?P<actual>\d+) images provided.{0,60}maximum of (?P<limit>\d+)`),
	is(llm.ClassImageCount, `too many images.{0,60}up to (?P<limit>\d+) images`),
	is(llm.ClassUnsupportedMedia, `at most 0 (?:image|document|video|audio)`),
	is(llm.ClassImageCount, `at most (?P<limit>\d+) image`),
	is(llm.ClassImageCount, `too many images`),
	is(llm.ClassPDFPages, `maximum of (?P<limit>\d+) PDF pages`),
	is(llm.ClassPDFEncrypted, `(?:pdf|document).{0,60}(?:password|encrypted)|password.protected`),
	is(llm.ClassURLFetch, `image URLs are not currently supported|cannot fetch content from the provided URL|(?:error|failed|unable|timeout) (?:while )?(?:downloading|to download|to fetch|fetching)`),
	is(llm.ClassUnsupportedMedia, `support (?:image|file|audio|document|multimodal) input|does not support (?:image|vision)|s3Uri field|doesn.t support the (?:image|document|video|audio) (?:field|content block)|extraneous key \[toolResult\]`),
	is(llm.ClassUnsupportedMedia, "unknown variant `(?:image|image_url|input_image|file)`|expected to be either text or image_url"),
	is(llm.ClassUnsupportedMedia, `provided image is not valid|unable to process input image|invalid image input|uploaded an unsupported image|could not process image|illegal base64|invalid image data|failed to (?:load|process) image`),
	is(llm.ClassUnsupportedMedia, `unsupported MIME type|file type you uploaded is not supported|image urls are only allowed|mmproj|multimodal.{0,20}not supported`),
	is(llm.ClassRequestBytes, `request (?:payload |body )?(?:size )?exceeds the (?:maximum|limit)(?: (?:allowed )?size)?(?:: (?P<limit>\d+) bytes)?|request entity too large|request too large|payload too large`),
}

// contextRules match a prompt that is longer than the model's window.
var contextRules = ruleList{
	is(llm.ClassContextTokens, `prompt is too long(?:: (?P<actual>\d+) tokens > (?P<limit>\d+))?`),
	is(llm.ClassContextTokens, `range of input length should be \[\d+, (?P<limit>\d+)\]`),
	is(llm.ClassContextTokens, `prompt contains (?P<actual>\d+) tokens.{0,60}too large for model with (?P<limit>\d+) maximum context length`),
	is(llm.ClassContextTokens, `tokens in the prompt cannot exceed (?P<limit>\d+) - received (?P<actual>\d+)`),
	is(llm.ClassContextTokens, `current length is (?P<actual>\d+) while limit is (?P<limit>\d+)`),
	is(llm.ClassContextTokens, `token count of (?P<actual>\d+) exceeds the limit of (?P<limit>\d+)`),
	is(llm.ClassContextTokens, `token count \((?P<actual>\d+)\) exceeds the maximum number of tokens allowed \((?P<limit>\d+)\)`),
	is(llm.ClassContextTokens, `exceeded model token limit: (?P<limit>\d+) \(requested: (?P<actual>\d+)\)`),
	is(llm.ClassContextTokens, `maximum context length (?:of|is) (?P<limit>\d+) tokens(?:\D{0,80}(?P<actual>\d+) tokens)?`),
	is(llm.ClassContextTokens, `input length (?P<actual>\d+) exceeds the maximum allowed input length of (?P<limit>\d+)`),
	is(llm.ClassContextTokens, `input too long: (?P<actual>\d+) input tokens, limit is (?P<limit>\d+)`),
	is(llm.ClassContextTokens, `exceeds the context limit \((?P<limit>\d+) tokens\)`),
	is(llm.ClassContextTokens, `maximum prompt length is (?P<limit>\d+) but the request contains (?P<actual>\d+)`),
	is(llm.ClassContextTokens, `\((?P<actual>\d+) tokens\) exceeds the available context size \((?P<limit>\d+)`),
	is(llm.ClassContextTokens, `input is too long|prompt too long|exceed(?:s|ed)? (?:the )?(?:available |max |maximum )?context|context window exceeds|greater than the context length|context length exceeded|超过模型最大上下文|exceeds the model's (?:maximum )?context`),
}

func is(class llm.Class, pattern string) rule {
	return rule{class, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?is)` + pattern) })}
}

func concat(lists ...ruleList) ruleList {
	var all ruleList
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}
