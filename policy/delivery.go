package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Medium is a kind of message content other than text, in the words of the content blocks.
type Medium string

// The media.
const (
	Image    Medium = "image"
	Document Medium = "document"
	Audio    Medium = "audio"
	Video    Medium = "video"
)

// Media lists the kinds in display order.
func Media() []Medium { return []Medium{Image, Document, Audio, Video} }

// needs holds the capability that a medium requires.
var needs = map[Medium]Capability{Image: Vision, Document: PDF, Audio: AudioInput, Video: VideoInput}

// Place is where a medium goes.
type Place string

// The places.
const (
	In      Place = "in"      // inside the tool result; for a prompt, in place in the user's turn
	Beside  Place = "beside"  // in the same user turn, after all results
	After   Place = "after"   // in a separate user turn, after all results
	Convert Place = "convert" // its text, or pictures of a document's pages
	Refuse  Place = "refuse"  // nowhere: an error before any request
)

// Delivery is where media go in a request to a provider's model, and the form of tool results. It is a value: its methods
// return new ones and change nothing.
type Delivery struct {
	Provider  string // the name that was looked up
	Model     string
	Places    map[Medium]Place    // of media in tool results
	Formats   map[Medium][]string // short names (png, pdf, wav, mov) of files sent as they are
	MaxImages int                 // accepted in one request; 0: not published
	Alone     bool                // results have a turn of their own
	Bridge    string              // text of an assistant turn between results and the next user turn; "": none
	Apart     bool                // media in a result follow its text, which names them in place
	JSON      bool                // a result's text is sent as a JSON value
	Source    string
	Checked   string

	why map[Medium]string // why a medium is converted although the table places it elsewhere
}

// deliveryRow is a row of delivery.yaml.
type deliveryRow struct {
	match    `yaml:",inline"`
	Image    Place               `yaml:"image"`
	Document Place               `yaml:"document"`
	Audio    Place               `yaml:"audio"`
	Video    Place               `yaml:"video"`
	Formats  map[Medium][]string `yaml:"formats"`
	Alone    bool                `yaml:"alone"`
	Bridge   string              `yaml:"bridge"`
	Apart    bool                `yaml:"apart"`
	JSON     bool                `yaml:"json"`
}

// DeliveryOf looks up a provider's model. provider is its name in the tables; an unknown one is treated as a compatible
// server.
func DeliveryOf(provider, model string) Delivery {
	provider = strings.ToLower(provider)
	rows := deliveryRows()
	i := slices.IndexFunc(rows, func(r deliveryRow) bool { return r.fits(provider, model) })
	row := rows[i] // the last row matches everything, which a test checks
	d := Delivery{
		Provider: provider, Model: model, Formats: map[Medium][]string{},
		Places: map[Medium]Place{Image: row.Image, Document: row.Document, Audio: row.Audio, Video: row.Video},
		Alone:  row.Alone, Bridge: row.Bridge, Apart: row.Apart, JSON: row.JSON, Source: row.Source, Checked: row.Checked,
	}
	maps.Copy(d.Formats, row.Formats)
	limits := Limits(provider, model)
	d.MaxImages, d.Formats[Image] = limits.MaxImages, limits.Formats
	return d
}

// For returns the delivery to a model with these capabilities: media it cannot read are converted. What the service refuses
// remains refused.
func (d Delivery) For(caps Capabilities) Delivery {
	for _, m := range Media() {
		if !caps.Has(needs[m]) {
			d = d.converting(m, fmt.Sprintf("the model has no %s (%s)", needs[m], caps[needs[m]].From))
		}
	}
	return d
}

// Without returns the delivery with kinds of media converted that the model seems not to have seen.
func (d Delivery) Without(media ...Medium) Delivery {
	for _, m := range media {
		d = d.converting(m, "the model seems not to have seen it")
	}
	return d
}

func (d Delivery) converting(m Medium, why string) Delivery {
	if p := d.Places[m]; p == Refuse || p == Convert {
		return d
	}
	d.Places, d.why = maps.Clone(d.Places), maps.Clone(d.why)
	if d.why == nil {
		d.why = map[Medium]string{}
	}
	d.Places[m], d.why[m] = Convert, why
	return d
}

// Place returns where a medium goes, and why. inResult is true for a tool result, false for a prompt.
func (d Delivery) Place(m Medium, inResult bool) (p Place, why string) {
	p, why = d.Places[m], d.why[m]
	switch {
	case why != "":
		return p, why
	case p == Refuse:
		return p, fmt.Sprintf("%s takes no %s", d.Provider, m)
	case p == Convert:
		return p, fmt.Sprintf("%s takes no %s as a file", d.Provider, m)
	case len(d.Formats[m]) == 0:
		return Convert, fmt.Sprintf("%s takes no %s within a request", d.Provider, m)
	case !inResult:
		return In, "in place in the user's turn"
	}
	return p, placeWords[p]
}

var placeWords = map[Place]string{
	In:     "inside the tool's result",
	Beside: "beside the tool results, in the same turn",
	After:  "in a turn of its own after all tool results",
}
