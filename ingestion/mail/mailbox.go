package mail

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Bounds of a mailbox.
const (
	MaxMessages = 200_000
	maxMessage  = 64 << 20
	maxHeader   = 256 << 10
)

// Envelope is a message of a mailbox before it is read.
type Envelope struct {
	Offset, Length int64 // of the message in the mailbox
	Subject        string
	Date           time.Time // zero if the message has none
	id             string
	refs           []string // messages that it answers, the nearest last
	reply          bool     // its subject begins as that of an answer
}

// Separator matches the line before each message of a mailbox (RFC 4155): the sender and a date.
var Separator = regexp.MustCompile(`^From [^\r\n]*\b\d{1,2}:\d{2}\b[^\r\n]*\b\d{4}\b`)

// Mailbox lists the messages of a mailbox (mbox) in the order of the file.
func Mailbox(r io.ReaderAt, size int64) ([]Envelope, error) {
	in := bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 1<<16)
	var list []Envelope
	var header bytes.Buffer
	at, blank, inHeader := int64(0), true, false
	end := func() {
		if len(list) > 0 {
			list[len(list)-1].Length = at - list[len(list)-1].Offset
		}
	}
	for begins := true; ; {
		line, err := in.ReadSlice('\n')
		if len(line) == 0 && err != nil {
			if !errors.Is(err, io.EOF) {
				return nil, err
			}
			break
		}
		if begins && blank && Separator.Match(line) {
			if end(); len(list) == MaxMessages {
				return list, fmt.Errorf("it has more than %d messages", MaxMessages)
			}
			list = append(list, Envelope{Offset: at + int64(len(line))})
			header.Reset()
			inHeader = true
		} else if inHeader {
			if header.Len() < maxHeader {
				header.Write(line)
			}
			if begins && len(bytes.TrimSpace(line)) == 0 {
				inHeader = false
				list[len(list)-1].describe(header.Bytes())
			}
		}
		at += int64(len(line))
		if begins {
			blank = len(bytes.TrimSpace(line)) == 0
		} else {
			blank = false
		}
		begins = !errors.Is(err, bufio.ErrBufferFull)
	}
	if end(); len(list) == 0 {
		return nil, errors.New("it contains no message")
	}
	if inHeader {
		list[len(list)-1].describe(append(header.Bytes(), '\n'))
	}
	return list, nil
}

var messageID = regexp.MustCompile(`<[^<>\s]+>`)

// describe takes over what the header contains. One that cannot be read says nothing.
func (e *Envelope) describe(header []byte) {
	m, err := mail.ReadMessage(bytes.NewReader(bytes.TrimLeft(header, "\r\n")))
	if err != nil {
		return
	}
	e.Subject, e.reply = topic(Words(m.Header.Get("Subject")))
	if t, err := m.Header.Date(); err == nil {
		e.Date = t
	}
	e.id = messageID.FindString(m.Header.Get("Message-Id"))
	e.refs = messageID.FindAllString(m.Header.Get("References")+" "+m.Header.Get("In-Reply-To"), 50)
}

// answers begin the subjects of answers and forwarded messages, in many languages.
var answers = regexp.MustCompile(`(?i)^\s*(?:(?:re|aw|antw|antwort|sv|vs|odp|ynt|rif|ref|res|tr|fw|fwd|wg|doorst|enc|rv|vb|i)(?:\[\d+\]|\(\d+\))?\s*[:：]\s*)+`)

// topic returns a subject without what programs put before those of answers.
func topic(subject string) (plain string, reply bool) {
	plain = answers.ReplaceAllString(subject, "")
	return strings.TrimSpace(plain), plain != subject
}

// Threads groups messages: those that name each other, and answers without a name under the subject that they answer. Threads and the
// messages in them are in the order of their dates; a message without a date keeps its place in the mailbox.
func Threads(list []Envelope) [][]int {
	parent := make([]int, len(list))
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	join := func(known map[string]int, key string, i int) {
		if key == "" {
			return
		}
		if j, ok := known[key]; ok {
			parent[root(i)] = root(j)
		} else {
			known[key] = i
		}
	}
	ids, subjects := map[string]int{}, map[string]int{}
	for i, e := range list {
		join(ids, e.id, i)
		for _, ref := range e.refs {
			join(ids, ref, i)
		}
	}
	for i, e := range list {
		if !e.reply && e.Subject != "" {
			subjects[strings.ToLower(e.Subject)] = i
		}
	}
	for i, e := range list {
		if e.reply && len(e.refs) == 0 {
			join(subjects, strings.ToLower(e.Subject), i)
		}
	}
	dates := make([]time.Time, len(list))
	for i, e := range list {
		if dates[i] = e.Date; dates[i].IsZero() && i > 0 {
			dates[i] = dates[i-1]
		}
	}
	return inOrder(list, root, dates)
}

// inOrder returns the threads in the order of their first messages.
func inOrder(list []Envelope, root func(int) int, dates []time.Time) [][]int {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Or(dates[a].Compare(dates[b]), cmp.Compare(a, b)) })
	place := map[int]int{}
	var threads [][]int
	for _, i := range order {
		r := root(i)
		if _, ok := place[r]; !ok {
			place[r] = len(threads)
			threads = append(threads, nil)
		}
		threads[place[r]] = append(threads[place[r]], i)
	}
	return threads
}

var quotedFrom = regexp.MustCompile(`(?m)^>(>*From )`)

// At returns a message of a mailbox, without the marks that keep its lines from being separators.
func At(r io.ReaderAt, e Envelope) ([]byte, error) {
	if e.Length > maxMessage {
		return nil, fmt.Errorf("it has more than %d MB", maxMessage>>20)
	}
	data := make([]byte, e.Length)
	if n, err := r.ReadAt(data, e.Offset); n < len(data) && err != nil {
		return nil, err
	}
	return quotedFrom.ReplaceAll(data, []byte("$1")), nil
}
