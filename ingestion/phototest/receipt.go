package phototest

import (
	"fmt"
	"image"
	"image/draw"
	"math/rand/v2"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// The paper of a till is 80 mm wide, here at 300 dpi, and as long as its text.
const (
	tillWidth, tillMargin = 945, 60
	tillColumns           = 32
)

// MakeReceipt makes a picture of a receipt. Its text has a line for each row, with single blanks.
func MakeReceipt(seed, number uint64) (Photo, error) {
	random := rand.New(rand.NewPCG(seed, number))
	rows := tillRows(random)
	page, err := till(rows)
	if err != nil {
		return Photo{}, err
	}
	camera := hold(random)
	camera.Quarters, camera.Fills, camera.Specks = 0, false, 0
	camera.Degrees = min(max(camera.Degrees, -15), 15)
	var text []string
	for _, row := range rows {
		text = append(text, strings.Join(row[:], " "))
	}
	return developed(random, page, camera, Photo{Text: strings.Join(text, "\n"), Record: Record{Seed: seed, Number: number, Language: "eng", Kind: "receipt", Font: "Go Mono"}})
}

// tillRows makes up what is printed on the left and on the right of each row. Rows without a price are centred.
func tillRows(random *rand.Rand) (rows [][2]string) {
	rows = append(rows, [2]string{"CORNER SHOP"}, [2]string{"12 High Street"}, [2]string{fmt.Sprintf("Tel 0123 %06d", random.IntN(1e6))}, [2]string{})
	sum := 0
	for _, thing := range shuffled(random, tillThings)[:6+random.IntN(6)] {
		cents := 15 + random.IntN(1500)
		switch random.IntN(4) {
		case 0:
			n := 2 + random.IntN(4)
			rows = append(rows, [2]string{fmt.Sprintf("%d x %s %s", n, thing, money(cents, "eng")), money(n*cents, "eng")})
			cents *= n
		case 1:
			rows = append(rows, [2]string{thing + fmt.Sprintf(" %d g", 50*(1+random.IntN(20))), money(cents, "eng")})
		default:
			rows = append(rows, [2]string{thing, money(cents, "eng")})
		}
		sum += cents
	}
	paid := (sum/1000 + 1) * 1000
	return append(
		rows, [2]string{}, [2]string{"TOTAL EUR", money(sum, "eng")}, [2]string{"CASH", money(paid, "eng")}, [2]string{"CHANGE", money(paid-sum, "eng")},
		[2]string{}, [2]string{"Thank you, come again!"},
	)
}

var tillThings = []string{
	"Bread", "Milk 2.5%", "Butter", "Apples", "Dish soap", "Coffee beans", "Tomatoes", "Kitchen roll", "Rice", "Olive oil", "Eggs", "Salt", "Carrots", "Yoghurt", "Batteries AA",
}

// till prints rows as a till does: in letters of one width, prices on the right.
func till(rows [][2]string) (*image.Gray, error) {
	parsed, err := opentype.Parse(gomono.TTF)
	if err != nil {
		return nil, err
	}
	advance := float64(tillWidth-2*tillMargin) / tillColumns
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: advance / 0.6, DPI: 72})
	if err != nil {
		return nil, err
	}
	step := int(advance * 2.1)
	img := image.NewGray(image.Rect(0, 0, tillWidth, step*(len(rows)+3)))
	draw.Draw(img, img.Rect, image.White, image.Point{}, draw.Src)
	pen := &font.Drawer{Dst: img, Src: image.Black, Face: face}
	for i, row := range rows {
		put := func(text string, column float64) {
			pen.Dot = fixed.P(tillMargin+int(column*advance), step*(i+2))
			pen.DrawString(text)
		}
		if row[1] == "" {
			put(row[0], float64(tillColumns-len(row[0]))/2)
			continue
		}
		put(row[0], 0)
		put(row[1], float64(tillColumns-len(row[1])))
	}
	return img, nil
}
