package choose

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// placeholders are titles that programs write when nobody has given one, in lower case without numbers at their ends.
var placeholders = wordSet(`
anonymous, untitled, untitled document, untitled presentation, untitled spreadsheet, untitled design, new document, document, no title, no name, title, none, null, nil, undefined, unknown, n/a,
unbenannt, unbenanntes dokument, ohne titel, kein titel, neues dokument, dokument, titel,
sans titre, document sans titre, nouveau document, titre, sin título, documento sin título, documento, título, senza titolo, documento senza titolo, titolo, sem título, documento sem título,
naamloos, naamloos document, zonder titel, bez tytułu, dokument bez tytułu, bez názvu, namnlös, namnløs, uten tittel, uden titel, nimetön, névtelen, adsız, isimsiz, без названия, без имени, документ, без назви,
无标题, 未命名, 無題, 無標題, 제목 없음, 文档, 文書, 문서,
powerpoint presentation, presentation, powerpoint-präsentation, präsentation, présentation powerpoint, présentation, presentación de powerpoint, presentación, presentazione standard di powerpoint, presentazione di powerpoint,
presentazione, apresentação do powerpoint, apresentação, powerpoint-presentatie, presentatie, prezentacja programu powerpoint, prezentacja, презентация powerpoint, презентация, prezentace aplikace powerpoint, prezentace,
powerpoint-presentation, powerpoint プレゼンテーション, プレゼンテーション, powerpoint 演示文稿, 演示文稿, powerpoint 簡報, 簡報, powerpoint 프레젠테이션, 프레젠테이션, powerpoint bemutató, powerpoint sunusu,
slide, folie, diapositive, diapositiva, dia, slajd, слайд, lysbild, bild, 幻灯片, スライド,
book, workbook, mappe, arbeitsmappe, classeur, libro, cartella, pasta, werkmap, zeszyt, книга, 工作簿, ブック, sheet, tabelle, feuil, feuille, hoja, foglio, planilha, blad, arkusz, лист,
page, seite, página, pagina, strona, страница, layout, template, vorlage, modèle, plantilla, scan, scanned document, scanned image, image, print, full page photo, microsoft word, microsoft excel, microsoft powerpoint, about:blank, doc`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.SplitSeq(list, ",") {
		set[strings.TrimSpace(strings.ReplaceAll(word, "\n", " "))] = true
	}
	return set
}

var (
	counted   = regexp.MustCompile(`[\s_#.-]*(?:\(\s*)?\d*(?:\s*\))?$`)                                                                                  // "Slide 1", "Document (2)"
	printJob  = regexp.MustCompile(`(?i)^(?:microsoft (?:office )?(?:word|excel|powerpoint|publisher|visio)|openoffice\S*|libreoffice\S*|adobe \w+) - `) // for print drivers
	pathStart = regexp.MustCompile(`(?i)^(?:[a-z]:[\\/]|\\\\|/[^/\s]+/|file:)`)
	// fileName matches a name with the extension of a document, a picture or a program's own file.
	fileName = regexp.MustCompile(`(?i)^[^/\\]*\.(?:docx?|dotx?|docm|odt|rtf|wpd|wps|pages|txt|md|tex|dvi|ps|eps|pdf|xlsx?|xlsm|ods|numbers|csv|pptx?|ppsx?|pptm|odp|key|html?|xml|indd|qxd|p65|pmd|fm|pub|cdr|ai|svg|psd|png|jpe?g|tiff?|gif|bmp|dwg|vsdx?|mdi|tmp|prn)$`)
)

// Generic reports whether a title says nothing about its document: a placeholder of a program in one of many languages, the name of
// a file, a path, or a single character. Nobody would call the document so.
func Generic(title string) bool {
	plain := strings.ToLower(strings.TrimSpace(title))
	plain = strings.Trim(plain, "()[]<>\"'«»„“”‘’ .-_")
	if utf8.RuneCountInString(plain) <= 1 || !strings.ContainsFunc(plain, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return true
	}
	if placeholders[plain] || placeholders[strings.TrimSpace(counted.ReplaceAllString(plain, ""))] {
		return true
	}
	return printJob.MatchString(title) || pathStart.MatchString(plain) || fileName.MatchString(plain)
}

// nobody has what programs and systems write as the author when they know none.
var nobody = wordSet(`anonymous, anonym, anonyme, anónimo, anônimo, anonimo, аноним, 匿名, user, users, username, user name, benutzer, utilisateur, usuario, usuário, utente, gebruiker, użytkownik,
пользователь, 用户, ユーザー, 사용자, windows user, windows-benutzer, utilisateur windows, usuario de windows, microsoft office user, microsoft-office-benutzer, utilisateur microsoft office, usuario de microsoft office,
пользователь windows, office user, default user, guest, gast, owner, admin, administrator, administrateur, administrador, amministratore, администратор, 管理员, root, unknown, unknown author, unbekannt, inconnu, desconocido,
desconhecido, sconosciuto, onbekend, неизвестно, неизвестен, 未知, author, autor, auteur, autore, автор, 作者, none, null, n/a, not specified, unspecified, default, test, python-docx, openpyxl`)

// Author returns an author, or "" for a word that programs write when they know none. Whole names are compared: Dr. User stays.
func Author(name string) string {
	plain := strings.Trim(strings.ToLower(strings.TrimSpace(name)), "()[]<>\"'«»„“”‘’ .-_?")
	if plain == "" || nobody[plain] || nobody[strings.TrimSpace(counted.ReplaceAllString(plain, ""))] {
		return ""
	}
	return name
}

// sections are headings that begin many documents and name none.
var sections = wordSet(`contents, table of contents, abstract, summary, introduction, preface, foreword, overview, index, appendix,
inhalt, inhaltsverzeichnis, zusammenfassung, einleitung, vorwort, table des matières, sommaire, résumé, avant-propos, índice, contenido, resumen, introducción, indice, sommario, introduzione, sumário, resumo, introdução,
inhoud, inhoudsopgave, spis treści, содержание, оглавление, 目录, 目次`)

var (
	headingLine = regexp.MustCompile(`^(#{1,6})\s+(.+)$`)
	linkText    = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()\s]*\)`)
	marks       = strings.NewReplacer(`\`, "", "**", "", "*", "", "`", "", "==", "", "~~", "")
)

// Heading returns the title that the Markdown of a document's beginning shows: the first of its highest headings that is no
// placeholder and names no usual section. It is plain text, or "".
func Heading(text string) string {
	best, title := 7, ""
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		m := headingLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if fenced || m == nil || len(m[1]) >= best {
			continue
		}
		plain := strings.TrimSpace(marks.Replace(linkText.ReplaceAllString(m[2], "$1")))
		if named := strings.ToLower(strings.TrimRight(plain, " .:")); Generic(plain) || sections[named] {
			continue
		}
		best, title = len(m[1]), plain
	}
	return title
}
