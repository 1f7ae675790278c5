package layout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// rightAt is a line that ends at x.
func rightAt(x, y, size float64, text string) layout.Line {
	l := at(0, y, size, text)
	l.Box.X0, l.Box.X1 = x-l.Box.X1, x
	return l
}

// The sender of a letter is at the right, and nothing is beside it: it is no column. It is read where it stands, whatever the size of the
// type, and whether its lines begin or end below one another.
func TestText_readsALetterFromTheTop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size, sender, receiver float64 // height of the type, and where the blocks begin
		left                   bool    // the sender's lines begin below one another
		first                  string  // which block the file has first
	}{
		"above":       {10, 50, 130, false, "sender"},
		"small":       {8, 50, 110, false, "sender"},
		"large":       {12, 50, 130, true, "sender"},
		"other order": {10, 50, 130, false, "receiver"},
		"half beside": {10, 104, 130, true, "sender"},
		"beside":      {10, 123, 130, true, "sender"},
	} {
		lead := 1.3 * c.size
		var sender, receiver, body []layout.Line
		for i, line := range []string{"Fjord Bakery AS", "Quay Street 4", "7010 Trondheim"} {
			if y := c.sender + lead*float64(i); c.left {
				sender = append(sender, at(390, y, c.size, line))
			} else {
				sender = append(sender, rightAt(540, y, c.size, line))
			}
		}
		for i, line := range []string{"Mr Alan Turing", "7 Orchard Avenue", "Manchester M1"} {
			receiver = append(receiver, at(60, c.receiver+lead*float64(i), c.size, line))
		}
		for i, line := range []string{
			"About your order 12", "Dear Mr Turing,", "the loaves that you have ordered are ready, and we ask you to come", "for them before noon on Tuesday of next week.",
			"Yours sincerely,", "Ida Holm",
		} {
			body = append(body, at(60, 240+1.4*lead*float64(i), c.size, line))
		}
		blocks := [][]layout.Line{sender, receiver}
		if c.first == "receiver" {
			slices.Reverse(blocks)
		}
		lines := append(slices.Concat(blocks...), rightAt(540, 205, c.size, "Trondheim, 9 May 2026"))
		want := []string{"Fjord Bakery AS Quay Street 4 7010 Trondheim", "Mr Alan Turing 7 Orchard Avenue Manchester M1", "9 May 2026", "About your", "Dear Mr Turing,", "the loaves", "Ida Holm"}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inTurn(t, flowing(text(append(lines, body...)...)), want...)
		})
	}
}

// What two people sign with is read one after the other; labels stay with what they are for.
func TestText_readsBlocksBesideOneAnother(t *testing.T) {
	t.Parallel()
	body := column(60, 100, 6, "Body")
	for i := range body {
		body[i] = at(60, body[i].Box.Y0, 10, fmt.Sprintf("Body%02d goes on with words over the whole of the page to its right margin", i))
	}
	signed := append(slices.Clone(body), at(60, 300, 10, "Ida Holm"), at(60, 313, 10, "Head of sales"), at(340, 302, 10, "Ola Berg"), at(340, 315, 10, "Director"))
	inTurn(t, text(signed...), "Body05", "Ida Holm Head of sales", "Ola Berg Director")
	labelled := append(slices.Clone(body), at(60, 300, 10, "Date:"), at(60, 313, 10, "Place:"), at(160, 300, 10, "9 May"), at(160, 313, 10, "Bergen"))
	inTurn(t, text(labelled...), "Body05", "Date:", "9 May", "Place:", "Bergen")
}

// Numbers in a line that runs from right to left may be misplaced unless the places of letters show the order: the page says so.
func TestMixedDirections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lines []string
		want  bool
	}{
		{[]string{"מסמך עם מספרים123 ומילה"}, true},
		{[]string{"הפסקה השנייה", "حسب Microsoft Office"}, true},
		{[]string{"أحمد12", "1.50"}, true},
		{[]string{"דוד", "12", "1.50", "Total"}, false},
		{[]string{"A page of 12 lines"}, false},
	} {
		var page layout.Page
		for i, line := range c.lines {
			page.Lines = append(page.Lines, at(60, 100+13*float64(i), 10, line))
		}
		if got := layout.MixedDirections(page); got != c.want {
			t.Errorf("%q: %v", c.lines, got)
		}
		for i := range page.Lines {
			page.Lines[i].Logical = true
		}
		if layout.MixedDirections(page) {
			t.Errorf("%q, in logical order", c.lines)
		}
	}
}

