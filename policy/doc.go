// Package policy decides which pictures of a prompt are sent. From a model's capabilities, a provider's limits on one request
// and the user's budget it derives the fate of every reference, with a reason in words, and where in a request each kind of
// media goes. It also decides who may write which file: see [Gate].
//
// The package is pure: candidates in, decisions out. It reads no files and no clock. Limits and capabilities are dated tables
// in data/*.yaml, each row with its source; settings override them.
package policy
