package charset_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/vaultflow/vaultflow/ingestion/charset"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
)

func TestDecode_marksAndBrokenBytes(t *testing.T) {
	t.Parallel()
	cases := []struct {
		in, want string
		bad      int
	}{
		{"plain", "plain", 0},
		{"\xef\xbb\xbfmark", "mark", 0},
		{"\xff\xfeh\x00\xe5\x00", "hå", 0},
		{"\xfe\xff\x00h\x00\xe5", "hå", 0},
		{"\xff\xfeh\x00x", "h", 1},
		{"bl\xe5b\xe6r", "blåbær", 0},
		{"blåbær \xff og rømme", "blåbær � og rømme", 1},
		{"real � stays", "real � stays", 0},
		{"\xff\xfe\x00\xd8a\x00", "�a", 2},
		{"\xff\xfe\x00\x00h\x00\x00\x00\x00\x00\x11\x00", "h�", 4},
	}
	for _, c := range cases {
		if got := charset.Decode([]byte(c.in)); got.Text != c.want || got.Bad != c.bad {
			t.Errorf("%q: got %q and %d bad bytes, want %q and %d", c.in, got.Text, got.Bad, c.want, c.bad)
		}
	}
}

// TestDecode_guesses writes a text in each encoding without saying which, and wants it back as it was.
func TestDecode_guesses(t *testing.T) {
	t.Parallel()
	const (
		western  = "Blåbærsyltetøy på brødskiven, sa fru Ødegård – „så godt“, og café à la crème kostet 12 €."
		russian  = "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему. Всё смешалось в доме Облонских."
		polish   = "Zażółć gęślą jaźń. Pchnąć w tę łódź jeża lub ośm skrzyń fig; chrząszcz brzmi w trzcinie w Szczebrzeszynie, a źdźbło się ugięło."
		greek    = "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. Ο καλύτερος τρόπος να μάθεις είναι να ρωτήσεις τους άλλους."
		japan    = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所でニャーニャー泣いていた事だけは記憶している。"
		china    = "话说天下大势，分久必合，合久必分。周末七国分争，并入于秦。及秦灭之后，楚、汉分争，又并入于汉。"
		taiwan   = "話說天下大勢，分久必合，合久必分。周末七國分爭，并入於秦。及秦滅之後，楚、漢分爭，又并入於漢。"
		korea    = "나라의 말이 중국과 달라 한자와는 서로 통하지 아니하여서 이런 까닭으로 어리석은 백성이 이르고자 하는 바가 있어도"
		asciiCSV = "name,count\r\npear,3\r\nplum,4\r\n"
	)
	for name, test := range map[string]struct {
		text  string
		enc   encoding.Encoding
		names []string
	}{
		"windows-1252": {western, charmap.Windows1252, []string{"windows-1252"}},
		"windows-1251": {russian, charmap.Windows1251, []string{"windows-1251"}},
		"koi8-r":       {russian, charmap.KOI8R, []string{"koi8-r"}},
		"iso-8859-7":   {greek, charmap.ISO8859_7, []string{"iso-8859-7", "windows-1253"}},
		"iso-8859-2":   {polish, charmap.ISO8859_2, []string{"iso-8859-2", "windows-1250"}},
		"shift_jis":    {japan, japanese.ShiftJIS, []string{"shift_jis"}},
		"euc-jp":       {japan, japanese.EUCJP, []string{"euc-jp"}},
		"iso-2022-jp":  {japan, japanese.ISO2022JP, []string{"iso-2022-jp"}},
		"gb18030":      {china, simplifiedchinese.GB18030, []string{"gb18030", "gbk"}},
		"big5":         {taiwan, traditionalchinese.Big5, []string{"big5"}},
		"euc-kr":       {korea, korean.EUCKR, []string{"euc-kr"}},
		"utf-16le":     {western, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), []string{"UTF-16LE"}},
		"utf-16be":     {asciiCSV, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), []string{"UTF-16BE"}},
		"utf-32le":     {western, utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), []string{"UTF-32LE"}},
		"utf-32be":     {asciiCSV, utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), []string{"UTF-32BE"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := test.enc.NewEncoder().Bytes([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			got := charset.Decode(data)
			if got.Text != test.text || !got.Guessed || got.Bad != 0 || !slices.Contains(test.names, got.Encoding) {
				t.Errorf("as %s (guessed: %v, %d bad): %q", got.Encoding, got.Guessed, got.Bad, got.Text)
			}
			if !strings.Contains(got.Remark(), got.Encoding) {
				t.Errorf("the guess is not told: %q", got.Remark())
			}
			if r := filetype.Classify("", "a.txt", data, nil, 0); r.Kind != filetype.KindText {
				t.Errorf("the router says %+v", r)
			}
		})
	}
}

