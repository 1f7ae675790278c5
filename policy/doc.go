// Package policy decides what of a prompt's pictures is sent: which capabilities a model has and where that was
// learned, what a provider allows in one request, what the user's budget allows, and from these the fate of every
// reference, with a reason in words; and where in a request each kind of media goes.
//
// The package is pure: candidates in, decisions out. It reads no file and no clock. Limits and capabilities are dated
// tables in data/*.yaml, each row with its source; settings override them.
package policy
