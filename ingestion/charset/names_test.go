package charset

import (
	"slices"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		as    encoding.Encoding
		names []string
	}{
		"ASCII":                  {encoding.Nop, []string{"a/b.txt", "c.txt"}},
		"UTF-8":                  {encoding.Nop, []string{"Übung/день.txt", "報告.txt"}},
		"GBK":                    {simplifiedchinese.GBK, []string{"报告/中文文件.txt", "会议纪要2024.docx", "plain.txt"}},
		"GBK, one short name":    {simplifiedchinese.GBK, []string{"合同.pdf"}},
		"Shift-JIS":              {japanese.ShiftJIS, []string{"資料/表示ソフト.txt", "議事録.doc"}},
		"Shift-JIS, katakana":    {japanese.ShiftJIS, []string{"テスト.txt", "サンプル.txt"}},
		"Shift-JIS, hiragana":    {japanese.ShiftJIS, []string{"おしらせ.txt"}},
		"CP437":                  {charmap.CodePage437, []string{"Übung/Müller.txt", "für Frau Weiß.pdf"}},
		"CP437, one letter":      {charmap.CodePage437, []string{"café.txt"}},
		"CP437, upper case":      {charmap.CodePage437, []string{"ÄRGER.TXT"}},
		"CP850":                  {charmap.CodePage850, []string{"São Paulo/relatório.txt", "Ação.txt"}},
		"CP852":                  {charmap.CodePage852, []string{"Łódź/zażółć gęślą jaźń.txt"}},
		"CP866":                  {charmap.CodePage866, []string{"Отчёт/день.txt", "Договор 2024.docx"}},
		"CP866, one short name":  {charmap.CodePage866, []string{"акт.pdf"}},
		"CP866, upper case":      {charmap.CodePage866, []string{"ДОГОВОР.pdf"}},
		"Windows-1251":           {charmap.Windows1251, []string{"Привет/мир.txt"}},
		"Windows-1252":           {charmap.Windows1252, []string{"Übung/Müller.txt"}},
		"Big5":                   {traditionalchinese.Big5, []string{"會議記錄.txt", "報告書.doc"}},
		"EUC-KR":                 {korean.EUCKR, []string{"보고서.txt", "회의록 최종.hwp"}},
		"GBK among UTF-8":        {simplifiedchinese.GBK, []string{"合同.pdf", "plain.txt"}},
		"Shift-JIS, a backslash": {japanese.ShiftJIS, []string{"表/ソース能.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var raw []string
			for _, n := range c.names {
				data, err := c.as.NewEncoder().String(n)
				if err != nil {
					t.Fatal(err)
				}
				raw = append(raw, data)
			}
			if got := Names(raw); !slices.Equal(got, c.names) {
				t.Errorf("got %q, want %q", got, c.names)
			}
		})
	}
}

// Bytes of no encoding still give valid names, and different ones stay different.
func TestNames_ofNoEncoding(t *testing.T) {
	t.Parallel()
	got := Names([]string{"a\xff.txt", "a\xfe.txt", "\x81\xff\x00"})
	if got[0] == got[1] {
		t.Errorf("two names became one: %q", got)
	}
	for _, n := range got {
		if Names([]string{n})[0] != n {
			t.Errorf("%q is not UTF-8", n)
		}
	}
}
