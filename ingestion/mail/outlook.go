package mail

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/mail"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"golang.org/x/net/html/charset"

	textenc "github.com/vaultflow/vaultflow/ingestion/charset"
)

// Bounds of a message of Outlook.
const (
	maxInner = 8 // messages in messages
	maxText  = 16 << 20
)

// FromOutlook makes an Internet message (RFC 5322) of a message that Outlook saved ([MS-OXMSG]), with the messages and files attached
// to it.
func FromOutlook(data []byte) ([]byte, error) {
	file, err := openCompound(data)
	if err != nil {
		return nil, err
	}
	o := &outlook{compoundFile: file, left: 4*int64(len(data)) + 1<<20, fixedIn: map[string][]byte{}}
	return o.message("", 0)
}

// boundary is before each part of the message. None contains it: they are in base64, which has no hyphens.
const boundary = "vaultflow-part-"

const plainText = "Content-Type: text/plain; charset=utf-8\r\n"

// outlook is a compound file with a message.
type outlook struct {
	*compoundFile
	left    int64             // bytes that may still be read: streams of a broken file may share their bytes
	fixedIn map[string][]byte // the streams of small properties, by folder
}

// within returns a path below a folder.
func within(folder, name string) string { return strings.TrimPrefix(folder+"/"+name, "/") }

// Properties ([MS-OXPROPS]).
const (
	propClass       = "001A"
	propSubject     = "0037"
	propHeaders     = "007D"
	propBody        = "1000"
	propRTF         = "1009"
	propHTML        = "1013"
	propSenderName  = "0C1A"
	propSenderMail  = "0C1F"
	propSenderSMTP  = "5D01"
	propTo          = "0E04"
	propCc          = "0E03"
	propMessageID   = "1035"
	propInReplyTo   = "1042"
	propData        = "3701"
	propLongName    = "3707"
	propShortName   = "3704"
	propDisplayName = "3001"
	propMimeType    = "370E"
	propContentID   = "3712"
)

// bytes returns a property of bytes, or nil.
func (o *outlook) bytes(folder, property, kind string) []byte {
	return o.stream(within(folder, "__substg1.0_"+property+kind))
}

// stream returns what can be read of a stream, or nil.
func (o *outlook) stream(name string) []byte {
	p, ok := o.streams[name]
	if !ok || p.size > min(o.left, int64(len(o.data))) {
		return nil
	}
	o.left -= p.size
	return o.read(p)
}

// text returns a property of characters.
func (o *outlook) text(folder, property string) string {
	if wide := o.bytes(folder, property, "001F"); wide != nil {
		units := make([]uint16, len(wide)/2)
		for i := range units {
			units[i] = binary.LittleEndian.Uint16(wide[2*i:])
		}
		return strings.TrimRight(string(utf16.Decode(units)), "\x00")
	}
	narrow := o.bytes(folder, property, "001E")
	if label := o.codePage(folder, 0x3FFD); label != "" {
		if in, err := charset.NewReaderLabel(label, bytes.NewReader(narrow)); err == nil {
			if plain, err := io.ReadAll(in); err == nil {
				return strings.TrimRight(string(plain), "\x00")
			}
		}
	}
	return strings.TrimRight(textenc.Decode(narrow).Text, "\x00")
}

// line returns a property of characters on one line.
func (o *outlook) line(folder, property string) string {
	return strings.Join(strings.Fields(o.text(folder, property)), " ")
}

// fixed returns a property of at most eight bytes.
func (o *outlook) fixed(folder string, id uint16) (value uint64, ok bool) {
	data, known := o.fixedIn[folder]
	if !known {
		data = o.stream(within(folder, "__properties_version1.0"))
		o.fixedIn[folder] = data
	}
	for rest := data[len(data)%16:]; len(rest) >= 16; rest = rest[16:] { // headers have 32, 24 or 8 bytes; entries 16
		if binary.LittleEndian.Uint16(rest[2:]) == id {
			return binary.LittleEndian.Uint64(rest[8:]), true
		}
	}
	return 0, false
}

// codePage returns the name of the encoding that a property names, or "".
func (o *outlook) codePage(folder string, id uint16) string {
	page, ok := o.fixed(folder, id)
	if !ok {
		return ""
	}
	page &= 0xFFFFFFFF
	if name := codePages[page]; name != "" {
		return name
	}
	if page >= 1250 && page <= 1258 {
		return "windows-" + strconv.FormatUint(page, 10)
	}
	return ""
}

