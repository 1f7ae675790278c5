package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/daemon/modelset"
	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/metered"
	"github.com/vaultflow/vaultflow/llm/transcription"
	"github.com/vaultflow/vaultflow/media"
	"github.com/vaultflow/vaultflow/step"
)

// transcriber returns the service that writes down what is said in recordings, or an error that explains why there is none.
func (r *Recognition) transcriber(by payer) func(s config.Audio) (ingestion.Transcriber, error) {
	return func(s config.Audio) (ingestion.Transcriber, error) {
		waits := r.settings.TranscriptionWaits()
		p, known := r.settings.Provider(s.Provider)
		switch {
		case r.trust.Untrusted():
			return nil, errors.New("this vault is not trusted yet, and recordings stay on this machine; trust it with `vaultflow trust`")
		case len(waits) > 0:
			return nil, fmt.Errorf("the service waits for your yes to %s; see `vaultflow trust`", strings.Join(waits, ", "))
		case s.Provider == "":
			return nil, errors.New("no service for it is named; name one in `ingestion.audio.provider`")
		case !known || !p.Transcribes():
			return nil, fmt.Errorf("the provider %s of ingestion.audio has no /audio/transcriptions", s.Provider)
		case p.Key == "" && (p.NeedsKey() || p.APIKeyEnv != ""):
			return nil, fmt.Errorf("the key of %s is missing: %s is not set", s.Provider, cmp.Or(p.APIKeyEnv, "its api_key_env"))
		}
		c, err := modelset.ConfigOf(s.Provider, p)
		if err != nil {
			return nil, err
		}
		set := r.settings.Ingestion.Audio
		c.Timeout, c.IdleTimeout = set.Timeout.Std(), set.Timeout.Std()
		client := transcription.New(transcription.Config{Config: c, Language: s.Language, PricePerMinute: set.PricePerMinute})
		speech := speechService{
			client: r.models.Gate(s.Provider, p).Wrap(client), patience: r.patience(s.Provider), by: by,
			is: step.Model{ID: s.Model, Alias: s.Provider}, perMinute: set.PricePerMinute, price: metered.Pricing{Dearest: r.models.Dearest()},
		}
		if p.OnThisMachine() {
			speech.price = metered.Pricing{Own: &cost.Price{}}
		}
		return speech, nil
	}
}

// speechService asks a service what is said in recordings.
type speechService struct {
	client    llm.Provider
	patience  llm.RetryPolicy
	price     metered.Pricing
	perMinute float64 // US dollars; 0: not known
	is        step.Model
	by        payer
}

var _ ingestion.Transcriber = speechService{}

// lowestRate is the rate of the longest recordings for their size, in bytes a second: speech in the narrowest usual form. It bounds
// what a request may cost.
const lowestRate = 2000

// Transcribe implements ingestion.Transcriber.
func (s speechService) Transcribe(ctx context.Context, recording []byte, mediaType string) (ingestion.Transcript, error) {
	if !transcription.Takes(mediaType) {
		return ingestion.Transcript{}, &llm.Error{Class: llm.ClassUnsupportedMedia, Provider: s.is.Alias, Message: "services take no recordings of the type " + mediaType + "; convert it to MP3"}
	}
	request := llm.Request{
		Model: s.is.ID, Media: media.Memory{Data: recording, MediaType: mediaType},
		Messages: []llm.Message{{Role: llm.User, Blocks: []content.Block{content.Audio{Name: "recording", MediaType: mediaType, Size: int64(len(recording)), Fallback: "[recording]"}}}},
	}
	whose, price := s.by.whose, s.price
	whose.Model = s.is.Alias
	if s.perMinute > 0 {
		price = metered.Pricing{PerCall: max(float64(len(recording))/lowestRate/60, 1) * s.perMinute}
	}
	paid := &metered.Provider{Client: s.client, Ledger: s.by.ledger, Whose: whose, Price: price, Meter: s.is.Meter(), Now: time.Now}
	defer paid.Close(ctx)
	answer, err := llm.Retry(paid, s.patience).Generate(ctx, request, nil)
	if err != nil {
		return ingestion.Transcript{}, err
	}
	segments, err := transcription.Segments(answer, s.is.ID)
	if err != nil {
		return ingestion.Transcript{}, err
	}
	return ingestion.Transcript{Text: answer.Text, Segments: segments, CostUSD: answer.Usage.CostUSD}, nil
}
