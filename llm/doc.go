// Package llm is the contract between the run of a workflow and the models: request, response, usage, classes of errors,
// and the one retry layer. It also holds what every HTTP adapter shares: a request body that is written as a stream, the
// POST with its time-outs, and readers for server-sent events and JSON lines.
//
// The adapters live below (llm/anthropic, llm/openai, llm/ollama, llm/offline, llm/replay); llm/llmtest is the suite that
// each of them passes. This package knows no vendor, reads no environment, keeps no state between calls, and puts no key,
// request body or media bytes into an error.
package llm
