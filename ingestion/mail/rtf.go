package mail

import (
	"encoding/binary"
	"errors"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"github.com/vaultflow/vaultflow/ingestion/script"
)

// rtfStart is what the dictionary of compressed RTF begins with ([MS-OXRTFCP] 2.1.2.1).
const rtfStart = `{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0` + "\r\n" + `\par \pard\plain\f0\fs20\b\i\u\tab\tx`

// unpackRTF unpacks RTF as Outlook keeps it ([MS-OXRTFCP]).
func unpackRTF(data []byte) (string, error) {
	if len(data) < 16 {
		return "", errors.New("it ends early")
	}
	size := int(min(binary.LittleEndian.Uint32(data[4:]), maxText))
	switch binary.LittleEndian.Uint32(data[8:]) {
	case 0x414C454D: // not compressed
		return string(data[16:min(len(data), 16+size)]), nil
	case 0x75465A4C:
	default:
		return "", errors.New("it is not RTF")
	}
	window := make([]byte, 4096)
	at := copy(window, rtfStart)
	var out []byte
	put := func(c byte) {
		window[at] = c
		at = (at + 1) % len(window)
		out = append(out, c)
	}
	in := data[16:]
	for len(in) > 0 && len(out) < size {
		flags := in[0]
		in = in[1:]
		for bit := 0; bit < 8 && len(in) > 0 && len(out) < size; bit++ {
			if flags&(1<<bit) == 0 {
				put(in[0])
				in = in[1:]
				continue
			}
			if len(in) < 2 {
				return string(out), nil
			}
			from, length := int(in[0])<<4|int(in[1])>>4, int(in[1]&15)+2
			in = in[2:]
			if from == at {
				return string(out), nil
			}
			for i := range length {
				put(window[(from+i)%len(window)])
			}
		}
	}
	return string(out), nil
}

// silent are the groups of RTF that hold no text of the document.
var silent = map[string]bool{"fonttbl": true, "colortbl": true, "stylesheet": true, "info": true, "pict": true, "object": true, "header": true, "footer": true, "themedata": true, "datastore": true, "generator": true}

// rtfState is what a group of RTF inherits and restores.
type rtfState struct {
	silent  bool
	skip    int // characters that follow a character of Unicode, for programs that do not know it
	leftOut bool
	raised  int // above 0 raised, below 0 lowered
}

// plainRTF returns the text of RTF.
func plainRTF(s string) string {
	var b, run strings.Builder // run is text at one height, which b does not have yet
	state, height := rtfState{skip: 1}, 0
	var stack []rtfState
	flush := func() {
		switch text := run.String(); {
		case height > 0:
			b.WriteString(script.Raised(b.String(), text))
		case height < 0:
			b.WriteString(script.Lowered(b.String(), text))
		default:
			b.WriteString(text)
		}
		run.Reset()
	}
	write := func(text string) {
		if state.silent || state.leftOut {
			return
		}
		if state.raised != height {
			flush()
			height = state.raised
		}
		run.WriteString(text)
	}
	skip := 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '{':
			if len(stack) > 500 {
				flush()
				return b.String()
			}
			stack = append(stack, state)
			i++
		case c == '}':
			if len(stack) > 0 {
				state, stack = stack[len(stack)-1], stack[:len(stack)-1]
			}
			i++
		case c == '\\':
			word, number, next := rtfWord(s[i+1:])
			i += 1 + next
			switch {
			case word == "'":
				if skip > 0 {
					skip--
				} else {
					write(string(charmap.Windows1252.DecodeByte(byte(number))))
				}
			case word == "u":
				write(string(rune(uint16(number)))) // the sixteen bits are signed
				skip = state.skip
			default:
				state.apply(word, number, write)
			}
		case c == '\r' || c == '\n':
			i++
		case skip > 0:
			skip--
			i++
		default:
			write(s[i : i+1])
			i++
		}
	}
	flush()
	return strings.ToValidUTF8(b.String(), "")
}

// apply follows a control word.
func (r *rtfState) apply(word string, number int, write func(string)) {
	switch word {
	case "par", "line", "row", "sect", "page":
		write("\n")
	case "tab", "cell":
		write("\t")
	case "uc":
		r.skip = number
	case "*":
		r.silent = true // a group for programs that know it
	case "htmlrtf":
		r.leftOut = number != 0 // a tag of the page that the RTF was made of
	case "super", "sub", "nosupersub", "plain":
		r.raised = map[string]int{"super": 1, "sub": -1}[word]
		if number == 0 {
			r.raised = 0
		}
	case "\\", "{", "}":
		write(word)
	case "~":
		write(" ")
	case "emdash":
		write("—")
	case "endash":
		write("–")
	case "bullet":
		write("•")
	case "lquote", "rquote":
		write("’")
	case "ldblquote":
		write("“")
	case "rdblquote":
		write("”")
	default:
		r.silent = r.silent || silent[word]
	}
}

// rtfWord reads what follows a backslash: a word with its number, 1 if it has none, or a sign; and how long it is.
func rtfWord(s string) (word string, number, length int) {
	if s == "" {
		return "", 0, 0
	}
	if s[0] == '\'' {
		if len(s) < 3 {
			return "'", ' ', len(s)
		}
		v, err := strconv.ParseUint(s[1:3], 16, 8)
		if err != nil {
			return "'", '?', 3
		}
		return "'", int(v), 3
	}
	n := 0
	for n < len(s) && n < 32 && (s[n] >= 'a' && s[n] <= 'z' || s[n] >= 'A' && s[n] <= 'Z') {
		n++
	}
	if n == 0 {
		return s[:1], 1, 1
	}
	end := n
	if end < len(s) && s[end] == '-' {
		end++
	}
	for end < len(s) && end < n+8 && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	number, err := strconv.Atoi(s[n:end])
	if err != nil {
		number = 1
	}
	if end < len(s) && s[end] == ' ' {
		return s[:n], number, end + 1
	}
	return s[:n], number, end
}
