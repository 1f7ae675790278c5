package statusnote

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/step"
)

// noteDay is how the status note writes a moment.
const noteDay = "Mon 2006-01-02 15:04"

// writeNote writes the text below the properties. It contains no current time, so it changes only with its content. Names and
// reasons come from files and services, so their markup is escaped.
func writeNote(o engine.Overview, zone *time.Location, workflowsDir string) string {
	var b strings.Builder
	list := func(head string, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(&b, "\n### %s\n\n", head)
		for _, line := range lines {
			fmt.Fprintf(&b, "- %s\n", line)
		}
	}
	link := func(workflow string) string { return wikiLink(workflowsDir+"/"+workflow, workflow) }
	about := func(r engine.RunBrief) string {
		return link(r.Subject) + plainText(strings.TrimPrefix(r.Title(), r.Subject))
	}
	if text := o.Reload.Text(); text != "" && !o.Reload.Over { // what lasts a moment would only write the note twice
		fmt.Fprintf(&b, "Settings: %s.\n", plainText(text))
	}
	if o.Trouble != "" {
		fmt.Fprintf(&b, "Trouble: %s.\n", plainText(o.Trouble))
	}
	fmt.Fprintf(&b, "Today: %s.\nThis month: %s.\n", words.Period(o.Day), words.Period(o.Month))
	var lines []string
	for _, r := range o.Approvals {
		lines = append(lines, words.Join(": ", wikiLink(workflowsDir+"/"+step.ApprovalsDir+"/"+r.Run, r.Subject)+plainText(strings.TrimPrefix(r.Title(), r.Subject)), plainText(r.Reason)))
	}
	list("Waiting for your approval", lines)
	lines = nil
	for _, f := range o.Waiting {
		lines = append(lines, words.Join(": ", wikiLink(f.Name, f.Name), words.State(f.State), plainText(f.Why(zone))))
	}
	for _, h := range o.Held {
		lines = append(lines, words.Join(": ", link(h.Workflow), plainText(engine.FileList(h.Files)), plainText(h.Why(zone))))
	}
	list("Files waiting", lines)
	lines = nil
	for _, p := range o.Paused {
		lines = append(lines, words.Join(": ", link(p.Workflow), plainText(p.Reason)))
	}
	list("Paused", lines)
	lines = nil
	for _, r := range o.Failures {
		subject := about(r)
		if r.Kind == engine.KindImport {
			subject = plainText(r.Subject)
		}
		lines = append(lines, words.Join(": ", subject, strings.ReplaceAll(string(r.Status), "_", " "), plainText(r.Reason))+
			fmt.Sprintf(" (run %s, %s)", r.Run, r.Since.In(zone).Format(noteDay)))
	}
	list("Failed", lines)
	lines = nil
	for _, r := range o.Omissions {
		lines = append(lines, words.Join(": ", about(r), plainText(r.Reason))+fmt.Sprintf(" (run %s, %s)", r.Run, r.Since.In(zone).Format(noteDay)))
	}
	list("Done, with something left out", lines)
	lines = nil
	for _, s := range o.Next {
		lines = append(lines, s.Slot.In(zone).Format(noteDay)+" "+link(s.Workflow))
	}
	list("Next", lines)
	lines = nil
	for _, s := range o.Last {
		lines = append(lines, s.Slot.In(zone).Format(noteDay)+" "+words.Join(": ", link(s.Workflow), plainText(words.Slot(s))))
	}
	list("Last", lines)
	return b.String()
}

// wikiLink is a link to a name of the vault, or the plain text when a link cannot hold the name.
func wikiLink(name, text string) string {
	if strings.ContainsAny(name+text, "[]|#^\n\r%") {
		return plainText(text)
	}
	if name == text {
		return "[[" + name + "]]"
	}
	return "[[" + name + "|" + text + "]]"
}

// command is one of our commands in backticks, as advice names it. A dataview plugin runs other code spans.
var command = regexp.MustCompile("`vaultflow [^`%]+`")

// plainText is a text on one line in which nothing but our commands is markup.
func plainText(text string) string {
	text = words.Shorten(text, words.MaxReason)
	var b strings.Builder
	for {
		span := command.FindStringIndex(text)
		if span == nil {
			return b.String() + escaped(text)
		}
		b.WriteString(escaped(text[:span[0]]) + text[span[0]:span[1]])
		text = text[span[1]:]
	}
}

func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_{}[]<>#|~$%^=!", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
