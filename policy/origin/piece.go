package origin

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Piece is the digest of a sentence, or of a line without full stops, in a form that does not change when it is indented,
// quoted, numbered, emphasised or wrapped in another place.
type Piece int64

// What makes a piece count. A letter of a script that writes words with one or two characters counts as three.
const (
	// minWeight is the shortest recognized sentence, in letters and digits. Shorter ones are headings, greetings, table cells
	// and dates, which everybody's notes contain.
	minWeight = 24
	// enough is how much of a text must be foreign for the whole to count as foreign: one sentence of about eight words, or
	// two short ones. A single short sentence is too often equal by chance.
	enough = 48
	// maxPieces is how many pieces of one file are kept: those with the smallest digests, so that two copies of a part keep
	// the same ones. A book of 500 pages has about ten thousand sentences; a copied page still contains several kept ones.
	maxPieces = 4000
	// run is how many consecutive words of a changed sentence are recognized: fewer could be idioms.
	run = 8
	// maxShort is the longest text, in sentences, whose runs of words count. A longer one has too many runs, and usually some
	// unchanged sentence.
	maxShort = 16
	// maxRuns is how many runs of one sentence count, from its start: a table or a program may have no full stop.
	maxRuns = 64
)

// sentence is a piece with its place.
type sentence struct {
	piece  Piece
	line   int // counted from 1
	weight int
	runs   []Piece // of run consecutive words each; only for sentences that are enough by themselves, in a short text
}

// sentences splits a text. It returns nil for bytes that are not text.
func sentences(text []byte) []sentence {
	if bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) {
		return nil
	}
	var list []sentence
	line := 0
	for len(text) > 0 {
		var raw []byte
		raw, text, _ = bytes.Cut(text, []byte("\n"))
		line++
		if len(raw) < minWeight/3 {
			continue
		}
		for part := range split(string(norm.NFKD.Bytes(raw))) {
			if bare, weight := normalise(part); weight >= minWeight {
				s := sentence{piece: digest(bare), line: line, weight: weight}
				if weight >= enough && len(list) < maxShort {
					s.runs = runsOf(part)
				}
				list = append(list, s)
			}
		}
	}
	if len(list) > maxShort {
		for i := range maxShort {
			list[i].runs = nil
		}
	}
	return list
}

// runsOf returns the runs of words of a sentence.
func runsOf(part string) []Piece {
	var words []string
	for word := range strings.FieldsSeq(part) {
		if len(words) == maxRuns+run-1 {
			break
		}
		if bare, _ := normalise(word); bare != "" {
			words = append(words, bare)
		}
	}
	var list []Piece
	for i := run; i <= len(words); i++ {
		list = append(list, digest(strings.Join(words[i-run:i], " ")))
	}
	return list
}

// distinct returns the distinct pieces and runs of sentences, sorted.
func distinct(all []sentence) []Piece {
	var list []Piece
	for _, s := range all {
		list = append(append(list, s.piece), s.runs...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// split yields the sentences of a line.
func split(line string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		from, ends := 0, false
		for i, c := range line {
			if ends && (unicode.IsSpace(c) || wide(c)) {
				if !yield(line[from:i]) {
					return
				}
				from = i
			}
			ends = strings.ContainsRune(".!?:;。！？：；", c)
		}
		yield(line[from:])
	}
}

// normalise returns the letters and digits of a decomposed text in lower case.
func normalise(part string) (bare string, weight int) {
	var b strings.Builder
	for _, c := range part {
		switch {
		case wide(c):
			weight += 3
		case unicode.IsLetter(c) || unicode.IsDigit(c):
			weight++
		default:
			continue
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String(), weight
}

// wide reports whether a character belongs to a script that writes a word with one or two of them.
func wide(c rune) bool {
	return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func digest(bare string) Piece {
	sum := sha256.Sum256([]byte(bare))
	return Piece(binary.BigEndian.Uint64(sum[:8]) >> 1)
}

// Pieces returns the distinct pieces of a text that are worth keeping.
func Pieces(text []byte) []Piece {
	return worthKeeping(sentences(text))
}

func worthKeeping(all []sentence) []Piece {
	list := distinct(all)
	return list[:min(len(list), maxPieces)]
}

// Added returns the pieces of a text that the earlier text it builds on does not have. A sentence that was kept adds none of
// its runs.
func Added(before, after []byte) []Piece {
	had := map[Piece]bool{}
	for _, p := range distinct(sentences(before)) {
		had[p] = true
	}
	fresh := slices.DeleteFunc(sentences(after), func(s sentence) bool { return had[s.piece] })
	return slices.DeleteFunc(worthKeeping(fresh), func(p Piece) bool { return had[p] })
}

// keepsLines reports whether any line of a text that holds a letter or digit is also in another.
func keepsLines(before, after []byte) bool {
	lines := map[string]bool{}
	for line := range bytes.Lines(before) {
		if bare, _ := normalise(string(norm.NFKD.Bytes(line))); bare != "" {
			lines[bare] = true
		}
	}
	for line := range bytes.Lines(after) {
		if bare, _ := normalise(string(norm.NFKD.Bytes(line))); lines[bare] {
			return true
		}
	}
	return false
}

// Span is a range of lines that comes from somewhere else.
type Span struct {
	First   int      `json:"first"` // counted from 1
	Last    int      `json:"last"`
	Origins []string `json:"origins"`
}

// match finds foreign sentences. weight is their total; a repeated sentence counts once.
func match(text []sentence, known map[Piece]Record) (spans []Span, weight int) {
	counted := map[Piece]bool{}
	for _, s := range text {
		r := known[s.piece]
		if i := slices.IndexFunc(s.runs, func(p Piece) bool { return known[p].Foreign() }); !r.Known && i >= 0 {
			r = known[s.runs[i]] // some of its words were changed
		}
		if !r.Foreign() {
			continue
		}
		if !counted[s.piece] {
			counted[s.piece], weight = true, weight+s.weight
		}
		if n := len(spans) - 1; n >= 0 && s.line <= spans[n].Last+2 && slices.Equal(spans[n].Origins, r.Origins) {
			spans[n].Last = s.line
			continue
		}
		spans = append(spans, Span{s.line, s.line, r.Origins})
	}
	return spans, weight
}
