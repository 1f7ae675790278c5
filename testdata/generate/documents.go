package main

import (
	"fmt"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// documents adds the PDFs: text, scanned, mixed, rotated, encrypted, a filled form, and 120 pages.
func documents(files map[string][]byte) {
	at := func(name string) string { return "vault/Documents/" + name }
	files[at("Workbook.pdf")] = workbook()
	files[at("Scan.pdf")] = pdftest.New().Info("Minutes", "Harbour project").
		ScanPage("MINUTES OF THE MEETING", "", "Date: 17 November 2026", "Present: Tomas, Mei, Ingrid", "",
			"Decision: the exhibition opens on 2 May 2027.", "Task: Mei sends the first draft by 4 December.",
			"Task: Tomas settles the budget in December.").
		ScanPage("SECOND PAGE", "", "The museum keeps forty glass plates.", "A scan of one plate costs 120.").Bytes()
	files[at("Mixed.pdf")] = pdftest.New().Info("Mixed", "").
		TextPage(section("Letter", "This page has a text layer and needs no recognition.")...).
		ScanPage("ATTACHMENT", "", "This page is a picture of a letter.", "Its text must be recognised.").
		StampedScanPage("Page 3 of 4", "ATTACHMENT, CONTINUED", "", "The stamp below is the only real text here.").
		BlankPage().Bytes()
	files[at("Rotated.pdf")] = pdftest.New().
		TextPage(section("Turned by 90", "This page is displayed turned clockwise.")...).Rotated(90).
		TextPage(section("Turned by 180", "This page is displayed upside down.")...).Rotated(180).
		TextPage(section("Turned by 270", "This page is displayed turned the other way.")...).Rotated(270).Bytes()
	files[at("Encrypted.pdf")] = pdftest.New().
		TextPage(section("Secret", "Only those who know the password read this.")...).UserPassword("harbour").Bytes()
	files[at("Form.pdf")] = pdftest.New().
		TextPage(section("Application", "Name:", "", "City:")...).Field(pdftest.TextField("name", "Ingrid Berg")).Field(pdftest.TextField("city", "Bodø")).Bytes()
	long := pdftest.New().Info("Logbook", "Harbour office")
	for day := 1; day <= 120; day++ {
		if day%30 == 1 {
			long.Outline(fmt.Sprintf("Month %d", day/30+1), day)
		}
		long.TextPage(section(fmt.Sprintf("Day %d", day), fmt.Sprintf("Entry %d of the harbour's log.", day), "Wind from the west, four ships, no accident.")...)
	}
	files[at("Logbook 120 pages.pdf")] = long.Bytes()
}

func section(title string, lines ...string) []pdftest.Line {
	return append([]pdftest.Line{pdftest.Heading(title), {}}, pdftest.Text(lines...)...)
}

// workbook is a course book of three chapters on six pages.
func workbook() []byte {
	b := pdftest.New().Info("Linear algebra workbook", "V. Aultmann")
	b.Outline("Chapter 1 Vectors", 1).Outline("Chapter 2 Matrices", 3).Outline("Chapter 3 Eigenvalues", 5)
	pages := []struct {
		title string
		lines []string
	}{
		{"Chapter 1: Vectors", []string{"A vector has a length and a direction.", "Exercise 1.1: draw (3, 4) and measure its length.", "Exercise 1.2: add (1, 2) and (2, 1)."}},
		{"Exercises on vectors", []string{"Exercise 1.3: find a vector at a right angle to (2, 5).", "Exercise 1.4: when is the sum of two vectors zero?"}},
		{"Chapter 2: Matrices", []string{"A matrix moves every point of the plane.", "Exercise 2.1: which matrix turns the plane by 90 degrees?"}},
		{"Exercises on matrices", []string{"Exercise 2.2: multiply two rotations.", "Exercise 2.3: find a matrix without an inverse."}},
		{"Chapter 3: Eigenvalues", []string{"Some directions are only stretched.", "Exercise 3.1: find them for the mirror at the diagonal."}},
		{"Answers", []string{"1.1: the length is 5.", "1.2: (3, 3).", "2.1: its columns are (0, 1) and (-1, 0)."}},
	}
	for _, p := range pages {
		b.TextPage(section(p.title, p.lines...)...)
	}
	return b.Bytes()
}
