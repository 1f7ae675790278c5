package ocr

import (
	"image"
	"slices"
)

// part is a run of paragraphs of a page that seem to be written in one language.
type part struct {
	begin, end int             // of its words
	box        image.Rectangle // around them
	language   string          // "" if it is that of the page, or nobody knows
	unread     bool            // its letters could not be read: it may be in another script
}

// translateParts reads paragraphs again that are written in another language than most of the page, each in its own. It adds the languages
// to those of the page.
func (r *Reader) translateParts(a attempt, v *version) (attempt, error) {
	if !v.auto || facing(a.words) != 0 {
		return a, nil
	}
	there := Languages(r.tessdata)
	if len(there) < 2 {
		return a, nil
	}
	parts := partsOf(a.words, v.languages[0], there)
	languages := slices.Clone(v.languages)
	for _, p := range slices.Backward(parts) { // words before it keep their places
		words, language, err := r.readPart(a, p, there, v)
		if err != nil {
			return a, err
		}
		if words == nil {
			continue
		}
		a.reading = readingOf(slices.Concat(a.words[:p.begin], words, a.words[p.end:]))
		if !slices.Contains(languages, language) {
			languages = append(languages, language)
		}
	}
	v.languages = languages
	return a, nil
}

// partsOf returns the parts of a page that may be in another language than its own.
func partsOf(words []Word, own string, there []string) (parts []part) {
	for begin := 0; begin < len(words); {
		p := part{begin: begin, end: begin}
		for p.end < len(words) && words[p.end].Block == words[begin].Block && words[p.end].Paragraph == words[begin].Paragraph {
			p.box = p.box.Union(words[p.end].Rect)
			p.end++
		}
		begin = p.end
		read := readingOf(words[p.begin:p.end])
		text := textOf(read.words)
		switch {
		case read.mean < poor:
			p.unread = 2*lettersIn(text) > read.letters && inLetters(read.words)
		default:
			p.language = guess(text, there)
		}
		if p.language == own {
			p.language = ""
		}
		if last := len(parts) - 1; last >= 0 && parts[last].joins(p, words) {
			parts[last].end, parts[last].box = p.end, parts[last].box.Union(p.box)
			continue
		}
		parts = append(parts, p)
	}
	return slices.DeleteFunc(parts, func(p part) bool {
		_, letters := score(words[p.begin:p.end])
		whole := p.end-p.begin == len(words) // which was tried
		return whole || p.language == "" && !p.unread || letters < fewestInPart || p.crosses(words)
	})
}

// fewestInPart is how many letters a part has at least that is read again.
const fewestInPart = 12

// joins reports whether paragraphs that follow one another can be read together: they are of one kind, and nothing else is between them.
func (p part) joins(next part, words []Word) bool {
	both := part{begin: p.begin, end: next.end, box: p.box.Union(next.box)}
	return p.language == next.language && p.unread == next.unread && (p.unread || p.language != "") && !both.crosses(words)
}

// crosses reports whether words of other parts are in its box: it cannot be cut out.
func (p part) crosses(words []Word) bool {
	for i, w := range words {
		if (i < p.begin || i >= p.end) && !w.Rect.Intersect(p.box).Empty() {
			return true
		}
	}
	return false
}

// readPart reads a part in its language, and returns its words, or none if that is no better.
func (r *Reader) readPart(a attempt, p part, there []string, v *version) ([]Word, string, error) {
	space := usualWord(a.words[p.begin:p.end])
	box := p.box.Inset(-space / 2).Intersect(a.page.Picture.Rect)
	cut, _ := a.page.Picture.SubImage(box).(*image.Gray) // it always is one
	language := p.language
	if p.unread {
		if language = r.scriptOf(cut, there, v); language == "" {
			return nil, "", nil
		}
	}
	if err := r.ready([]string{language}); err != nil {
		return nil, "", err
	}
	read, err := r.recognise(cut, []string{language})
	before := readingOf(a.words[p.begin:p.end])
	if err != nil || read.mean <= before.mean || read.score < 0.8*before.score || p.unread && read.mean < doubtful {
		return nil, "", err
	}
	return within(read.words, a.words[p.begin], box.Min), language, nil
}

// scriptOf returns the language of the script that a picture shows, if it is another one than that of the page.
func (r *Reader) scriptOf(img *image.Gray, there []string, v *version) string {
	o, ok := r.engine.Orient(img)
	languages := scripts[o.Script]
	if !ok || o.Sure < sureText || o.Turn != 0 || len(languages) == 0 {
		return ""
	}
	at := slices.IndexFunc(languages, func(l string) bool { return slices.Contains(there, l) })
	if at < 0 {
		v.wanted, v.missing = languages[0], true
		return ""
	}
	if slices.Contains(v.languages, languages[at]) {
		return ""
	}
	return languages[at]
}

// within returns words of a part as blocks of the page, at the place of the part.
func within(words []Word, first Word, at image.Point) []Word {
	out := make([]Word, len(words))
	for i, w := range words {
		w.Rect = w.Rect.Add(at)
		w.Block += (first.Block + 1) << 12 // no other block has this number
		out[i] = w
	}
	return out
}

// inLetters reports whether words that could not be read may be letters of another script: digits are those of any script, and words that run
// down are columns of them.
func inLetters(words []Word) bool {
	other := 0
	for _, w := range words {
		if hasDigit(w.Text) || w.Rect.Dy() > w.Rect.Dx() {
			other++
		}
	}
	return 4*other <= len(words)
}
