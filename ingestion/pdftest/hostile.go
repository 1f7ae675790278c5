package pdftest

import "bytes"

// HugePageCount declares 9,999,999,999 pages and has one.
func HugePageCount() []byte {
	return bytes.Replace(New().TextPage(Text("One page, whatever the tree says.")...).Bytes(), []byte("/Count 1 "), []byte("/Count 9999999999 "), 1)
}

// GiantPage is a page of 18000 × 36000 points, more than ten metres high, with a line of text.
func GiantPage() []byte {
	return New().PageSize(18000, 36000).TextPage(Line{Text: "A poster for the side of a house", Size: 900}).Bytes()
}

// Truncated is the beginning of a file: the header and the catalogue are there, the pages that it names are not.
func Truncated() []byte {
	whole := New().TextPage(Text("This page was lost on the way.")...).Bytes()
	return whole[:bytes.Index(whole, []byte("\n2 0 obj"))+4]
}

// Rubbish starts like a PDF and holds none.
func Rubbish() []byte {
	return append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte("nothing here is an object\n"), 200)...)
}

// WithPreamble puts bytes before a file, as mail gateways and web servers do. Readers have to look for the header.
func WithPreamble(pdf []byte) []byte {
	return append([]byte("\xef\xbb\xbfContent-Type: application/pdf\r\n\r\n"), pdf...)
}
