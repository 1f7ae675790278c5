package phototest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// writing is the text of a page. An empty paragraph is a blank line.
type writing struct {
	language, kind, font string
	title                string
	paragraphs           []string
	listed               bool // each paragraph is one entry
}

// write makes up a text: half of them are English, a quarter each German and French.
func write(random *rand.Rand) writing {
	w := writing{language: []string{"eng", "eng", "deu", "fra"}[random.IntN(4)], kind: []string{"prose", "prose", "letter", "invoice", "list"}[random.IntN(5)]}
	words := tongues[w.language]
	switch w.kind {
	case "prose":
		w.title = pick(random, words.titles)
		sentences := shuffled(random, words.prose)
		for len(sentences) > 0 && len(w.paragraphs) < 4 {
			n := min(2+random.IntN(2), len(sentences))
			w.paragraphs = append(w.paragraphs, strings.Join(sentences[:n], " "))
			sentences = sentences[n:]
		}
	case "letter":
		w.title = fmt.Sprintf(pick(random, words.places), 1+random.IntN(28), 2001+random.IntN(25))
		w.paragraphs = append(w.paragraphs, words.greeting, strings.Join(shuffled(random, words.letter)[:4], " "), strings.Join(shuffled(random, words.prose)[:2], " "), words.closing)
	case "invoice":
		w.title, w.listed = fmt.Sprintf(words.invoice, 1000+random.IntN(9000)), true
		sum := 0
		for _, thing := range shuffled(random, words.things)[:8] {
			n, price := 1+random.IntN(12), 5*(10+random.IntN(500))
			sum += n * price
			w.paragraphs = append(w.paragraphs, fmt.Sprintf("%d × %s, %s = %s", n, thing, money(price, w.language), money(n*price, w.language)))
		}
		w.paragraphs = append(w.paragraphs, "", fmt.Sprintf(words.total, money(sum, w.language)))
	case "list":
		w.title, w.listed = words.list, true
		w.paragraphs = shuffled(random, words.entries)
	}
	return w
}

func money(cents int, language string) string {
	s := fmt.Sprintf("%d.%02d", cents/100, cents%100)
	if language != "eng" {
		s = strings.ReplaceAll(s, ".", ",")
	}
	return s
}

func pick(random *rand.Rand, from []string) string { return from[random.IntN(len(from))] }

func shuffled(random *rand.Rand, from []string) []string {
	out := make([]string, len(from))
	for i, j := range random.Perm(len(from)) {
		out[i] = from[j]
	}
	return out
}

// tongue is what there is to say in a language. All of it was written for this package.
type tongue struct {
	titles, prose, places, letter, things, entries []string
	greeting, closing, invoice, total, list        string
}