// TestDecode_oldSystems writes texts, short and long, in the encodings of DOS, of old Macs and of Japan.
func TestDecode_oldSystems(t *testing.T) {
	t.Parallel()
	const (
		german  = "Sehr geehrte Frau Müller,\r\nfür die Übersendung der Gebühren vom März danken wir Ihnen. Größe: 3 Stück, Öl."
		french  = "Le garçon a mangé à la fenêtre, près du café. Où êtes-vous allés cet été ?"
		spanish = "El niño cumplió años en la montaña. ¿Dónde está la mañana del corazón?"
		nordic  = "Blåbærsyltetøy på brødskiven, sa fru Ødegård. Räksmörgås på svenska."
		english = "“Don’t,” she said – and he didn’t… It cost £3 or ¥4."
		frame   = "╔══════════╗\r\n║ Menü     ║\r\n╟──────────╢\r\n║ 1 Öffnen ║\r\n╚══════════╝"
		lines   = "┌────┬─────┐\r\n│ No │ Sum │\r\n├────┼─────┤\r\n│ 1  │ 20  │\r\n└────┴─────┘"
		polish  = "Dzień dobry, proszę o przesłanie faktury za październik. Książka leży na półce, a źródło jest świeże."
		russian = "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему."
		thai    = "สวัสดีครับ ผมชื่อสมชาย ยินดีที่ได้รู้จัก"
	)
	for name, test := range map[string]struct {
		text string
		enc  encoding.Encoding
	}{
		"German, DOS": {german, charmap.CodePage437}, "German, DOS 850": {german, charmap.CodePage850}, "German, Mac": {german, charmap.Macintosh}, "German, Windows": {german, charmap.Windows1252},
		"French, DOS": {french, charmap.CodePage437}, "French, DOS 850": {french, charmap.CodePage850}, "French, Mac": {french, charmap.Macintosh}, "French, Windows": {french, charmap.Windows1252},
		"Spanish, DOS": {spanish, charmap.CodePage437}, "Spanish, DOS 850": {spanish, charmap.CodePage850}, "Spanish, Mac": {spanish, charmap.Macintosh}, "Spanish, Windows": {spanish, charmap.Windows1252},
		"Nordic, DOS 850": {nordic, charmap.CodePage850}, "Nordic, Mac": {nordic, charmap.Macintosh}, "Nordic, Windows": {nordic, charmap.Windows1252},
		"English, Mac": {english, charmap.Macintosh}, "English, Windows": {english, charmap.Windows1252},
		"frame": {frame, charmap.CodePage437}, "frame, DOS 850": {lines, charmap.CodePage850},
		"Polish, DOS": {polish, charmap.CodePage852}, "Polish, Windows": {polish, charmap.Windows1250},
		"Russian, DOS": {russian, charmap.CodePage866}, "Russian, Windows": {russian, charmap.Windows1251}, "Russian, Mac": {russian, charmap.MacintoshCyrillic},
		"Thai":       {thai, charmap.Windows874},
		"short, DOS": {"Grüße aus Köln", charmap.CodePage850}, "short, Mac": {"Grüße aus Köln", charmap.Macintosh}, "short, Windows": {"Grüße aus Köln", charmap.Windows1252},
		"Japanese": {"会議のメモ", japanese.ShiftJIS}, "Japanese, two lines": {"お知らせ\r\n明日は休みです。", japanese.ShiftJIS}, "Chinese": {"会议记录", simplifiedchinese.GBK},
	} {
		data, err := test.enc.NewEncoder().Bytes([]byte(test.text))
		if err != nil {
			t.Fatal(name, err)
		}
		if got := charset.Decode(data); got.Text != test.text || !got.Guessed {
			t.Errorf("%s, as %s: %q", name, got.Encoding, got.Text)
		}
		if r := filetype.Classify("", "a.txt", data, nil, 0); r.Kind != filetype.KindText {
			t.Errorf("%s: the router says %+v", name, r)
		}
	}
}

// What only looks a little like wide text stays what it is.
func TestWideText_refuses(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"hello\x00there", "a\x00b\x00", "\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06\x00\x07\x00\x08\x00\x09\x00", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"} {
		if got := charset.Wide([]byte(data)); got != "" {
			t.Errorf("%q is taken for %s", data, got)
		}
	}
}
