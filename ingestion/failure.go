package ingestion

import (
	"context"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/indexnote"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// explain writes the note about a failed import: why, and what to do. Writing it again changes nothing.
func (f filing) explain(ctx context.Context, original string, e Ending) (string, error) {
	name := original + indexnote.FailedSuffix
	if f.w.job.Route.MediaType == "" { // the engine names the file, its bytes and the bundle alone
		if file, size, err := f.w.im.open(original); err == nil {
			f.w.job.Route, err = routeOf(f.w.job, file, size)
			file.Close()
			if err != nil {
				return "", fault.Storage("read "+original, err)
			}
		}
	}
	data := []byte(f.failureNote(path.Base(original), e))
	base := ""
	if old, sum, err := f.w.im.Files.Read(name, recordBytes); err == nil {
		if string(old) == string(data) {
			return name, nil
		}
		base = sum
	}
	return name, fault.Storage("write "+name, f.w.im.Files.Write(ctx, name, data, base))
}

func (f filing) failureNote(original string, e Ending) string {
	var b strings.Builder
	line := func(s string) { b.WriteString(s + "\n") }
	heading := "could not be imported"
	if e.State == StateNeedsPassword {
		heading = "needs a password"
	}
	line(indexnote.Begin)
	line("# " + markdown.Inline(original) + " " + heading)
	line("")
	line("[[./" + original + "]] is unchanged.")
	line("")
	line("- why: " + markdown.Inline(orElse(e.Message, "no reason is known")))
	line("- what to do: " + orElse(markdown.Inline(e.Hint), "try again with `vaultflow import --retry "+f.w.job.ID+"`"))
	if e.Hint != "" {
		line("- then: put the file back into the import folder, or `vaultflow import --retry " + f.w.job.ID + "`; this note goes away when it is imported")
	}
	line("- code: " + markdown.Inline(orElse(string(e.Code), string(e.State))))
	line("- arrived as: " + markdown.Inline(f.w.job.Source))
	line("- type: " + markdown.Inline(orElse(f.w.job.Route.MediaType, "not looked at")))
	if !f.w.job.At.IsZero() {
		line("- tried: " + f.w.job.At.Format("2 January 2006, 15:04"))
	}
	line("- import: " + markdown.Inline(f.w.job.ID))
	line("- sha256: " + markdown.Inline(f.w.job.SHA256))
	line(indexnote.End)
	return b.String()
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
