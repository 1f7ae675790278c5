package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Medium is a kind of what a message holds besides text. The words are those of the content blocks.
type Medium string

// The media.
const (
	Image    Medium = "image"
	Document Medium = "document"
	Audio    Medium = "audio"
	Video    Medium = "video"
)

// Media lists the kinds in the order in which they are shown.
func Media() []Medium { return []Medium{Image, Document, Audio, Video} }

// needs is what a model must have to take a medium.
var needs = map[Medium]Capability{Image: Vision, Document: PDF, Audio: AudioInput, Video: VideoInput}

// Place is where a medium goes.
type Place string

// The places.
const (
	In      Place = "in"      // inside the tool's result; of a prompt: in the user's turn, where it stands
	Beside  Place = "beside"  // in the same turn of the user, behind all results
	After   Place = "after"   // in a turn of the user's own, behind all results
	Convert Place = "convert" // its text, or pictures of a document's pages
	Refuse  Place = "refuse"  // nowhere: an error before any request
)

// Delivery is where the media of a request go to a model of a provider, and in which shape the results of tools stand. It
// is a value: its methods return others and change nothing.
type Delivery struct {
	Provider  string // as it was looked up
	Model     string
	Places    map[Medium]Place    // of media in tool results
	Formats   map[Medium][]string // short names (png, pdf, wav, mov) of the files that go as they are
	MaxImages int                 // that one request takes; 0: not published
	Alone     bool                // results stand alone in their turn
	Bridge    string              // what an assistant's turn says between results and the user's next turn; "": there is none
	Apart     bool                // media in a result stand behind its text, which names them in their place
	JSON      bool                // a result's text goes as a JSON value
	Source    string
	Checked   string

	why map[Medium]string // why a medium is converted although the table has another place for it
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

// DeliveryOf looks a model of a provider up. provider is its name as the tables know it; one that they do not know is
// treated as a compatible server.
func DeliveryOf(provider, model string) Delivery {
	provider = strings.ToLower(provider)
	rows := deliveryRows()
	i := slices.IndexFunc(rows, func(r deliveryRow) bool { return r.fits(provider, model) })
	row := rows[i] // the last row fits everything, which a test looks at
	d := Delivery{
		Provider: provider, Model: model, Formats: map[Medium][]string{},
		Places: map[Medium]Place{Image: row.Image, Document: row.Document, Audio: row.Audio, Video: row.Video},
		Alone:  row.Alone, Bridge: row.Bridge, Apart: row.Apart, JSON: row.JSON, Source: row.Source, Checked: row.Checked,
	}
	maps.Copy(d.Formats, row.Formats)
	limits := Limits(provider, model)
	if d.MaxImages, d.Formats[Image] = limits.MaxImages, limits.Formats; len(limits.Formats) == 0 {
		d.Formats[Image] = []string{"png", "jpeg"}
	}
	return d
}

// For is the delivery to a model that has these capabilities: what it lacks is converted. What the service refuses stays
// refused.
func (d Delivery) For(caps Capabilities) Delivery {
	for _, m := range Media() {
		if !caps.Has(needs[m]) {
			d = d.converting(m, fmt.Sprintf("the model has no %s (%s)", needs[m], caps[needs[m]].From))
		}
	}
	return d
}

// Without is the delivery with kinds of media converted that were sent and, it seems, not seen.
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

// Place says where a medium goes, and why in words. inResult is whether it stands in a tool's result or in a prompt.
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
		return In, "in the user's turn, where it stands"
	}
	return p, placeWords[p]
}

var placeWords = map[Place]string{
	In:     "inside the tool's result",
	Beside: "beside the tool results, in the same turn",
	After:  "in a turn of its own behind all tool results",
}
