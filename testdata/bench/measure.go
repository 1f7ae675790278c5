package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"
)

// command is something that is measured.
type command struct {
	name   string
	before func() error // is not measured; may be nil
	run    func(context.Context) error
	times  []time.Duration
}

// measure runs the commands in turn.
func (b *bench) measure(ctx context.Context, commands ...*command) error {
	for range b.runs {
		for _, c := range commands {
			if c.before != nil {
				if err := c.before(); err != nil {
					return fmt.Errorf("prepare %s: %w", c.name, err)
				}
			}
			begin := time.Now()
			if err := c.run(ctx); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			c.times = append(c.times, time.Since(begin))
		}
	}
	return nil
}

// median returns the middle time.
func (c *command) median() time.Duration {
	return slices.Sorted(slices.Values(c.times))[len(c.times)/2]
}

// line prints a row of a table: the command's times beside those of the one that it is compared with.
func line(what string, c, peer *command) {
	ms := func(d time.Duration) int64 { return d.Milliseconds() }
	fmt.Printf("| %s | %s | %d (%d to %d) | %d (%d to %d) | %.2f | %s |\n", what, c.name, ms(c.median()), ms(slices.Min(c.times)), ms(slices.Max(c.times)),
		ms(peer.median()), ms(slices.Min(peer.times)), ms(slices.Max(peer.times)), float64(peer.median())/float64(c.median()), peer.name)
}

// program returns a function that runs a program to its end.
func program(env []string, name string, args ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		var said bytes.Buffer
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Env = append(os.Environ(), env...)
		cmd.Stdout, cmd.Stderr = io.Discard, &said
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%w: %s", err, said.String())
		}
		return nil
	}
}
