package ingestion

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
	"github.com/vaultflow/vaultflow/ingestion/sound"
)

// Transcriber writes down what is said in a recording, with a service. It repeats requests itself as often as makes sense; a retryable
// failure means that the service is not available now.
type Transcriber interface {
	Transcribe(ctx context.Context, recording []byte, mediaType string) (Transcript, error)
}

// Transcript is what a service heard. It is untrusted.
type Transcript struct {
	Text     string            `json:"text"`
	Segments []sound.Utterance `json:"segments,omitempty"`
	CostUSD  float64           `json:"cost_usd,omitempty"` // 0 if no price is known
}

// Limits of what is taken of an answer.
const (
	maxTranscript = 8 << 20 // bytes of text
	maxUtterances = 100_000
)

// recording writes down what is said in a recording. One that is too long for a service is sent in parts.
type recording struct{}

func (recording) name() string { return "audio" }

func (recording) extract(ctx context.Context, w *work) error {
	rec, known, err := w.store.document()
	if err != nil || known && rec.Message != "" {
		return err
	}
	if known {
		if _, ok, err := w.store.page(1); err != nil || ok {
			return err
		}
	}
	set := w.set.Audio
	service, why := w.transcriber()
	if set.Provider == "" {
		return keepRecording(ctx, w, "What is said in it was not written down: "+why.Error()+". Then drop the file again.")
	}
	file, size, err := w.im.open(w.job.at())
	if err != nil {
		return fault.Storage("open "+w.job.at(), err)
	}
	defer file.Close()
	parts, err := sound.Cut(file, size, set.MaxBytes)
	if errors.Is(err, sound.ErrWhole) {
		return keepRecording(ctx, w, fmt.Sprintf("What is said in it was not written down: it has %s, the service takes %s at once, and only WAV and MP3 can be sent in parts. "+
			"Convert or split it, or raise `ingestion.audio.max_request`, then drop the file again.", markdown.Size(size), markdown.Size(set.MaxBytes)))
	}
	if err != nil {
		return fault.Storage("read "+w.job.at(), err)
	}
	if why != nil {
		return fault.Permanent(failure.Provider, "correct the settings, then retry the import", "what is said in it cannot be written down: %v", why)
	}
	var heard Transcript
	for i, p := range parts {
		data, err := p.Read(file)
		if err != nil {
			return fault.Storage("read "+w.job.at(), err)
		}
		got, err := transcript(ctx, w, service, data)
		if err != nil {
			return notHeard(ctx, err, i+1, len(parts))
		}
		heard.add(got, p.Start)
	}
	return writeDown(ctx, w, heard)
}

// errNoTranscriber is why recordings stay without their text by default.
var errNoTranscriber = errors.New("no service for it is named; name one in `ingestion.audio.provider`")

// transcriber returns the service, or why there is none. Without a provider there is always a reason.
func (w *work) transcriber() (Transcriber, error) {
	if w.im.Transcriber == nil {
		return nil, errNoTranscriber
	}
	service, err := w.im.Transcriber(w.set.Audio)
	if err == nil && w.set.Audio.Provider == "" {
		err = errNoTranscriber
	}
	return service, err
}

// keepRecording keeps the file without its text, with the reason in its note.
func keepRecording(ctx context.Context, w *work, why string) error {
	rec := w.store.begin(manifest.Document{})
	rec.Message = why + " The original is kept unchanged."
	return save(ctx, w.store.records, documentName, rec)
}

// notHeard is the error of an import whose recording a service did not write down. What it wrote before is kept.
func notHeard(ctx context.Context, err error, part, of int) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if known := (*fault.Error)(nil); errors.As(err, &known) {
		return err // the vault failed, not the service
	}
	what := "what is said in it could not be written down"
	if of > 1 {
		what += fmt.Sprintf(" (part %d of %d)", part, of)
	}
	why := failure.Of(err)
	remedy := cmp.Or(why.Hint, "check ingestion.audio in settings.yaml, then retry the import")
	if why.Retryable {
		remedy = "wait; the import resumes by itself, and parts that were written down are not paid again"
	}
	return &fault.Error{Code: why.Code, Message: what + ": " + markdown.OneLine(err.Error(), 300), Remedy: remedy, Transient: why.Retryable, Exhausted: true}
}