var tongues = map[string]tongue{
	"eng": {
		titles: []string{"The Mill at the Bend", "An Account of the Harvest", "Notes from the Harbour"},
		prose: []string{
			"The mill stood where the river bends, and nobody in the village could remember a time without it.",
			"In winter the wheel froze, and the miller's children skated on the pond until the lamps were lit.",
			"She had counted forty-seven steps to the top of the tower, yet her brother insisted there were fifty.",
			"On market days the square filled with carts, with geese in baskets, and with people who talked of prices.",
			"Nothing was said at breakfast; the letter lay beside the teapot, and everyone pretended not to see it.",
			"The harvest of 1874 was the worst in memory, because the rain that began in June did not end until September.",
			"A narrow path leads through the oak wood to the old quarry, where foxgloves grow between the stones.",
			"His grandfather had built the boat himself, from larch planks and with copper nails, in a single spring.",
			"When the bell rang for the third time, the ferry was already in the middle of the channel.",
			"They kept bees behind the orchard wall and sold the honey in jars with handwritten labels.",
			"The doctor arrived at midnight, drenched to the skin, and asked for nothing but hot water and a candle.",
			"From the upper window one could see the whole harbour, the lighthouse, and on clear days the islands.",
		},
		places: []string{"Whitby, %d March %d", "Ludlow, %d October %d", "Galway, %d May %d"},
		letter: []string{
			"Thank you very much for your letter and for the photographs, which arrived safely last Tuesday.",
			"We would be glad to welcome you here in August, when the garden is at its best.",
			"Please let me know by the end of the month whether the proposed date suits you.",
			"I enclose the key to the summer house; the gardener will show you where everything is kept.",
			"The repairs to the roof have been finished, and the bill was lower than we had feared.",
			"If you should need anything else, do not hesitate to write to me or to telephone.",
		},
		greeting: "Dear Mrs. Ashworth,", closing: "Yours sincerely, Edward Pembroke", invoice: "Invoice No. %d", total: "Total amount due: %s",
		things: []string{
			"boxes of envelopes", "pencils, blue", "rolls of wrapping paper", "desk lamps", "fountain pens", "staplers with staples",
			"notebooks, ruled", "calendars for the wall", "bottles of black ink", "pairs of scissors",
		},
		list: "Words of the House",
		entries: []string{
			"attic: the room under the roof", "banister: the rail of a staircase", "cupboard: a place for dishes", "doorstep: the stone before the door",
			"fireplace: where wood is burned", "gutter: carries rain from the roof", "hinge: on which a door turns", "kettle: for boiling water",
			"larder: a cool room for food", "mantelpiece: the shelf above the fire", "threshold: the floor of a doorway", "windowsill: the ledge below a window",
		},
	},
	"deu": {
		titles: []string{"Die Mühle am Bach", "Bericht über die Ernte", "Aufzeichnungen vom Hafen"},
		prose: []string{
			"Die Mühle stand dort, wo der Fluss einen Bogen macht, und niemand im Dorf kannte eine Zeit ohne sie.",
			"Im Winter gefror das Rad, und die Kinder des Müllers liefen Schlittschuh, bis die Lampen angezündet wurden.",
			"Sie hatte siebenundvierzig Stufen gezählt, doch ihr Bruder behauptete, es müssten fünfzig sein.",
			"An Markttagen füllte sich der Platz mit Wagen, mit Gänsen in Körben und mit Leuten, die über Preise sprachen.",
			"Beim Frühstück wurde nichts gesagt; der Brief lag neben der Kanne, und alle taten, als sähen sie ihn nicht.",
			"Die Ernte des Jahres 1874 war die schlechteste seit langem, weil der Regen von Juni bis September dauerte.",
			"Ein schmaler Weg führt durch den Eichenwald zum alten Steinbruch, wo Fingerhut zwischen den Felsen wächst.",
			"Sein Großvater hatte das Boot selbst gebaut, aus Lärchenholz und mit kupfernen Nägeln, in einem Frühjahr.",
			"Als die Glocke zum dritten Mal läutete, war die Fähre schon in der Mitte des Stromes.",
			"Hinter der Mauer des Obstgartens hielten sie Bienen und verkauften den Honig in beschrifteten Gläsern.",
			"Der Arzt kam um Mitternacht, völlig durchnässt, und bat nur um heißes Wasser und eine Kerze.",
			"Vom oberen Fenster aus sah man den ganzen Hafen, den Leuchtturm und an klaren Tagen die Inseln.",
		},
		places: []string{"Göttingen, den %d. März %d", "Lübeck, den %d. Oktober %d", "Würzburg, den %d. Mai %d"},
		letter: []string{
			"Haben Sie vielen Dank für Ihren Brief und für die Bilder, die am Dienstag gut angekommen sind.",
			"Wir würden uns sehr freuen, Sie im August bei uns begrüßen zu dürfen, wenn der Garten am schönsten ist.",
			"Bitte geben Sie mir bis zum Ende des Monats Bescheid, ob Ihnen der vorgeschlagene Termin passt.",
			"Den Schlüssel zum Gartenhaus lege ich bei; der Gärtner wird Ihnen zeigen, wo alles aufbewahrt wird.",
			"Die Arbeiten am Dach sind abgeschlossen, und die Rechnung fiel niedriger aus als befürchtet.",
			"Sollten Sie noch etwas benötigen, so schreiben Sie mir bitte oder rufen Sie an.",
		},
		greeting: "Sehr geehrte Frau Köhler,", closing: "Mit freundlichen Grüßen, Jürgen Weiß", invoice: "Rechnung Nr. %d", total: "Gesamtbetrag: %s",
		things: []string{
			"Schachteln Umschläge", "Bleistifte, grün", "Rollen Packpapier", "Schreibtischlampen", "Füllfederhalter", "Heftgeräte mit Klammern",
			"Notizbücher, liniert", "Wandkalender", "Fläschchen schwarze Tinte", "Scheren für Linkshänder",
		},
		list: "Wörter rund ums Haus",
		entries: []string{
			"Dachboden: der Raum unter dem Dach", "Geländer: an der Treppe", "Küchenschrank: für das Geschirr", "Türschwelle: am Eingang",
			"Kamin: darin brennt das Holz", "Regenrinne: führt Wasser ab", "Scharnier: daran hängt die Tür", "Wasserkessel: zum Kochen",
			"Vorratskammer: für Lebensmittel", "Gesims: über dem Feuer", "Fußmatte: vor der Tür", "Fensterbrett: für die Blumentöpfe",
		},
	},
	"fra": {
		titles: []string{"Le moulin de la rivière", "Récit de la moisson", "Carnets du port"},
		prose: []string{
			"Le moulin se dressait là où la rivière fait un coude, et personne au village n'avait connu un temps sans lui.",
			"En hiver, la roue gelait, et les enfants du meunier patinaient jusqu'à ce que l'on allumât les lampes.",
			"Elle avait compté quarante-sept marches, mais son frère prétendait qu'il y en avait cinquante.",
			"Les jours de marché, la place se remplissait de charrettes, d'oies dans leurs paniers et de gens bavards.",
			"On ne dit rien au déjeuner ; la lettre était posée près de la théière, et chacun feignait de ne pas la voir.",
			"La moisson de 1874 fut la plus mauvaise de mémoire d'homme, car la pluie dura de juin à septembre.",
			"Un sentier étroit mène à travers la forêt de chênes jusqu'à l'ancienne carrière, où poussent les digitales.",
			"Son grand-père avait construit lui-même le bateau, en mélèze et avec des clous de cuivre, en un printemps.",
			"Quand la cloche sonna pour la troisième fois, le bac était déjà au milieu du fleuve.",
			"Derrière le mur du verger, ils élevaient des abeilles et vendaient le miel dans des pots étiquetés.",
			"Le médecin arriva à minuit, trempé jusqu'aux os, et ne demanda que de l'eau chaude et une bougie.",
			"De la fenêtre du haut, on voyait tout le port, le phare et, par temps clair, les îles.",
		},
		places: []string{"Besançon, le %d mars %d", "Orléans, le %d octobre %d", "Évreux, le %d mai %d"},
		letter: []string{
			"Je vous remercie de votre lettre et des photographies, qui sont bien arrivées mardi dernier.",
			"Nous serions très heureux de vous accueillir ici au mois d'août, quand le jardin est le plus beau.",
			"Veuillez me faire savoir avant la fin du mois si la date proposée vous convient.",
			"Je joins la clé du pavillon d'été ; le jardinier vous montrera où tout est rangé.",
			"Les réparations du toit sont terminées, et la facture a été moins élevée que nous ne le craignions.",
			"Si vous aviez encore besoin de quelque chose, n'hésitez pas à m'écrire ou à me téléphoner.",
		},
		greeting: "Chère Madame Lefèvre,", closing: "Avec mes salutations distinguées, François Côté", invoice: "Facture n° %d", total: "Montant à régler : %s",
		things: []string{
			"boîtes d'enveloppes", "crayons bleus", "rouleaux de papier kraft", "lampes de bureau", "stylos à plume", "agrafeuses",
			"cahiers lignés", "calendriers muraux", "flacons d'encre noire", "paires de ciseaux",
		},
		list: "Les mots de la maison",
		entries: []string{
			"grenier : la pièce sous le toit", "rampe : le long de l'escalier", "buffet : pour la vaisselle", "seuil : la pierre de l'entrée",
			"cheminée : où brûle le bois", "gouttière : reçoit l'eau de pluie", "charnière : fait tourner la porte", "bouilloire : pour le thé",
			"cellier : pièce fraîche", "étagère : au-dessus du feu", "paillasson : devant la porte", "fenêtre : éclaire la chambre",
		},
	},
}
