// Package office reads word processor files, presentations, spreadsheets and e-books as Markdown: docx, pptx, xlsx, odt,
// odp, ods and epub. Headings, lists, tables, links, footnotes and pictures stay in the author's order.
//
// The files are ZIP archives of XML from anywhere. [Read] opens only the parts that it needs, bounds what they unpack to,
// how deep and how large their trees are, follows no link out of the archive, runs no macro, and computes nothing that was
// not computed by the program which saved the file. Layout, headers, footers, comments and deleted text are left out.
package office