// Blocks in the head of an invoice are read one after the other, and are no table: lines of one say nothing about those beside them.
func TestText_readsTheHeadOfAnInvoice(t *testing.T) {
	t.Parallel()
	block := func(x, pitch float64, lines ...string) (out []layout.Line) {
		for i, line := range lines {
			if line != "" {
				out = append(out, at(x, 100+pitch*float64(i), 9, line))
			}
		}
		return out
	}
	items := sheet(290, 16, []float64{43, 250, 350, 470}, []string{"Item", "Quantity", "Price", "Sum"}, []string{"Rye bread", "12", "4.50", "54.00"}, []string{"Rolls", "40", "0.75", "30.00"})
	for _, pitch := range []float64{10.5, 12, 13.5} {
		client := block(43, pitch, "Client", "Fjord Bakery AS", "Quay Street 4", "7010 Trondheim", "Norway", "Reg. No.: 302991474", "Account: 5061.44.90210 Oslo")
		buyer := block(196, pitch, "Buyer", "Bakery Warehouse AS", "Gate 7, Harbour Road, Hall 12 on", "the left, Trondheim", "7041 Trondheim", "Norway", "Tax No.: 4417", "Reg. No.: 302991474")
		numbers := block(360, pitch, "Invoice: 20811", "Issued: 4 May 2026", "Due: 18 May 2026", "Customer: 4411")
		labels := block(360, pitch, "Date:", "Due date:", "Payment method:", "Interest:", "", "Period")
		values := []layout.Line{rightAt(552, 100, 9, "30.04.2026"), rightAt(552, 100+pitch, 9, "14.05.2026"), rightAt(552, 100+2*pitch, 9, "Bank transfer"), rightAt(552, 100+3*pitch, 9, "0% per day"), rightAt(552, 100+5*pitch, 9, "01.04.2026 - 30.04.2026")}
		contact := at(43, 215, 9, "Contact person: Ida Holm") // the file has it after the first block
		const first, second = "Client Fjord Bakery AS Quay Street 4 7010 Trondheim Norway Reg.", "Buyer Bakery Warehouse AS Gate 7, Harbour Road, Hall 12 on the left, Trondheim 7041 Trondheim Norway Tax"
		const third, rows = "Invoice: 20811 Issued: 4 May 2026 Due: 18 May 2026 Customer: 4411", "| Rye bread | 12 | 4.50 | 54.00 |"
		for name, c := range map[string]struct {
			lines []layout.Line
			want  []string
		}{
			"three":               {slices.Concat(client, buyer, numbers, items), []string{first, second, third, rows}},
			"two":                 {slices.Concat(client, numbers, items), []string{first, third, rows}},
			"two, row by row":     {byRow(slices.Concat(client, numbers, items)), []string{first, third, rows}},
			"labels beside":       {slices.Concat(client, []layout.Line{contact}, buyer, labels, values, items), []string{first, second, "Date:", "30.04.2026", "Payment method:", "Bank transfer", "Period", "01.04.2026", rows}},
			"not level, by row":   {byRow(slices.Concat(client, below(numbers, 5), items)), []string{first, third, rows}},
			"signed by many":      {slices.Concat(block(43, pitch, "Ida Holm", "Head of sales"), block(220, pitch, "Ola Berg", "Director"), block(390, pitch, "Gro Vik", "Treasurer"), items), []string{"Ida Holm Head of sales", "Ola Berg Director", "Gro Vik Treasurer"}},
			"a table in one go":   {slices.Concat(block(43, pitch, "Name", "Berg", "Dahl", "Eide"), block(220, pitch, "Place", "Oslo", "Bergen", "Bodo"), block(390, pitch, "Task", "cook", "clerk", "pilot")), []string{"| Berg | Oslo | cook |", "| Eide | Bodo | pilot |"}},
			"one label in a list": {slices.Concat(block(43, pitch, "Pier shop", "Old mill", "Town hall"), block(220, pitch, "Quay 4", "Hill 2", "Square 1"), block(390, pitch, "Phone: 4411", "Phone: 9022", "Phone: 1180")), []string{"| Pier shop | Quay 4 | Phone: 4411 |"}},
		} {
			t.Run(fmt.Sprintf("%s, %v", name, pitch), func(t *testing.T) {
				t.Parallel()
				inTurn(t, flowing(text(append([]layout.Line{at(43, 50, 18, "Invoice")}, c.lines...)...)), c.want...)
			})
		}
	}
}

// below moves lines down.
func below(lines []layout.Line, by float64) []layout.Line {
	out := slices.Clone(lines)
	for i := range out {
		out[i].Box.Y0, out[i].Box.Y1 = out[i].Box.Y0+by, out[i].Box.Y1+by
	}
	return out
}

// A soft hyphen, and the hyphen that is printed for it, are no part of the word.
func TestText_softHyphens(t *testing.T) {
	t.Parallel()
	for _, sign := range []string{"\u00ad", "\u00ad\u2010", "\u00ad-", "\u2010", "-"} {
		got := text(at(72, 100, 11, "The company has long been known as Donaudampf"+sign), at(72, 114, 11, "schiffahrt, and has its offices by the harbour of the town,"), at(72, 128, 11, "where its boats lie."))
		if !strings.Contains(got, " Donaudampfschiffahrt, ") {
			t.Errorf("%+q: %q", sign, got)
		}
	}
}

func TestText_softHyphensWithinLines(t *testing.T) {
	t.Parallel()
	if got := text(at(72, 100, 11, "The of\u00adficial wa\u00adter fac\u00adtory is here."), at(72, 200, 11, "pulp fac\u00adto-")); !strings.Contains(got, "The official water factory is here.") || !strings.Contains(got, "pulp facto-") {
		t.Errorf("%+q", got)
	}
}
