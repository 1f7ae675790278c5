package doubt

import (
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// frequent are the words that make up a third of most texts in a language, as Tesseract names it. They have no accents, because
// recognition in another language loses these.
var frequent = map[string]string{
	"eng": "the and of to in is that for it with as was on be are by this have from or not at which you we but an they has were will their his her been all can if would there one when who more your our so no please than its into only may other any should",
	"deu": "der die das und ist in zu den von mit sich des auf fur nicht im dem ein eine als auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem uber einen so zum war haben nur oder aber vor zur bis mehr durch wir ich ihr man sehr bitte einer kann unter wenn ihre sein keine",
	"fra": "le la les de des et en du un une est que qui dans pour au sur pas par plus avec ne se ce il elle nous vous sont aux ou mais son sa ses cette ete etre etait leur comme tout fait meme ces deux sans votre notre ont si je bien aussi entre peut apres",
	"nld": "de het een en van in is dat op te zijn met voor niet die aan er om ook als bij door maar uit naar dan nog wordt over heeft hij ze worden kan wij was moet deze hun zich tot geen meer wel uw werd veel je ik ons onze",
	"nor": "og er det som pa en til av for at med har de ikke den var jeg et han om men fra vi kan skal eller ved blir etter ble hvis dette seg ogsa mot noe mye hva vaere ma disse nar ut over under bare vil deres dere hun ny nye kun sa mer alle denne inn deg meg",
	"dan": "og er det som pa en til af for at med har de ikke den var jeg et han om men fra vi kan skal eller ved bliver efter blev hvis dette sig ogsa mod noget meget hvad vaere nar ud over under kun vil deres nye sa mere alle denne ind hun skulle blevet dig mig",
	"swe": "och att det som pa en ar av for med den till inte har de ett om han men var jag sig fran vi kan nar ska eller vid blir efter sa man detta hos ocksa mot maste mycket vad vara dessa ut over under endast vill alla denna nya sin vart hej fore utan hade mer deras finns mellan",
	"isl": "og ad er sem ekki vid thad var til fyrir um med hann thvi fra en eru hefur thar vegna eftir hun vera kom segir ser sig their ma eins sagdi nu mjog upp yfir thessi",
	"fin": "ja on ei se etta oli ovat myos mutta kun kuin tai sen han joka ole hanen jos niin mita olla vain ollut nyt ennen jalkeen kanssa sita tama ne voi jo kaikki hyva sekka siita minun joita koska",
	"est": "ja on ei et see oli kui mis ka aga siis oma ta ning tema mida kes ma seda nii veel juba olla ole selle peab parast enne koik kuid eesti siin",
	"lav": "un ir no ar uz par ka kas bet vai lai ari tas to pec nav bija pie viss jau tikai var sava pirms ta es mes jus loti latvijas gada",
	"lit": "ir yra kad tai su del bet ar apie po kaip is jo buvo nuo savo kurie taip jau jei tik gali pagal uz prie iki metu bus mes labai kai",
	"pol": "nie na sie do to jest ze jak ale za co od po przez przed jego dla tak czy tylko juz lub oraz ktory ktore przy byc moze sa pan pani prosze ten tego jej ich bardzo jeszcze bez nad pod roku zostal dziekuje aby",
	"ces": "na je se ze to ve do pro jako za ale by po podle jsou tak nebo od byl byla jeho ktery ktere pri bude si jen aby az nez uz ma jsme prosim velmi pouze take roku dne mezi pred",
	"slk": "na je sa ze to vo do pre ako za ale by po podla su tak alebo od bol bola jeho ktory ktore pri bude si len aby az nez uz ma sme prosim velmi iba tiez roku dna medzi pred nie som",
	"hun": "az es hogy nem is egy ez van meg de csak volt mar mint ha vagy el kell azt minden lehet nagyon ki sem most mert majd igen kerjuk szerint utan kozott pedig ezt aki amely",
	"ron": "si de in la cu pe nu este din ca un care mai se sa pentru au fost sunt sau prin dar ale lui fi va al dupa ce iar acest pana fara intre mult numai vom rugam acesta cea cele",
	"hrv": "je se na da za su od ne ili iz kao bi sa koji koja sto ali nije biti samo po do jer moze kako nakon ako koje uz prema treba smo vrlo molimo prije svi ima vas ovaj bez",
	"slv": "je se na da za so od ne ali iz kot bi ki pa tudi ni biti samo po do ker lahko kako ce pri pred med zelo prosimo vse ima leta bo smo nas bil bila svoje ter",
	"sqi": "dhe ne te nje per me nga qe ka se si nuk eshte kjo ky jane por do mund shume duke pas sipas deri kane ishte tij saj ai ajo",
	"tur": "ve bir bu da de icin ile olarak cok daha gibi kadar ne var sonra olan her ya mi degil ise ancak en o ki yok sayin hem veya once tum gore lutfen bin iyi ben tarafindan uzere olup tarihinde toplam",
	"spa": "de la que el en los del se las por un para con no una su al lo como mas pero sus le ya fue este si porque esta entre cuando muy sin sobre tambien hasta hay donde han desde todo nos durante todos uno ser son dos era gracias usted dia nuestro puede",
	"por": "de que do da em um para com nao uma os no se na por mais as dos como mas foi ao ele das tem seu sua ou ser quando muito ha nos ja esta eu tambem so pelo pela ate isso ela entre era depois sem mesmo aos seus apos sao sera voce nossa",
	"cat": "de la que el en els del les per un amb no una al es com mes pero seu ha son van aquest aquesta tambe sobre entre molt quan fins hi ser dels pel seva o nostre gracies tots ens vostra",
	"ita": "di che la il un per in non una con del si da le sono della ha dei al come piu anche gli ma nel alla lo delle ed suo era essere questo dal sua dalla se tra cui fra nella fino dopo stato ci degli deve entro prega loro questa",
	"ind": "yang dan di dengan untuk dari pada ini itu dalam tidak akan adalah ke oleh juga atau karena telah sebagai ada bisa kami anda saya mereka sudah harus dapat tahun hari lebih",
	"vie": "va la cua co cho cac mot nhung khong duoc trong voi den da khi nguoi nay tu theo ve nam ngay tai nhu cung phai",
}

var frequentIn = sync.OnceValue(func() map[string][]string {
	in := map[string][]string{}
	for language, words := range frequent {
		for w := range strings.FieldsSeq(words) {
			if !slices.Contains(in[w], language) {
				in[w] = append(in[w], language)
			}
		}
	}
	return in
})

// Language returns the language of which a text has most frequent words, or "" if two have as many, which share of its words these
// are, and how many words of two letters and more it has.
func Language(text string) (language string, share float64, words int) {
	hits := map[string]int{}
	for _, w := range letterWords(text) {
		words++
		for _, l := range frequentIn()[plain(w)] {
			hits[l]++
		}
	}
	most, second := 0, 0
	for l, n := range hits {
		switch {
		case n > most:
			language, most, second = l, n, most
		case n > second:
			second = n
		}
	}
	if most == second {
		language = ""
	}
	return language, float64(most) / float64(max(words, 1)), words
}

// Gibberish has hardly any frequent words. So have lists of names and texts in other languages, so recognition has to confirm it. That
// takes seconds a page, and is left out where letters follow one another as in words: accounts, indexes and tables of contents would pay for it.
const (
	fewestWords    = 20
	gibberishShare = 0.05
	usualLetters   = -3.05 // pages of names and accounts are above -3.0, with other letters in place of theirs below -3.3
	proseShare     = 0.12
	latinShare     = 0.8
	sameWords      = 0.3
)

// Gibberish reports whether a text of Latin letters has hardly any words of a known language, as in a text layer whose letters are
// mapped to others.
func Gibberish(text string) bool { return gibberish(text, fewestWords) }

func gibberish(text string, fewest int) bool {
	latin, letters := 0, 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			if letters++; unicode.Is(unicode.Latin, r) {
				latin++
			}
		}
	}
	longer := slices.DeleteFunc(letterWords(text), func(w string) bool { return len([]rune(w)) < 3 }) // any two letters are a word somewhere
	_, share, _ := Language(strings.Join(longer, " "))
	slices.Sort(longer)
	different := slices.Compact(longer)
	return len(different) >= fewest && share < gibberishShare && float64(latin) >= latinShare*float64(letters) && wordLike(different) < usualLetters
}

