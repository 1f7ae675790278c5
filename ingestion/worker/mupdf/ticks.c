//go:build worker

#include <math.h>
#include <stdlib.h>
#include "read.h"

// Boxes to tick that are drawn. What is in a box is seen in the drawn page, however it was ticked: by lines, a sign or a picture.

enum { max_squares = 400 };

static const float
	least_side = 5.5f, most_side = 22,	// points
	to_text = 20,	// points to the letters beside a box
	finely = 2.5f;	// pixels for a point

static _Thread_local struct {
	int n;
	fz_rect at[max_squares];
} squares;

void forget_squares(void) { squares.n = 0; }

static int near_to(float a, float b, float by) { return fabsf(a - b) < by; }

// note_square notes a path that may be a box.
void note_square(fz_rect r)
{
	float w = r.x1 - r.x0, h = r.y1 - r.y0;
	if (w < least_side || h < least_side || w > most_side || h > most_side || w > 1.25f * h || h > 1.25f * w || squares.n == max_squares)
		return;
	for (int i = 0; i < squares.n; i++) { // filled, and then its outline
		fz_rect s = squares.at[i];
		if (near_to(s.x0, r.x0, 1.5f) && near_to(s.y0, r.y0, 1.5f) && near_to(s.x1, r.x1, 1.5f) && near_to(s.y1, r.y1, 1.5f))
			return;
	}
	squares.at[squares.n++] = r;
}

// in_grid reports whether a square touches another one, as the fields of a calendar do.
static int in_grid(int i)
{
	fz_rect a = squares.at[i];
	for (int j = 0; j < squares.n; j++) {
		fz_rect b = squares.at[j];
		int inner = b.x0 > a.x0 && b.y0 > a.y0 && b.x1 < a.x1 && b.y1 < a.y1; // the tick
		if (j != i && !inner && b.x0 < a.x1 + 1.5f && b.x1 > a.x0 - 1.5f && b.y0 < a.y1 + 1.5f && b.y1 > a.y0 - 1.5f)
			return 1;
	}
	return 0;
}

static int is_tick(int c)
{
	return c == 'x' || c == 'X' || c == 0xd7 || c >= 0x2713 && c <= 0x2718 || c >= 0xf000 && c <= 0xf0ff || c == 0x2612 || c == 0x2611;
}

enum { no_text, has_text, has_letters };

// around reports whether letters of a fitting size are beside a box, or in it. With hide, ticks in it become blanks.
static int around(fz_stext_page *text, fz_rect at, int hide)
{
	int found = no_text;
	float high = at.y1 - at.y0, middle = (at.y0 + at.y1) / 2;
	for (fz_stext_block *b = text->first_block; b; b = b->next)
		for (fz_stext_line *l = b->type == FZ_STEXT_BLOCK_TEXT ? b->u.t.first_line : NULL; l; l = l->next)
			for (fz_stext_char *ch = l->first_char; ch; ch = ch->next) {
				fz_rect r = fz_rect_from_quad(ch->quad);
				float x = (r.x0 + r.x1) / 2, y = (r.y0 + r.y1) / 2;
				if (ch->c == ' ')
					continue;
				if (x > at.x0 && x < at.x1 && y > at.y0 && y < at.y1) {
					if (!is_tick(ch->c))
						return has_letters;
					if (hide)
						ch->c = ' ';
				} else if (fabsf(y - middle) < 0.6f * high && ch->size > 0.5f * high && ch->size < 2 * high &&
					(r.x0 >= at.x1 - 1 && r.x0 < at.x1 + to_text || r.x1 <= at.x0 + 1 && r.x1 > at.x0 - to_text))
					found = has_text;
			}
	return found;
}

