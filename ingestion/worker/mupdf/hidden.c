//go:build worker

#include <math.h>
#include <stdlib.h>
#include "read.h"

// Text that nobody can see is not the page's: without ink, in the colour of its ground, below what was drawn later, or far too small. What may
// be such text is found by its colour and place, and is hidden if the drawn page shows nothing there.

// Flags of characters that MuPDF does not use.
enum { below = 1 << 14, suspect = 1 << 15 };

enum {
	max_boxes = 512,
	max_walks = 20 * 1000 * 1000, // characters that are compared with boxes
	max_pixels = 4 * 1000 * 1000,
	nearly_white = 0xe0, // of each component
	same_shade = 0x18,
	nearly_clear = 0x20, // of the alpha
	seen = 16 // between the shades of a character's place
};

static const float
	least_box = 4,	// points
	tiny = 0.7f,	// points from one character to the next
	tiny_high = 1.5f;

// ground has the boxes that the page is filled with while its text is read: the device of MuPDF has no place for them.
static _Thread_local struct {
	fz_stext_page *text;
	int boxes;
	long walked;
	struct { fz_rect at; uint32_t rgb; } box[max_boxes];
} ground;

static fz_point centre(const fz_stext_char *ch)
{
	fz_point p = {(ch->quad.ul.x + ch->quad.lr.x) / 2, (ch->quad.ul.y + ch->quad.lr.y) / 2};
	return p;
}

static int inside(fz_rect r, fz_point p) { return p.x > r.x0 && p.x < r.x1 && p.y > r.y0 && p.y < r.y1; }

// note_path notes a filled box, and which characters are below it.
static void note_path(fz_context *ctx, fz_device *dev, const fz_path *path, int even_odd, fz_matrix ctm, fz_colorspace *space, const float *color, float alpha, fz_color_params params)
{
	fz_rect at = fz_bound_path(ctx, path, NULL, ctm);
	float rgb[3];
	note_square(at);
	if (alpha > nearly_clear / 255.f)
		note_rule(ctx, path, at);
	if (alpha < 0.99f || at.x1 - at.x0 < least_box || at.y1 - at.y0 < least_box || !space || ground.boxes == max_boxes || ground.walked > max_walks)
		return;
	fz_convert_color(ctx, space, color, fz_device_rgb(ctx), rgb, NULL, params);
	ground.box[ground.boxes].at = at;
	ground.box[ground.boxes++].rgb = (uint32_t)(rgb[0] * 255) << 16 | (uint32_t)(rgb[1] * 255) << 8 | (uint32_t)(rgb[2] * 255);
	for (fz_stext_block *b = ground.text->first_block; b; b = b->next)
		for (fz_stext_line *l = b->type == FZ_STEXT_BLOCK_TEXT ? b->u.t.first_line : NULL; l; l = l->next)
			for (fz_stext_char *ch = l->first_char; ch; ch = ch->next, ground.walked++)
				if (inside(at, centre(ch)))
					ch->flags |= below;
}

static void note_outline(fz_context *ctx, fz_device *dev, const fz_path *path, const fz_stroke_state *stroke, fz_matrix ctm, fz_colorspace *space, const float *color, float alpha, fz_color_params params)
{
	fz_rect at = fz_bound_path(ctx, path, NULL, ctm);
	float half = stroke->linewidth * sqrtf(fabsf(ctm.a * ctm.d - ctm.b * ctm.c)) / 2;
	note_square(at);
	at.y0 -= half;
	at.y1 += half;
	if (alpha > nearly_clear / 255.f)
		note_rule(ctx, path, at);
}

// note_ground has a device that reads text note what the page is filled with, and its boxes.
void note_ground(fz_device *dev, fz_stext_page *text)
{
	ground.text = text;
	ground.boxes = 0;
	ground.walked = 0;
	forget_squares();
	forget_rules();
	dev->fill_path = note_path;
	dev->stroke_path = note_outline;
}

static int same(uint32_t a, uint32_t b)
{
	for (int shift = 0; shift < 24; shift += 8)
		if (abs((int)(a >> shift & 0xff) - (int)(b >> shift & 0xff)) > same_shade)
			return 0;
	return 1;
}

// suspected reports whether a character may not be seen. Text without ink in front of a picture is what recognition read in it.
static int suspected(fz_stext_page *text, const fz_stext_char *ch)
{
	uint32_t c = ch->argb;
	if (!(ch->flags & (FZ_STEXT_FILLED | FZ_STEXT_STROKED | FZ_STEXT_CLIPPED))) {
		for (fz_stext_block *b = text->first_block; b; b = b->next) {
			fz_rect unit = {0, 0, 1, 1};
			if (b->type == FZ_STEXT_BLOCK_IMAGE && inside(fz_transform_rect(unit, b->u.i.transform), centre(ch)))
				return 0;
		}
		return 1;
	}
	if (ch->flags & below || c >> 24 < nearly_clear || (c >> 16 & 0xff) >= nearly_white && (c >> 8 & 0xff) >= nearly_white && (c & 0xff) >= nearly_white)
		return 1;
	for (int i = 0; i < ground.boxes; i++)
		if (same(c, ground.box[i].rgb) && inside(ground.box[i].at, centre(ch)))
			return 1;
	return 0;
}