// following has for each letter how likely each other one is behind it, as logarithms, in the frequent words of all languages. The last
// row and column are the beginning and the end of a word; letters without a place of their own count as that.
var following = sync.OnceValue(func() (likely [27][27]float64) {
	for _, words := range frequent {
		for w := range strings.FieldsSeq(words) {
			eachPair(w, func(a, b int) { likely[a][b]++ })
		}
	}
	for a, row := range likely {
		all := 0.0
		for _, n := range row {
			all += n
		}
		for b, n := range row {
			likely[a][b] = math.Log((n + 0.5) / (all + 0.5*float64(len(row))))
		}
	}
	return likely
})

// wordLike returns how likely the letters of words are to follow one another, as the mean of the logarithms.
func wordLike(words []string) float64 {
	sum, pairs := 0.0, 0
	for _, w := range words {
		eachPair(plain(w), func(a, b int) {
			sum += following()[a][b]
			pairs++
		})
	}
	return sum / float64(max(pairs, 1))
}

// eachPair calls a function for each letter of a word and the one behind it.
func eachPair(word string, see func(a, b int)) {
	const end = 26
	last := end
	for _, r := range word {
		at := end
		if r >= 'a' && r <= 'z' {
			at = int(r - 'a')
		}
		see(last, at)
		last = at
	}
	see(last, end)
}

