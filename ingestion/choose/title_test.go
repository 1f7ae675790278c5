package choose

import "testing"

func TestGeneric(t *testing.T) {
	t.Parallel()
	for _, title := range []string{
		"", "(anonymous)", "untitled", "Untitled1", "Unbenannt 2", "PowerPoint Presentation", "PowerPoint-Präsentation", "Présentation PowerPoint", "PowerPoint プレゼンテーション",
		"Microsoft Word - x.doc", "Microsoft Word - Letter to Bo", "Slide 1", "Folie 12", "Document (3)", "Mappe1", `C:\Users\mei\q3.xls`, "/home/mei/q3.tex", "file:///tmp/a.html",
		"thesis_final.dvi", "a", "-", "()", "Без названия", "无标题", "Scan_0001",
	} {
		if !Generic(title) {
			t.Errorf("%q counts as a title", title)
		}
	}
	for _, title := range []string{"Annual Report 2025", "1984", "Slides for Bo", "The Book of Tea", "Dr. No", "AI", "Vitamin C", "Presentation skills", "Node.js in production", "Document retention policy", "C/C++ and/or Rust", "II"} {
		if Generic(title) {
			t.Errorf("%q counts as generic", title)
		}
	}
}

func TestAuthor(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"anonymous", "(anonymous)", "Anonymous", "user", "User1", "admin", "root", "unknown", "Administrator", "Windows User", "Microsoft Office User", "", " ", "?", "用户"} {
		if got := Author(name); got != "" {
			t.Errorf("%q counts as an author", got)
		}
	}
	for _, name := range []string{"Mei Lin", "Root, Anna", "Admin Office of Bremen", "root <root@example.org>", "Li", "AI Lab", "Guest House Ltd", "J. User"} {
		if Author(name) != name {
			t.Errorf("%q does not count as an author", name)
		}
	}
}

func TestHeading_highestThatIsATitle(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"words\n\n## Contents\n\n# **Annual** [Report](#^p1)\n\n# Later\n": "Annual Report",
		"# Untitled\n\n### Minutes of May\n":                               "Minutes of May",
		"```\n# a comment\n```\n\nText":                                    "",
		"# Abstract\n":                                                     "",
		"# 3\\. Methods\\_2\n":                                             "3. Methods_2",
	} {
		if got := Heading(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