// shown reports whether a drawn page has different shades in the middle of a character's place, where the lines above and below do not reach.
static int shown(const fz_stext_char *ch, float scale, fz_irect size, const unsigned char *pixels)
{
	fz_rect at = fz_rect_from_quad(ch->quad);
	float quarter = (at.y1 - at.y0) / 4;
	int x0 = floorf(at.x0 * scale), x1 = ceilf(at.x1 * scale), y0 = floorf((at.y0 + quarter) * scale), y1 = ceilf((at.y1 - quarter) * scale);
	int least[3] = {255, 255, 255}, most[3] = {0, 0, 0};
	for (int y = y0 > size.y0 ? y0 : size.y0; y < y1 && y < size.y1; y++)
		for (int x = x0 > size.x0 ? x0 : size.x0; x < x1 && x < size.x1; x++)
			for (int k = 0; k < 3; k++) {
				int v = pixels[((size_t)(y - size.y0) * (size.x1 - size.x0) + (x - size.x0)) * 4 + k];
				if (v < least[k]) least[k] = v;
				if (v > most[k]) most[k] = v;
			}
	for (int k = 0; k < 3; k++)
		if (most[k] - least[k] >= seen)
			return 1;
	return 0;
}

static float apart(fz_point a, fz_point b) { return hypotf(a.x - b.x, a.y - b.y); }

static int is_tiny(const fz_stext_char *ch)
{
	return ch->next && apart(ch->origin, ch->next->origin) < tiny && apart(ch->quad.ul, ch->quad.ll) < tiny_high;
}

// hide_run makes blanks of characters, and returns how many there were.
static int hide_run(fz_stext_char *from, fz_stext_char *to)
{
	int n = 0;
	for (; from != to; from = from->next) {
		n += from->c != ' ';
		from->c = ' ';
	}
	return n;
}

// hide_unseen makes blanks of the characters that nobody can see, and returns how many there were. Letters in fonts that draw them are counted, too.
// The picture of a page that is not sound shows nothing: what covers its text, or leaves its letters out, may be the damage.
int hide_unseen(fz_context *ctx, fz_page *page, fz_stext_page *text, int sound, int *drawn)
{
	int hidden = 0, suspects = 0;
	*drawn = 0;
	for (fz_stext_block *b = text->first_block; b; b = b->next)
		for (fz_stext_line *l = b->type == FZ_STEXT_BLOCK_TEXT ? b->u.t.first_line : NULL; l; l = l->next)
			for (fz_stext_char *ch = l->first_char; ch; ch = ch->next) {
				fz_stext_char *end = ch;
				int run = 0;
				for (; is_tiny(end); end = end->next)
					run++;
				if (run > 3 && sound)
					hidden += hide_run(ch, end->next);
				if (ch->c == ' ' || !inside(text->mediabox, centre(ch)))
					continue;
				*drawn += fz_font_t3_procs(ctx, ch->font) != NULL;
				if (suspected(text, ch)) {
					ch->flags |= suspect;
					suspects++;
				}
			}
	if (!suspects || !sound)
		return hidden;
	float longer = fmaxf(text->mediabox.x1 - text->mediabox.x0, text->mediabox.y1 - text->mediabox.y0), scale = longer > 1000 ? 1000 / longer : 1;
	fz_irect size;
	unsigned char *pixels = NULL;
	if (page_size(ctx, page, scale, &size) && size.x1 > size.x0 && size.y1 > size.y0 && (double)(size.x1 - size.x0) * (size.y1 - size.y0) < max_pixels)
		pixels = malloc(4 * (size_t)(size.x1 - size.x0) * (size.y1 - size.y0));
	if (!pixels || !draw_page(ctx, page, scale, size, 4, pixels, NULL)) {
		free(pixels);
		return hidden;
	}
	for (fz_stext_block *b = text->first_block; b; b = b->next)
		for (fz_stext_line *l = b->type == FZ_STEXT_BLOCK_TEXT ? b->u.t.first_line : NULL; l; l = l->next)
			for (fz_stext_char *ch = l->first_char; ch;) {
				fz_stext_char *end = ch;
				int all = 0, visible = 0;
				for (; end && (end->flags & suspect || end->c == ' '); end = end->next)
					if (end->c != ' ') {
						all++;
						visible += shown(end, scale, size, pixels);
					}
				if (all > 0 && visible * 3 < all)
					hidden += hide_run(ch, end);
				ch = end == ch ? ch->next : end;
			}
	free(pixels);
	return hidden;
}
