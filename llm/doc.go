// Package llm is the contract between the run of a workflow and the models: request, response, classes of errors, and the
// one retry layer. It also plans where the media of a request go. llm/rewrite changes requests that do not fit.
//
// The adapters live below (llm/anthropic, llm/openai, llm/ollama, llm/offline, llm/replay, …); llm/wire holds what those
// that speak HTTP share, and llm/llmtest is the suite that each of them passes. This package knows no vendor, reads no
// environment, keeps no state between calls, and puts no key, request body or media bytes into an error.
package llm
