//go:build worker

#include <math.h>
#include "read.h"

// The letters and the straight paths of a page, in the SVG of MuPDF's own device. That one also prints the outline of each letter, which took
// twenty times as long as reading the text.

enum {
	device_size = 1024, // bytes; MuPDF's device has fewer
	max_fonts = 512
};

static _Thread_local struct {
	fz_buffer *out;
	int within; // masks and tiles, which are not on the page
	int fonts;
	fz_font *font[max_fonts];
} shapes;

// font_id returns the number of a font on this page. Fonts are kept, so that no other one gets its place in memory.
static int font_id(fz_context *ctx, fz_font *font)
{
	int i = 0;
	while (i < shapes.fonts && shapes.font[i] != font)
		i++;
	if (i == shapes.fonts && i < max_fonts)
		shapes.font[shapes.fonts++] = fz_keep_font(ctx, font);
	return i;
}

static void print_letter(fz_context *ctx, fz_buffer *out, int c)
{
	if (c <= 0)
		return;
	fz_append_string(ctx, out, " data-text=\"");
	if (c >= 32 && c < 127 && c != '&' && c != '"' && c != '<' && c != '>')
		fz_append_byte(ctx, out, c);
	else
		fz_append_printf(ctx, out, "&#x%04x;", c >= 0xD800 && c <= 0xDFFF ? 0xFFFD : c);
	fz_append_byte(ctx, out, '"');
}

static void print_text(fz_context *ctx, const fz_text *text, fz_matrix ctm)
{
	fz_buffer *out = shapes.out;
	if (shapes.within)
		return;
	for (fz_text_span *span = text->head; span; span = span->next) {
		int font = font_id(ctx, span->font);
		fz_matrix at = span->trm, m = fz_concat(at, ctm);
		char same[200]; // for the letters of a span: printing numbers takes most of the time
		fz_snprintf(same, sizeof same, "\" transform=\"matrix(%g,%g,%g,%g", m.a, m.b, m.c, m.d);
		for (int i = 0; i < span->len; i++) {
			if (span->items[i].gid < 0)
				continue;
			at.e = span->items[i].x;
			at.f = span->items[i].y;
			fz_append_string(ctx, out, "<use");
			print_letter(ctx, out, span->items[i].ucs);
			m = fz_concat(at, ctm);
			fz_append_printf(ctx, out, " xlink:href=\"#font_%d_%d%s,%g,%g)\"/>\n", font, span->items[i].gid, same, m.e, m.f);
		}
	}
}

static void fill_text(fz_context *ctx, fz_device *dev, const fz_text *text, fz_matrix ctm, fz_colorspace *space, const float *color, float alpha, fz_color_params params)
{
	print_text(ctx, text, ctm);
}

static void stroke_text(fz_context *ctx, fz_device *dev, const fz_text *text, const fz_stroke_state *stroke, fz_matrix ctm, fz_colorspace *space, const float *color, float alpha, fz_color_params params)
{
	print_text(ctx, text, ctm);
}

static void pass_point(fz_context *ctx, void *arg, float x, float y) {}
static void pass_close(fz_context *ctx, void *arg) {}
static void note_curve(fz_context *ctx, void *arg, float x1, float y1, float x2, float y2, float x3, float y3) { *(int *)arg = 1; }

// pen is where a path that is printed has come to.
typedef struct {
	float x, y;
	char command; // which is repeated without its letter
	int space;	// the next number needs one before it
} pen;

static void print_number(fz_context *ctx, pen *p, float v)
{
	if (p->space && v >= 0)
		fz_append_byte(ctx, shapes.out, ' ');
	fz_append_printf(ctx, shapes.out, "%g", v);
	p->space = 1;
}

static void print_command(fz_context *ctx, pen *p, char command)
{
	if (p->command == command)
		return;
	fz_append_byte(ctx, shapes.out, command);
	p->command = command;
	p->space = 0;
}

static void print_move(fz_context *ctx, void *arg, float x, float y)
{
	pen *p = arg;
	print_command(ctx, p, 'M');
	print_number(ctx, p, x);
	print_number(ctx, p, y);
	*p = (pen){x, y, 'L', 1};
}

