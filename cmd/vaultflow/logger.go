package main

import (
	"log/slog"
	"os"
	"time"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"

	"github.com/vaultflow/vaultflow/settings"
)

// newLogger logs for people on standard error: warnings for short commands, more with --verbose.
func newLogger(g *globals, s *settings.Settings) *slog.Logger {
	level := slog.LevelWarn
	if g.daemon {
		level = slog.LevelInfo
		if err := level.UnmarshalText([]byte(s.Logging.Level)); err != nil {
			level = slog.LevelInfo
		}
	}
	if g.verbose {
		level = slog.LevelDebug
	}
	if g.json || s.Logging.Format == "json" {
		return slog.New(slog.NewJSONHandler(plain(g.err), &slog.HandlerOptions{Level: level}))
	}
	return slog.New(tint.NewTextHandler(plain(g.err), &tint.Options{Level: level, TimeFormat: time.TimeOnly, NoColor: os.Getenv("NO_COLOR") != "" || !isTerminal(g.err)}))
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(w any) bool {
	if s, is := w.(*screen); is {
		w = s.to
	}
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd()) // the null device is a character device too
}