// shade returns the shade of a pixel, or white beside the page.
static int shade(int x, int y, fz_irect size, const unsigned char *pixels)
{
	if (x < size.x0 || y < size.y0 || x >= size.x1 || y >= size.y1)
		return 255;
	const unsigned char *p = pixels + ((size_t)(y - size.y0) * (size.x1 - size.x0) + (x - size.x0)) * 4;
	return (p[0] + p[1] + p[2]) / 3;
}

// has_side reports whether most of a line of pixels is dark, at a place or near it.
static int has_side(int from, int to, int across, int down, fz_irect size, const unsigned char *pixels)
{
	for (int off = -2; off <= 2; off++) {
		int dark = 0;
		for (int i = from; i < to; i++)
			dark += (down ? shade(across + off, i, size, pixels) : shade(i, across + off, size, pixels)) < 170;
		if (dark * 5 >= (to - from) * 4)
			return 1;
	}
	return 0;
}

enum { solid = -2, unsure, empty, ticked };

static int look(fz_rect at, float scale, fz_irect size, const unsigned char *pixels)
{
	int x0 = at.x0 * scale, y0 = at.y0 * scale, x1 = at.x1 * scale, y1 = at.y1 * scale;
	if (!has_side(x0, x1, y0, 0, size, pixels) || !has_side(x0, x1, y1, 0, size, pixels) || !has_side(y0, y1, x0, 1, size, pixels) || !has_side(y0, y1, x1, 1, size, pixels))
		return unsure;
	int edge = (x1 - x0) / 6 + 1, dark = 0, all = 0, least = 255, most = 0;
	for (int y = y0 + edge; y < y1 - edge; y++)
		for (int x = x0 + edge; x < x1 - edge; x++) {
			int s = shade(x, y, size, pixels);
			if (s < least) least = s;
			if (s > most) most = s;
			dark += s < 128;
			all++;
		}
	if (most - least < 24)
		return least > 220 ? empty : solid;
	return dark * 12 > all ? ticked : unsure;
}

// in_legend reports whether a square is near one that is filled with a colour, in its row or column.
static int in_legend(int i, int n, const int *state)
{
	fz_rect a = squares.at[i];
	float reach = 4 * (a.y1 - a.y0);
	for (int j = 0; j < n; j++) {
		fz_rect b = squares.at[j];
		if (state[j] == solid && (near_to(a.x0, b.x0, 2) && near_to(a.y0, b.y0, reach) || near_to(a.y0, b.y0, 2)))
			return 1;
	}
	return 0;
}

// print_ticks prints the boxes to tick of a page that have text beside them, and takes the ticks out of the text.
void print_ticks(fz_context *ctx, fz_output *out, fz_page *page, fz_stext_page *text)
{
	int kept = 0;
	char grid[max_squares];
	for (int i = 0; i < squares.n; i++)
		grid[i] = in_grid(i);
	for (int i = 0; i < squares.n; i++)
		if (!grid[i] && around(text, squares.at[i], 0) == has_text)
			squares.at[kept++] = squares.at[i];
	float wide = text->mediabox.x1 - text->mediabox.x0, high = text->mediabox.y1 - text->mediabox.y0;
	fz_irect size;
	unsigned char *pixels = NULL;
	if (kept && wide * high * finely * finely < 8e6 && page_size(ctx, page, finely, &size) && size.x1 > size.x0 && size.y1 > size.y0)
		pixels = malloc(4 * (size_t)(size.x1 - size.x0) * (size.y1 - size.y0));
	if (pixels && draw_page(ctx, page, finely, size, 4, pixels, NULL)) {
		int state[max_squares];
		for (int i = 0; i < kept; i++)
			state[i] = look(squares.at[i], finely, size, pixels);
		for (int i = 0; i < kept; i++) {
			fz_rect at = squares.at[i];
			if (state[i] < empty || in_legend(i, kept, state))
				continue;
			fz_write_printf(ctx, out, "<tick %g %g %g %g %d>\n", at.x0, at.y0, at.x1, at.y1, state[i] == ticked);
			around(text, at, 1);
		}
	}
	free(pixels);
}