var codePages = map[uint64]string{
	65001: "utf-8", 20127: "us-ascii", 28591: "iso-8859-1", 28592: "iso-8859-2", 28595: "iso-8859-5", 28605: "iso-8859-15", 874: "windows-874", 932: "shift_jis", 936: "gbk", 54936: "gb18030",
	949: "euc-kr", 950: "big5", 50220: "iso-2022-jp", 51932: "euc-jp", 20866: "koi8-r", 21866: "koi8-u",
}

// when returns a property of time.
func (o *outlook) when(folder string, id uint16) (time.Time, bool) {
	ticks, ok := o.fixed(folder, id)
	const epoch = 116444736000000000 // of Unix, in tenths of a microsecond since 1601
	if !ok || ticks < epoch || ticks > epoch+1<<57 {
		return time.Time{}, false
	}
	return time.Unix(0, int64(ticks-epoch)*100).UTC(), true
}

// message writes the message in a folder as an Internet message.
func (o *outlook) message(folder string, depth int) ([]byte, error) {
	if depth > maxInner {
		return nil, errors.New("its messages are nested too deep")
	}
	var b bytes.Buffer
	o.header(&b, folder)
	fmt.Fprintf(&b, "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=%q\r\n\r\n", boundary+strconv.Itoa(depth))
	if facts := o.facts(folder); facts != "" {
		o.part(&b, strconv.Itoa(depth), plainText, []byte(facts))
	}
	bodies := strconv.Itoa(depth) + "-bodies"
	fmt.Fprintf(&b, "--%s\r\nContent-Type: multipart/alternative; boundary=%q\r\n\r\n", boundary+strconv.Itoa(depth), boundary+bodies)
	page, html := o.html(folder)
	if text := o.body(folder, page == nil); text != "" {
		o.part(&b, bodies, plainText, []byte(text))
	}
	if page != nil {
		o.part(&b, bodies, "Content-Type: "+html+"\r\n", page)
	}
	fmt.Fprintf(&b, "--%s--\r\n", boundary+bodies)
	for _, name := range o.folders[folder] {
		if strings.HasPrefix(name, "__attach_version1.0_") {
			o.attachment(&b, within(folder, name), page, depth)
		}
	}
	fmt.Fprintf(&b, "--%s--\r\n", boundary+strconv.Itoa(depth))
	return b.Bytes(), nil
}

// kept are the headers that are taken as they were sent.
var keptHeaders = []string{"From", "To", "Cc", "Date", "Message-Id", "In-Reply-To", "References"}

// header writes the header: as it was sent, or made of properties for a message that never was.
func (o *outlook) header(b *bytes.Buffer, folder string) {
	have := map[string]string{
		"From": o.sender(folder), "To": encoded(o.line(folder, propTo)), "Cc": encoded(o.line(folder, propCc)),
		"Message-Id": o.line(folder, propMessageID), "In-Reply-To": o.line(folder, propInReplyTo),
	}
	for _, id := range []uint16{0x0039, 0x0E06, 0x3007} { // sent, delivered, made
		if t, ok := o.when(folder, id); ok {
			have["Date"] = t.Format(time.RFC1123Z)
			break
		}
	}
	if sent, err := mail.ReadMessage(strings.NewReader(strings.TrimSpace(o.text(folder, propHeaders)) + "\r\n\r\n")); err == nil {
		for _, key := range keptHeaders {
			if v := sent.Header.Get(key); v != "" {
				have[key] = v
			}
		}
	}
	for _, key := range keptHeaders {
		if v := strings.Join(strings.Fields(have[key]), " "); v != "" {
			b.WriteString(key + ": " + v + "\r\n")
		}
	}
	b.WriteString("Subject: " + encoded(o.line(folder, propSubject)) + "\r\n")
}

// encoded writes a text for a header (RFC 2047).
func encoded(s string) string { return mime.QEncoding.Encode("utf-8", s) }

func (o *outlook) sender(folder string) string {
	name, address := o.line(folder, propSenderName), o.line(folder, propSenderSMTP)
	if other := o.line(folder, propSenderMail); address == "" && strings.Contains(other, "@") {
		address = other
	}
	if address == "" {
		return encoded(name)
	}
	return (&mail.Address{Name: name, Address: address}).String()
}