static void print_line(fz_context *ctx, void *arg, float x, float y)
{
	pen *p = arg;
	print_command(ctx, p, p->x == x ? 'V' : p->y == y ? 'H' : 'L');
	if (p->command != 'V')
		print_number(ctx, p, x);
	if (p->command != 'H')
		print_number(ctx, p, y);
	p->x = x;
	p->y = y;
}

static void print_close(fz_context *ctx, void *arg)
{
	pen *p = arg;
	print_command(ctx, p, 'Z');
	p->x = p->y = NAN;
}

static const fz_path_walker
	curves = {pass_point, pass_point, note_curve, pass_close},
	lines = {print_move, print_line, note_curve, print_close};

// print_path prints a path without curves: only its lines may be rules.
static void print_path(fz_context *ctx, const fz_path *path, fz_matrix m, const char *paint)
{
	int curved = 0;
	fz_walk_path(ctx, path, &curves, &curved);
	if (shapes.within || curved)
		return;
	pen p = {NAN, NAN};
	fz_append_printf(ctx, shapes.out, "<path%s transform=\"matrix(%g,%g,%g,%g,%g,%g)\" d=\"", paint, m.a, m.b, m.c, m.d, m.e, m.f);
	fz_walk_path(ctx, path, &lines, &p);
	fz_append_string(ctx, shapes.out, "\"/>\n");
}

static int is_white(fz_context *ctx, fz_colorspace *space, const float *color, fz_color_params params)
{
	float rgb[3];
	fz_convert_color(ctx, space, color, fz_device_rgb(ctx), rgb, NULL, params);
	for (int k = 0; k < 3; k++)
		if (255 * rgb[k] + 0.5f < 255)
			return 0;
	return 1;
}

static void fill_path(fz_context *ctx, fz_device *dev, const fz_path *path, int even_odd, fz_matrix ctm, fz_colorspace *space, const float *color, float alpha, fz_color_params params)
{
	if (space && !is_white(ctx, space, color, params))
		print_path(ctx, path, ctm, "");
}

static void stroke_path(fz_context *ctx, fz_device *dev, const fz_path *path, const fz_stroke_state *stroke, fz_matrix ctm, fz_colorspace *space, const float *color, float alpha, fz_color_params params)
{
	if (space)
		print_path(ctx, path, ctm, " stroke=\"#\"");
}

static void begin_mask(fz_context *ctx, fz_device *dev, fz_rect area, int luminosity, fz_colorspace *space, const float *color, fz_color_params params) { shapes.within++; }
static void end_mask(fz_context *ctx, fz_device *dev, fz_function *fn) { shapes.within--; }

static int begin_tile(fz_context *ctx, fz_device *dev, fz_rect area, fz_rect view, float xstep, float ystep, fz_matrix ctm, int id, int doc_id)
{
	shapes.within++;
	return 0; // not known from before
}

static void end_tile(fz_context *ctx, fz_device *dev) { shapes.within--; }

// page_shapes returns the letters and paths of a page, or NULL.
fz_buffer *page_shapes(fz_context *ctx, fz_page *page)
{
	fz_cookie cookie = {0};
	fz_device *dev = NULL;
	fz_var(dev);
	shapes.out = NULL;
	shapes.within = shapes.fonts = 0;
	fz_try(ctx) {
		shapes.out = fz_new_buffer(ctx, 1 << 16);
		dev = fz_new_device_of_size(ctx, device_size);
		dev->fill_text = fill_text;
		name_signs(dev);
		dev->stroke_text = stroke_text;
		dev->fill_path = fill_path;
		dev->stroke_path = stroke_path;
		dev->begin_mask = begin_mask;
		dev->end_mask = end_mask;
		dev->begin_tile = begin_tile;
		dev->end_tile = end_tile;
		fz_run_page_contents(ctx, page, dev, fz_identity, &cookie);
		fz_close_device(ctx, dev);
	}
	fz_always(ctx) {
		fz_drop_device(ctx, dev);
		while (shapes.fonts > 0)
			fz_drop_font(ctx, shapes.font[--shapes.fonts]);
	}
	fz_catch(ctx) {
		fz_drop_buffer(ctx, shapes.out);
		return NULL;
	}
	return shapes.out;
}
