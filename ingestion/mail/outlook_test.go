package mail

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

// entry is a folder or stream of a compound file in the making.
type entry struct {
	name string
	data []byte
	kids []entry // of a folder
}

var le = binary.LittleEndian

// compound writes a compound file ([MS-CFB]) with sectors of 512 bytes. Streams have at least 4096, so that there is no mini stream.
func compound(root ...entry) []byte {
	const end, free, none = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFF
	var fat []uint32
	var body []byte
	store := func(data []byte) uint32 {
		first := uint32(len(fat))
		count := max((len(data)+511)/512, 1)
		for i := range count {
			fat = append(fat, first+uint32(i)+1)
		}
		fat[len(fat)-1] = end
		body = append(append(body, data...), make([]byte, count*512-len(data))...)
		return first
	}
	var directory []byte
	add := func(name string, kind byte) int {
		e := make([]byte, 128)
		for i, u := range utf16.Encode([]rune(name)) {
			le.PutUint16(e[2*i:], u)
		}
		le.PutUint16(e[64:], uint16(2*len(name)+2))
		e[66], e[67] = kind, 1
		for _, at := range []int{68, 72, 76} {
			le.PutUint32(e[at:], none)
		}
		directory = append(directory, e...)
		return len(directory) - 128
	}
	var fill func(parent int, kids []entry)
	fill = func(parent int, kids []entry) {
		link := parent + 76 // the first child; then each has its right sibling
		for _, k := range kids {
			kind := byte(1)
			if k.kids == nil {
				kind = 2
			}
			at := add(k.name, kind)
			le.PutUint32(directory[link:], uint32(at/128))
			link = at + 72
			if k.kids == nil {
				le.PutUint32(directory[at+116:], store(append(slices.Clone(k.data), make([]byte, max(4096-len(k.data), 0))...)))
				le.PutUint32(directory[at+120:], uint32(max(len(k.data), 4096)))
			} else {
				fill(at, k.kids)
			}
		}
	}
	fill(add("Root Entry", 5), root)
	le.PutUint32(directory[116:], end)
	at := store(directory)
	sectors := (len(fat) + 127 + 2) / 128
	header := make([]byte, 512)
	copy(header, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
	le.PutUint16(header[24:], 0x3E)
	le.PutUint16(header[26:], 3)
	le.PutUint16(header[28:], 0xFFFE)
	le.PutUint16(header[30:], 9)
	le.PutUint16(header[32:], 6)
	le.PutUint32(header[44:], uint32(sectors))
	le.PutUint32(header[48:], at)
	le.PutUint32(header[56:], 4096)
	le.PutUint32(header[60:], end)
	le.PutUint32(header[68:], end)
	for i := range 109 {
		le.PutUint32(header[76+4*i:], free)
	}
	for i := range sectors {
		le.PutUint32(header[76+4*i:], uint32(len(fat)+i))
	}
	for range sectors {
		fat = append(fat, 0xFFFFFFFD)
	}
	table := make([]byte, 512*sectors)
	for i := range 128 * sectors {
		v := uint32(free)
		if i < len(fat) {
			v = fat[i]
		}
		le.PutUint32(table[4*i:], v)
	}
	return append(append(header, body...), table...)
}

// wide is a property of characters.
func wide(property, text string) entry {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		b = le.AppendUint16(b, u)
	}
	return entry{name: "__substg1.0_" + property + "001F", data: b}
}

func binaryProperty(property string, data []byte) entry {
	return entry{name: "__substg1.0_" + property + "0102", data: data}
}

// fixedProperties is the stream of properties with small values.
func fixedProperties(header int, values ...uint64) entry {
	b := make([]byte, header)
	for i := 0; i < len(values); i += 2 {
		b = le.AppendUint64(le.AppendUint32(le.AppendUint16(le.AppendUint16(b, 3), uint16(values[i])), 6), values[i+1])
	}
	return entry{name: "__properties_version1.0", data: b}
}