// html returns the body as a web page with its type, or nil.
func (o *outlook) html(folder string) (page []byte, mediaType string) {
	if page = o.bytes(folder, propHTML, "0102"); page == nil {
		if text := o.text(folder, propHTML); text != "" {
			return []byte(text), "text/html; charset=utf-8"
		}
		return nil, ""
	}
	mediaType = "text/html"
	if label := o.codePage(folder, 0x3FDE); label != "" {
		mediaType += "; charset=" + label
	}
	return page, mediaType
}

// body returns the plain body. Of a message that has only one in RTF, it is the text of that.
func (o *outlook) body(folder string, alone bool) string {
	text := o.text(folder, propBody)
	if strings.TrimSpace(text) == "" && alone {
		if rtf, err := unpackRTF(o.bytes(folder, propRTF, "0102")); err == nil {
			text = plainRTF(rtf)
		}
	}
	return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
}

// contactFields are the properties of a contact that a note shows.
var contactFields = []struct{ property, label string }{
	{propDisplayName, "Name"}, {"3A16", "Company"}, {"3A17", "Job"}, {"39FE", "E-mail"}, {"3A08", "Phone at work"}, {"3A09", "Phone at home"}, {"3A1C", "Mobile phone"}, {"3A15", "Address"},
}

// facts lists what is particular to appointments, tasks and contacts.
func (o *outlook) facts(folder string) string {
	class, _, _ := strings.Cut(strings.TrimPrefix(o.line(folder, propClass), "IPM."), ".")
	var lines []string
	switch class {
	case "Appointment", "Schedule", "Task":
		for _, t := range []struct {
			id    uint16
			label string
		}{{0x0060, "Begins"}, {0x0061, "Ends"}} {
			if at, ok := o.when(folder, t.id); ok {
				lines = append(lines, t.label+": "+at.Format("2006-01-02 15:04 MST"))
			}
		}
	case "Contact":
		for _, f := range contactFields {
			if v := o.line(folder, f.property); v != "" {
				lines = append(lines, f.label+": "+v)
			}
		}
	}
	return strings.Join(lines, "\n")
}

// part writes a part of the multipart with this end of its boundary.
func (o *outlook) part(b *bytes.Buffer, end, header string, data []byte) {
	fmt.Fprintf(b, "--%s\r\n%sContent-Transfer-Encoding: base64\r\n\r\n", boundary+end, header)
	b.WriteString(base64.StdEncoding.EncodeToString(data))
	b.WriteString("\r\n")
}

// attachment writes an attached file or message. A picture that the page shows keeps its place there.
func (o *outlook) attachment(b *bytes.Buffer, folder string, page []byte, depth int) {
	name := o.line(folder, propLongName)
	for _, other := range []string{propDisplayName, propShortName} {
		if name == "" {
			name = o.line(folder, other)
		}
	}
	inner := within(folder, "__substg1.0_"+propData+"000D")
	if _, ok := o.streams[within(inner, "__properties_version1.0")]; ok {
		if message, err := o.message(inner, depth+1); err == nil {
			o.part(b, strconv.Itoa(depth), "Content-Type: message/rfc822\r\n", message)
			return
		}
	}
	data := o.bytes(folder, propData, "0102")
	if data == nil {
		o.part(b, strconv.Itoa(depth), plainText, []byte(fmt.Sprintf("The attachment %q is not in the message, or cannot be taken out of it.", name)))
		return
	}
	mediaType, _, err := mime.ParseMediaType(o.line(folder, propMimeType))
	if err != nil {
		mediaType, _, _ = mime.ParseMediaType(http.DetectContentType(data)) // it returns only well-formed ones
	}
	disposition, id := "attachment", o.line(folder, propContentID)
	header := "Content-Type: " + mediaType + "\r\n"
	if id != "" && bytes.Contains(page, []byte("cid:"+id)) {
		disposition = "inline"
		header += "Content-ID: <" + id + ">\r\n"
	}
	o.part(b, strconv.Itoa(depth), header+"Content-Disposition: "+mime.FormatMediaType(disposition, map[string]string{"filename": name})+"\r\n", data)
}
