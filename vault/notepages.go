package vault

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
)

// The marks around the generated part of an import's note.
const (
	GeneratedBegin = "%% vaultflow:begin %%"
	GeneratedEnd   = "%% vaultflow:end %%"
)

// PagePart is what a bundle's note has about a page: bytes of the note. Page 0 is what is above the first page.
type PagePart struct {
	Page     int
	From, To int
	Body     int // after the line with the page's block id
}

var pageID = regexp.MustCompile(`(?m)^.*[ \t]\^p(\d{1,7})[ \t\r]*$`)

// Generated returns the generated part of a bundle's note, from behind the first mark to the last one, and whether there is one.
func Generated(note string) (from, to int, found bool) {
	begin, end := strings.Index(note, GeneratedBegin), strings.LastIndex(note, GeneratedEnd)
	if begin < 0 || end < begin {
		return 0, 0, false
	}
	return begin + len(GeneratedBegin), end, true
}

// PageParts divides a bundle's note by the block ids of pages, below their headings. A page whose id is there twice continues.
// What is outside the marks belongs to no page. A note without marks is divided as a whole.
func PageParts(note string) []PagePart {
	from, to, found := Generated(note)
	if !found {
		from, to = 0, len(note)
	}
	list := []PagePart{{From: from, To: to, Body: from}}
	seen := map[int]bool{}
	for _, m := range pageID.FindAllStringSubmatchIndex(note[:to], -1) {
		n, err := strconv.Atoi(note[m[2]:m[3]])
		if err != nil || n < 1 || seen[n] || m[0] < from {
			continue
		}
		seen[n] = true
		last := &list[len(list)-1]
		start := pageHead(note, m[0], m[1], last.Body)
		last.To = start
		list = append(list, PagePart{Page: n, From: start, To: to, Body: min(m[1]+1, to)})
	}
	return list
}

// pageHead returns where a page begins whose id is in the line from at to end: at the last heading of the second level, or else
// above the pictures before the line.
func pageHead(note string, at, end, stop int) int {
	if i := strings.LastIndex("\n"+note[stop:end], "\n## "); i >= 0 {
		return stop + i
	}
	for at > stop {
		start := strings.LastIndexByte(note[:at-1], '\n') + 1
		line := strings.TrimSpace(note[start:at])
		if start < stop || line != "" && !strings.HasPrefix(line, "![") && !strings.HasPrefix(line, "#") {
			break
		}
		at = start
	}
	return at
}

// PageDigest identifies the text of a page in a note, by which edits are recognised. Line ends and space around it do not count.
func PageDigest(part string) string {
	sum := sha256.Sum256([]byte(strings.TrimSpace(strings.ReplaceAll(part, "\r\n", "\n"))))
	return hex.EncodeToString(sum[:8])
}

// PageDigests returns the digests of the pages in a generated note.
func PageDigests(note string) map[int]string {
	digests := map[int]string{}
	for _, part := range PageParts(note) {
		digests[part.Page] = PageDigest(note[part.From:part.To])
	}
	return digests
}
