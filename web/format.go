package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
)

// stamp is a moment as a page shows it.
type stamp struct {
	ISO  string // for the datetime attribute
	Text string // "today 08:00"
}

// when formats a time relative to now, in the given zone.
func when(t, now time.Time, zone *time.Location) stamp {
	if t.IsZero() {
		return stamp{}
	}
	t, now = t.In(zone), now.In(zone)
	text := t.Format("Mon 2 Jan 15:04")
	switch days := dayNumber(t) - dayNumber(now); {
	case days == 0:
		text = "today " + t.Format("15:04")
	case days == -1:
		text = "yesterday " + t.Format("15:04")
	case days == 1:
		text = "tomorrow " + t.Format("15:04")
	case t.Year() != now.Year():
		text = t.Format("2 Jan 2006 15:04")
	}
	return stamp{ISO: t.Format(time.RFC3339), Text: text}
}

// dayNumber counts calendar days.
func dayNumber(t time.Time) int {
	y, m, d := t.Date()
	return int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

// span formats a duration.
func span(d time.Duration) string {
	switch {
	case d < 50*time.Millisecond: // skipped, or a clock that was set back
		return ""
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// number groups digits by three.
func number(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// size formats a number of bytes.
func size(n int64) string {
	switch {
	case n <= 0:
		return ""
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.0f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// tokens and cost of a usage; empty when no model was asked.
func tokens(u cost.Usage) string {
	if n := u.InputTokens + u.OutputTokens; n > 0 {
		return number(n) + " tokens"
	}
	return ""
}

func costText(u cost.Usage) string {
	switch {
	case u.InputTokens+u.OutputTokens == 0:
		return ""
	case u.CostUnknown && u.CostUSD == 0:
		return "cost unknown"
	}
	text := "$" + strconv.FormatFloat(u.CostUSD, 'f', decimals(u.CostUSD), 64)
	if u.CostUnknown {
		return "at least " + text
	}
	return text
}

func decimals(usd float64) int {
	switch {
	case usd == 0:
		return 0
	case usd < 0.1:
		return 4
	}
	return 2
}

// pill is a status with its sign and words: never colour alone.
type pill struct{ Class, Sign, Text string }

func statusPill(s engine.Status) pill {
	text := strings.ReplaceAll(string(s), "_", " ")
	if s.Failed() {
		return pill{"bad", "✕", text}
	}
	switch s {
	case engine.Done:
		return pill{"good", "✓", text}
	case engine.DoneWithOmissions:
		return pill{"warn", "✓", text}
	case engine.Running:
		return pill{"live", "●", text}
	case engine.AwaitingApproval:
		return pill{"warn", "?", text}
	case engine.Cancelled, engine.Skipped:
		return pill{"quiet", "–", text}
	}
	return pill{"quiet", "○", text}
}

func statePill(s engine.ImportState) pill {
	text := strings.ReplaceAll(string(s), "_", " ")
	switch s {
	case engine.ImportDone:
		return pill{"good", "✓", text}
	case engine.ImportPartial, engine.ImportNeedsPassword, engine.ImportWaiting:
		return pill{"warn", "!", text}
	case engine.ImportFailed:
		return pill{"bad", "✕", text}
	case engine.ImportWorking, engine.ImportReceiving:
		return pill{"live", "●", text}
	case engine.ImportDuplicate:
		return pill{"quiet", "=", text}
	}
	return pill{"quiet", "○", text}
}

// triggerText describes what started a run.
func triggerText(t engine.Trigger) string {
	switch t.Kind {
	case engine.TriggerManual, "":
		return "by hand"
	case engine.TriggerCron, engine.TriggerOnce:
		if t.Late {
			return "scheduled, late"
		}
		return "scheduled"
	case engine.TriggerWatch:
		return plural(len(t.Files), "changed file", "changed files")
	case engine.TriggerOnImport:
		return "after an import"
	case engine.TriggerTool:
		return "by a model"
	}
	return string(t.Kind)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

// base is the last part of a vault name, folder the part before it.
func base(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

func folder(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i+1]
	}
	return ""
}