func TestFromOutlook(t *testing.T) {
	t.Parallel()
	const noon = 116444736000000000 + 1_795_000_000*10_000_000 // in 2026
	inner := []entry{fixedProperties(24), wide(propSubject, "The inner one"), wide(propBody, "Hello inside")}
	data := compound(
		fixedProperties(32, 0x0039, noon, 0x3FDE, 1252), wide(propSubject, "Prüfung: übermorgen"), wide(propSenderName, "Ada, née Byron"), wide(propSenderSMTP, "ada@example.org"),
		wide(propTo, "Bo"), wide(propBody, "See below."), binaryProperty(propHTML, []byte("<p>Gr\xfc\xdfe <img src=\"cid:p1\"></p>")),
		entry{name: "__attach_version1.0_#00000000", kids: []entry{fixedProperties(8), wide(propLongName, "plan für Bo.pdf"), wide(propMimeType, "application/pdf"), binaryProperty(propData, []byte("%PDF-1.4"))}},
		entry{name: "__attach_version1.0_#00000001", kids: []entry{fixedProperties(8), wide(propLongName, "p.png"), wide(propContentID, "p1"), binaryProperty(propData, []byte("\x89PNG\r\n\x1a\n"))}},
		entry{name: "__attach_version1.0_#00000002", kids: []entry{fixedProperties(8), {name: "__substg1.0_3701000D", kids: inner}}},
	)
	message, err := FromOutlook(data)
	if err != nil {
		t.Fatal(err)
	}
	m, parts, err := Read(message)
	if err != nil {
		t.Fatal(err)
	}
	if got := Words(m.Header.Get("Subject")) + "|" + Head(m); got != "Prüfung: übermorgen|- From: Ada, née Byron (ada@example.org)\n- To: Bo\n- Date: Wed, 18 Nov 2026 11:06:40 +0000" {
		t.Errorf("header %q", got)
	}
	trim := func(b string) string { return strings.TrimRight(b, "\x00") }
	if len(parts) != 5 || trim(parts[0].Text()) != "See below." || !strings.HasPrefix(parts[1].Text(), "<p>Grüße") || parts[2].Name != "plan für Bo.pdf" || !parts[2].Attachment ||
		!bytes.HasPrefix(parts[2].Data, []byte("%PDF-1.4")) || parts[3].ID != "p1" || parts[3].Attachment || parts[3].MediaType != "image/png" {
		t.Errorf("parts %+v", parts)
	}
	files := Files(parts)
	if len(files) != 2 || files[1].Name != "The inner one.eml" || !bytes.Contains(files[1].Data, []byte("Subject: The inner one")) {
		t.Errorf("files %+v", files)
	}
}

// What is only in the properties of an appointment, and that an attachment is missing, is said beside a body in HTML.
func TestFromOutlook_appointment(t *testing.T) {
	t.Parallel()
	message, err := FromOutlook(compound(fixedProperties(32, 0x0060, 116444736000000000+1_795_000_000*10_000_000), wide(propClass, "IPM.Appointment"), wide(propBody, "See you."), binaryProperty(propHTML, []byte("<p>See you.")),
		entry{name: "__attach_version1.0_#00000000", kids: []entry{fixedProperties(8), wide(propLongName, "plan.pdf")}}))
	if err != nil {
		t.Fatal(err)
	}
	_, parts, err := Read(message)
	if err != nil || len(parts) != 4 || parts[0].Text() != "Begins: 2026-11-18 11:06 UTC" || !parts[1].Covered || !strings.HasPrefix(parts[2].Text(), "<p>See you.") || !strings.Contains(parts[3].Text(), `"plan.pdf" is not in the message`) {
		t.Errorf("%+v, %v", parts, err)
	}
}

func TestFromOutlook_headersAsSent(t *testing.T) {
	t.Parallel()
	message, err := FromOutlook(compound(fixedProperties(32), wide(propSubject, "Tea"), wide(propHeaders, "Received: x\r\nFrom: =?utf-8?q?B=C3=B6?= <bo@example.org>\r\nMessage-ID: <1@x>\r\nReferences: <0@x>\r\n"), wide(propSenderName, "other")))
	if err != nil {
		t.Fatal(err)
	}
	if m, _, err := Read(message); err != nil || Words(m.Header.Get("From")) != "Bö <bo@example.org>" || m.Header.Get("References") != "<0@x>" {
		t.Errorf("%+v, %v", m, err)
	}
}

