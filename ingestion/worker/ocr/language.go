package ocr

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/abadojack/whatlanggo"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// version is in which languages a page is read.
type version struct {
	languages []string
	auto      bool   // they are found out
	wanted    string // a language that the page seems to be written in, and that was not read
	missing   bool   // because its data is not installed
	unknown   int    // words of a page in an unknown language that no dictionary has
}

// choose returns the languages to read the next page in. For auto, that is the language of the page before: most documents have
// one.
func (r *Reader) choose(languages []string) (version, error) {
	v := version{languages: languages, auto: slices.Equal(languages, []string{extract.AutoLanguage})}
	if v.auto {
		v.languages = r.usual
	}
	if len(v.languages) == 0 {
		there := Languages(r.tessdata)
		if len(there) == 0 {
			return v, &extract.Error{Code: failure.Unsupported, Message: fmt.Sprintf("no language data is installed in %q", r.tessdata)}
		}
		v.languages = there[:1]
		if slices.Contains(there, "eng") {
			v.languages = []string{"eng"}
		}
	}
	return v, r.ready(v.languages)
}

// inLanguage reads a page that was made ready again in its own language, and as in a mirror, if that is better. It changes v to the language.
func (r *Reader) inLanguage(a attempt, v *version) (attempt, error) {
	first, better := *v, false
	var err error
	foreign := a.lies.Sure >= sureText && len(scripts[a.lies.Script]) > 0
	if !foreign {
		if a, _, err = r.mirrored(a, first); err != nil {
			return a, err
		}
	}
	if a, err = r.translate(a, v); err != nil || !foreign {
		return a, err
	}
	if a, better, err = r.mirrored(a, first); better { // mirrored Latin letters can pass for Cyrillic ones
		*v = first
		return r.translate(a, v)
	}
	return a, err
}

// translate reads a page again in the language that it seems to be written in, if that is another one: the script shows it for
// pages that cannot be read at all, the words for others. It changes v to that language.
func (r *Reader) translate(a attempt, v *version) (attempt, error) {
	there := Languages(r.tessdata)
	if a.mean < poor {
		if done, err := r.inOtherScript(&a, v, there); done || err != nil {
			return a, err
		}
	}
	text := textOf(a.words)
	language := guess(text, there)
	if language == "" || slices.Contains(v.languages, language) {
		if v.wanted == "" {
			v.foreign(a, there)
		}
		return a, nil
	}
	if v.wanted = language; !v.auto {
		return a, nil
	}
	err := r.again(&a, a, v, readable{})
	v.foreign(a, there)
	return a, err
}

// inOtherScript reads a page that cannot be read in a language of another script: of the one that the engine sees, or of each that is
// installed if there are too few letters to see one. It is done if nothing else is to be tried.
func (r *Reader) inOtherScript(a *attempt, v *version, there []string) (done bool, err error) {
	next := *a
	if a.lies.Sure >= sureWay {
		next.turn(a.lies.Turn)
	}
	languages := scripts[a.lies.Script]
	if a.lies.Sure < sureText || len(languages) == 0 {
		if noise := a.lies.Sure > 0 && a.lies.Sure < sureWay && !allInWords(a.page.Picture, a.words); noise || !v.auto || a.letters < fewest {
			return false, nil
		}
		for _, language := range otherScripts(there, v.languages) {
			v.wanted = language
			if err := r.again(a, next, v, readable{letters: fewest, mean: doubtful}); err != nil || slices.Contains(v.languages, language) {
				return true, err
			}
		}
		return false, nil
	}
	if slices.ContainsFunc(languages, func(l string) bool { return slices.Contains(v.languages, l) }) {
		return false, nil
	}
	at := slices.IndexFunc(languages, func(l string) bool { return slices.Contains(there, l) })
	if v.wanted, v.missing = languages[max(at, 0)], at < 0; v.missing || !v.auto {
		return true, nil
	}
	if err := r.again(a, next, v, readable{}); err != nil {
		return true, err
	}
	if at > 0 && a.mean < fluent { // a page in Japanese that was read as Chinese
		v.wanted, v.missing = languages[0], true
		return true, nil
	}
	return false, nil
}

// fewest is how many letters a text has at least that was read on trial, and fluent the confidence of a page in the right language.
const (
	fewest = 4
	fluent = 85
)

// otherScripts returns a language for each script that is installed and that none of some languages is written in.
func otherScripts(there, read []string) (out []string) {
	for _, script := range slices.Sorted(maps.Keys(scripts)) {
		within := func(l string) bool { return slices.Contains(scripts[script], l) }
		at := slices.IndexFunc(scripts[script], func(l string) bool { return slices.Contains(there, l) })
		if at >= 0 && !slices.ContainsFunc(read, within) && !slices.ContainsFunc(out, within) {
			out = append(out, scripts[script][at])
		}
	}
	return out[:min(len(out), mostScripts)]
}

// mostScripts bounds the time for pictures in which there is no text.
const mostScripts = 4

// readable is what another reading has to reach.
type readable struct {
	letters int
	mean    float64
}

// again reads a page in the language that is wanted, and keeps the better reading.
func (r *Reader) again(a *attempt, next attempt, v *version, least readable) (err error) {
	wanted := []string{v.wanted}
	if next.reading, err = r.recognise(next.page.Picture, wanted); err != nil {
		return err
	}
	v.wanted = ""
	if next.mean > max(a.mean, least.mean) && next.score > 0.8*a.score && next.letters >= least.letters {
		*a, v.languages, r.usual = next, wanted, wanted
	}
	return nil
}

