package main

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/ingestion/sandbox"
)

var (
	chineseLines = []string{
		"委员会于三月十四日开会，审议了去年的账", "目。会费收入有所增加，印刷费用下降了百", "分之十二。图书馆每周开放两个晚上，新目",
		"录将在夏天以前订购。有人问屋顶是否已经", "检查，司库回答说报告即将完成。没有人反", "对与其他博物馆交换期刊的建议。",
	}
	japaneseLines = []string{
		"委員会は三月十四日に開かれ、昨年の会計", "を検討した。会費の収入は増えたが、印刷", "の費用は減った。図書館は週に二晩開くこ",
		"とになり、新しい目録は夏までに注文する。", "屋根を調べたかという問いに、会計係は報", "告書がもうすぐできると答えた。",
	}
)

// Lines of Chinese and Japanese are joined without blanks, and a picture of them is never silently wrong.
func TestWorker_readsChineseAndJapanese(t *testing.T) {
	t.Parallel()
	report, err := sandbox.Self(t.Context(), program(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		pdf      *pdftest.Builder
		lines    []string
		language string // of Tesseract, or another that is written with the same signs
	}{
		"Chinese":  {pdftest.New().ChineseText(chineseLines...), chineseLines, "chi_sim"},
		"Japanese": {pdftest.New().WideText(japaneseLines...), japaneseLines, "jpn"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := opened(t, c.pdf.Bytes(), extract.KindPDF)
			page := ask(t, s, extract.PageRequest{N: 1, Text: true, OCR: true, Languages: []string{"eng"}})
			// For some lines PDFium reports no font. Their size is that of their ink then, and they begin a paragraph.
			if want := strings.Join(c.lines, ""); strings.ReplaceAll(page.Text.Markdown, "\n\n", "") != want {
				t.Errorf("text layer:\n%s\nwant\n%s", page.Text.Markdown, want)
			}
			if got := doubt.Words(page.OCR.Doubts); !strings.Contains(got, c.language) && !strings.Contains(got, "chi_sim") {
				t.Errorf("read as English, the doubts are %q (%s):\n%s", got, page.OCR.Reason, page.OCR.Text)
			}
			if !slices.Contains(report.Languages, c.language) {
				return
			}
			read := ask(t, s, extract.PageRequest{N: 1, OCR: true, Languages: []string{extract.AutoLanguage}}).OCR
			letters := strings.Join(strings.Fields(read.Text), "")
			if !slices.Equal(read.Languages, []string{c.language}) || errorRate(letters, []string{strings.Join(c.lines, "")}) > 0.05 {
				t.Errorf("%d letters read in %v (%s):\n%s", utf8.RuneCountInString(letters), read.Languages, read.Reason, read.Text)
			}
		})
	}
}
