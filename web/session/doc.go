// Package session decides who a request to the dashboard comes from: the owner's token, named tokens with scopes, browser
// sessions, one-time sign-in codes, and the delay after wrong ones. It knows nothing of HTTP.
//
// Secrets are random (256 bits) and kept as digests, except for the owner's token, which the caller holds. What has to survive
// a restart goes to a [Store]; codes and delays live in memory. All methods are safe for concurrent use.
package session