// guess returns which of some languages a text is written in, or "" if that is not evident.
func guess(text string, among []string) string {
	only := map[whatlanggo.Lang]bool{}
	for _, name := range among {
		for code, language := range names() {
			if language == name {
				only[code] = true
			}
		}
	}
	if len(only) < 2 || lettersIn(text) < 40 {
		return ""
	}
	info := whatlanggo.DetectWithOptions(text, whatlanggo.Options{Whitelist: only})
	if !info.IsReliable() {
		return ""
	}
	return names()[info.Lang]
}

// foreign finds out whether a page is in a language that is not installed: the dictionaries of those that were read do not have its
// words. Marks that these languages lack are read as other letters, and with confidence.
func (v *version) foreign(a attempt, there []string) {
	if a.mean < poor || mayRunDown(v.languages) {
		return
	}
	all, known := 0, 0
	for _, w := range a.words {
		if word := strings.TrimFunc(w.Text, unicode.IsPunct); ordinary(word) {
			if all++; w.Known {
				known++
			}
		}
	}
	if all < fewestWords {
		if all >= fewestUnknown && known == 0 {
			v.unknown = all
		}
		return
	}
	text := textOf(a.words)
	info := whatlanggo.Detect(text)
	most := mostKnown
	if info.Confidence >= 0.95 && lettersIn(text) >= 200 {
		most = mostEvident
	}
	if known > most*all/10 {
		return
	}
	name, share, _ := doubt.Language(text)
	if share < frequentShare {
		name = ""
	}
	if name == "" && info.Confidence > 0.5 {
		name = names()[info.Lang]
	}
	switch {
	case name == "" && (all >= 2*fewestWords && known <= fewKnown*all/10 || known == 0):
		v.unknown = all - known
	case name != "" && !slices.Contains(there, name):
		v.wanted, v.missing = name, true
	}
}

// A page in the right language has nine of ten of its ordinary words in the dictionary, in another one fewer.
const (
	fewestWords   = 6
	fewestUnknown = 4 // words of a text in which the dictionary has none
	mostKnown     = 6 // of ten words
	mostEvident   = 8 // if the letters of a longer text show another language, as of German, whose short words English knows
	fewKnown      = 4 // if nothing shows the language
	frequentShare = 0.12
)

// ordinary reports whether a word has three small letters and more, and nothing else: names and abbreviations are in no dictionary.
func ordinary(word string) bool {
	n := 0
	for _, r := range word {
		if n++; !unicode.IsLower(r) {
			return false
		}
	}
	return n >= 3
}

func lettersIn(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// names are the languages that their words show, as Tesseract names them.
var names = sync.OnceValue(func() map[whatlanggo.Lang]string {
	other := map[string]string{ // ISO 639-3 and what Tesseract says
		"arb": "ara", "cmn": "chi_sim", "nob": "nor", "nno": "nor", "pes": "fas", "azj": "aze", "ydd": "yid", "kur": "kmr", "skr": "",
	}
	all := map[whatlanggo.Lang]string{}
	for code := range whatlanggo.Langs {
		name := code.Iso6393()
		if t, ok := other[name]; ok {
			name = t
		}
		all[code] = name
	}
	return all
})

// scripts are the languages that are written in a script as Tesseract names it, the most usual first. A few lines of Chinese pass for
// Japanese.
var scripts = map[string][]string{
	"Arabic": {"ara", "fas", "urd"}, "Armenian": {"hye"}, "Bengali": {"ben"}, "Cyrillic": {"rus", "ukr", "bul", "srp", "bel", "mkd"},
	"Devanagari": {"hin", "mar", "nep"}, "Ethiopic": {"amh"}, "Georgian": {"kat"}, "Greek": {"ell"}, "Gujarati": {"guj"}, "Gurmukhi": {"pan"},
	"Han": {"chi_sim", "chi_tra", "jpn"}, "Hangul": {"kor"}, "Hebrew": {"heb", "yid"}, "Hiragana": {"jpn", "chi_sim", "chi_tra"}, "Japanese": {"jpn", "chi_sim", "chi_tra"}, "Kannada": {"kan"},
	"Katakana": {"jpn", "chi_sim", "chi_tra"}, "Khmer": {"khm"}, "Korean": {"kor"}, "Lao": {"lao"}, "Malayalam": {"mal"}, "Myanmar": {"mya"}, "Sinhala": {"sin"},
	"Tamil": {"tam"}, "Telugu": {"tel"}, "Thai": {"tha"}, "Tibetan": {"bod"},
}

// advice is for the user of a page in a language that was not read.
func (v version) advice() string {
	switch {
	case v.unknown > 0:
		return fmt.Sprintf("%d words are in no dictionary of %s; if it is written in another language, install tesseract-ocr-NAME", v.unknown, strings.Join(v.languages, ", "))
	case v.wanted == "":
		return ""
	case v.missing:
		return fmt.Sprintf("it seems to be written in the language %s, which is not installed: install tesseract-ocr-%s", v.wanted, strings.ReplaceAll(v.wanted, "_", "-"))
	}
	return fmt.Sprintf("it seems to be written in the language %s: add that to ingestion.ocr.languages, or write auto there", v.wanted)
}