// proseSigns are the signs of prose and of Markdown.
const proseSigns = ".,;:!?'\"()[]/-–—‘’“”&%$+*#_|"

// Coded reports whether a text looks like the codes of a font: most of its signs are neither letters nor digits, every seventh is none of
// prose, or they are gibberish.
func Coded(text string) bool {
	const fewest = 8 // words: a diagram has less
	plain, odd, all := 0, 0, 0
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			continue
		case unicode.IsLetter(r), unicode.IsDigit(r):
			plain++
		case !strings.ContainsRune(proseSigns, r):
			odd++
		}
		all++
	}
	return 2*plain < all || 7*odd > all || gibberish(text, fewest)
}

// Prose reports whether a text has as many frequent words as texts in its language have.
func Prose(text string) bool {
	_, share, words := Language(text)
	return words >= fewestWords && share >= proseShare
}

// SameLetters reports whether recognition found the words of a text layer, or some of them if it does not know the language.
func SameLetters(layer, recognised string) bool {
	found := map[string]bool{}
	for _, w := range letterWords(recognised) {
		found[plain(w)] = true
	}
	same, all := 0, 0
	for _, w := range letterWords(layer) {
		if all++; found[plain(w)] {
			same++
		}
	}
	return all > 0 && float64(same) >= sameWords*float64(all)
}

// OtherWords reports whether recognition finds most words of a text not to be on its page. Of few words nobody knows.
func OtherWords(text, recognised string) bool {
	words, found, same := wordsOf(text), count(wordsOf(recognised)), 0
	if len(words) < fewCompared || len(found) < fewCompared {
		return false
	}
	for _, w := range words {
		if found[w] > 0 {
			found[w]--
			same++
		}
	}
	return 2*same < len(words)
}

// fewCompared is how many words a page needs to be compared with its picture.
const fewCompared = 10

// letterWords returns the words of a text that consist of letters, in small letters and without the marks around them.
func letterWords(text string) (words []string) {
	for w := range strings.FieldsSeq(text) {
		w = strings.TrimFunc(w, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) })
		if len([]rune(w)) > 1 && !strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }) {
			words = append(words, strings.ToLower(w))
		}
	}
	return words
}

var unaccented = strings.NewReplacer("ø", "o", "æ", "ae", "ß", "ss", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i", "œ", "oe")

// plain returns a word in small letters without accents.
func plain(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(unaccented.Replace(word)))
}
