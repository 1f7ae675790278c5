//go:build !worker

package main

// linked is nil: this program was built without the libraries.
var linked libraries
