//go:build !linux

package main

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(runTests(m)) }
