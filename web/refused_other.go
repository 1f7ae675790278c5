//go:build !unix

package web

// refused reports that nobody listens. Systems without Unix do not say so for sure.
func refused(error) bool { return true }