// A message that was written in RTF alone has its text.
func TestFromOutlook_textOfRTF(t *testing.T) {
	t.Parallel()
	const rtf = `{\rtf1\ansi\fromhtml1{\fonttbl{\f0 Arial;}}{\*\htmltag <p>}\htmlrtf {\htmlrtf0 Gr\'fc\'dfe\par \u8364? 5 \{net\}{\*\htmltag </p>}}`
	plain := append(le.AppendUint32(le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, uint32(len(rtf)+12)), uint32(len(rtf))), 0x414C454D), 0), rtf...)
	// "{\rtf1" is a reference to the dictionary: place 0, length 6.
	packed := append(le.AppendUint32(le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 40), 12), 0x75465A4C), 0), 0x01, 0x00, 0x04, ' ', 'a', 'b', 'c', '}', '\n', 0, 0)
	for want, body := range map[string][]byte{"Grüße\n€ 5 {net}": plain, "abc": packed} {
		message, err := FromOutlook(compound(fixedProperties(32), binaryProperty(propRTF, body)))
		if err != nil {
			t.Fatal(err)
		}
		_, parts, err := Read(message)
		if err != nil || len(parts) != 1 || strings.TrimSpace(parts[0].Text()) != want {
			t.Errorf("%q: %+v, %v", want, parts, err)
		}
	}
}

// A hostile message takes no more memory than some multiple of its size. The test is not parallel: it counts what the process allocates.
func TestFromOutlook_memoryIsBounded(t *testing.T) {
	header := compound(fixedProperties(32), wide(propSubject, "Tea"))
	for _, at := range []int{0x28, 0x2C, 0x40, 0x48} {
		le.PutUint32(header[at:], 1<<30)
	}
	deep := []entry{fixedProperties(8)}
	for range 20_000 {
		deep = []entry{{name: "a folder with a name of some len", kids: deep}}
	}
	same := []entry{{name: "__properties_version1.0"}}
	for range 4 { // 30 to the power of 4 messages, if each of the same name is followed
		attached := entry{name: "__attach_version1.0_#00000000", kids: []entry{{name: "__substg1.0_3701000D", kids: same}}}
		same = append([]entry{{name: "__properties_version1.0"}}, slices.Repeat([]entry{attached}, 30)...)
		for i := 2; i < len(same); i++ {
			same[i].kids = []entry{}
		}
	}
	boundary := "vaultflow"
	for len(boundary) < 60_000 {
		boundary += strconv.Itoa(len(boundary))
	}
	var many []entry
	for range 40_000 {
		many = append(many, entry{name: "x", kids: []entry{}})
	}
	for name, data := range map[string][]byte{
		"counts in the header": header, "folders in folders": compound(deep...), "attachments of one name": compound(same...), "a boundary foreseen": compound(wide(propBody, boundary)), "40,000 folders": compound(many...),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := FromOutlook(data)
		runtime.ReadMemStats(&after)
		if took, most := after.TotalAlloc-before.TotalAlloc, 20*uint64(len(data))+4<<20; took > most {
			t.Errorf("%s: %d MB for a file of %d kB, %v", name, took>>20, len(data)>>10, err)
		}
	}
}

func FuzzFromOutlook(f *testing.F) {
	f.Add(compound(fixedProperties(32), wide(propSubject, "Tea"), wide(propBody, "x"), entry{name: "__attach_version1.0_#00000000", kids: []entry{binaryProperty(propData, []byte("x"))}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if message, err := FromOutlook(data); err == nil {
			if _, _, err := Read(message); err != nil && len(message) < MaxSize {
				t.Errorf("what was made cannot be read: %v\n%.300q", err, message)
			}
		}
	})
}

// Raised digits may not join the number before them.
func TestPlainRTF_scripts(t *testing.T) {
	t.Parallel()
	const rtf = `{\rtf1 10{\super 5} Pa, cost 120\super 1\nosupersub  euros, H\sub 2\plain O, 4\super0 2}`
	if got, want := plainRTF(rtf), "10⁵ Pa, cost 120¹ euros, H₂O, 42"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzPlainRTF(f *testing.F) {
	f.Add(`{\rtf1\uc2 a\u-3ab\'e9{\*\x y}\par}`)
	f.Fuzz(func(_ *testing.T, s string) { plainRTF(s) })
}