// transcript returns a service's answer for a part: the stored one, or a new one, which it stores at once.
func transcript(ctx context.Context, w *work, service Transcriber, data []byte) (Transcript, error) {
	set := w.set.Audio
	name := "speech_" + digest([]byte(strings.Join([]string{digest(data), set.Provider, set.Model, set.Language}, "\n")))[:32] + ".json"
	var kept Transcript
	if stored, err := fs.ReadFile(w.store.records.FS(), name); err == nil && len(stored) <= maxReadingRecord && json.Unmarshal(stored, &kept) == nil {
		return kept, nil
	}
	got, err := service.Transcribe(ctx, data, w.job.Route.MediaType)
	if err != nil {
		return Transcript{}, err
	}
	if len(got.Text) > maxTranscript {
		got.Text, got.Segments = strings.ToValidUTF8(got.Text[:maxTranscript], ""), nil
	}
	got.Segments = got.Segments[:min(len(got.Segments), maxUtterances)]
	// The money is spent, so the answer is kept even if the import is being cancelled.
	return got, save(context.WithoutCancel(ctx), w.store.records, name, got)
}

// add appends what was said in a part that begins at a time.
func (t *Transcript) add(part Transcript, start float64) {
	t.CostUSD += part.CostUSD
	if len(part.Segments) == 0 && strings.TrimSpace(part.Text) != "" {
		part.Segments = []sound.Utterance{{Text: part.Text, End: -1}}
	}
	for _, u := range part.Segments {
		if u.Start += start; u.End >= 0 {
			u.End += start
		}
		t.Segments = append(t.Segments, u)
	}
	t.Text = strings.TrimSpace(t.Text + "\n\n" + strings.TrimSpace(part.Text))
}

// A paragraph of a transcript ends with a pause, or after a while. Times are in seconds.
const (
	pause         = 2
	longParagraph = 60
)

// paragraphs returns the text in paragraphs, each behind the time when it begins. Without times it is the text alone.
func (t Transcript) paragraphs() string {
	timed := false
	for _, u := range t.Segments {
		timed = timed || u.End > 0 || u.Start > 0
	}
	if !timed {
		return t.Text
	}
	var b strings.Builder
	begun, ended := 0.0, 0.0
	for i, u := range t.Segments {
		if i == 0 || u.Start-ended >= pause || u.Start-begun >= longParagraph || u.End < 0 {
			if i > 0 {
				b.WriteString("\n\n")
			}
			begun = u.Start
			b.WriteString(clock(begun) + " ")
		} else {
			b.WriteString(" ")
		}
		ended = max(u.End, u.Start)
		b.WriteString(strings.Join(strings.Fields(u.Text), " "))
	}
	return b.String()
}

// clock prints a time: 0:09, 1:05, 1:02:05.
func clock(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second)).Truncate(time.Second)
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	if h > 0 {
		return fmt.Sprintf("%d:%02d:%02d", h, m, s)
	}
	return fmt.Sprintf("%d:%02d", m, s)
}

// writeDown writes the records and the text.
func writeDown(ctx context.Context, w *work, heard Transcript) error {
	rec := w.store.begin(manifest.Document{Pages: 1})
	if err := save(ctx, w.store.records, documentName, rec); err != nil {
		return err
	}
	if _, err := w.store.missing(1); err != nil {
		return err
	}
	set := w.set.Audio
	p := manifest.Page{N: 1, Status: manifest.PageDone, Text: &manifest.PageText{Source: manifest.TextNone}, OCR: &manifest.PageOCR{
		Decided: true, Code: "recording", Reason: "recording: a service writes down what is said",
		Engine: markdown.OneLine(set.Provider+" "+set.Model, 100), Service: true, CostUSD: heard.CostUSD,
	}}
	if text := markdown.Sanitise(markdown.FromOCR(heard.paragraphs())); strings.TrimSpace(text) != "" {
		if err := (pageFiles{w: w}).keepText(ctx, &p, text, manifest.TextSpeech); err != nil {
			return err
		}
	}
	return w.store.finish(ctx, p)
}
