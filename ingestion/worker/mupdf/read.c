//go:build worker

#include <string.h>
#include "read.h"

// hidden is a kind of block that nothing prints.
enum { hidden = 100 };

// From mupdf/pdf/xref.h, which the binding does not have.
void pdf_mark_xref(fz_context *ctx, pdf_document *doc);
void pdf_clear_xref_to_mark(fz_context *ctx, pdf_document *doc);

// mark marks the objects of a PDF that are in memory, and forget drops the others. MuPDF does both for each device with the hint FZ_NO_CACHE,
// and then reads the objects of a page for each use again.
static void mark(fz_context *ctx, fz_document *doc)
{
	pdf_document *pdf = pdf_document_from_fz_document(ctx, doc);
	if (pdf)
		pdf_mark_xref(ctx, pdf);
}

static void forget(fz_context *ctx, fz_document *doc)
{
	pdf_document *pdf = pdf_document_from_fz_document(ctx, doc);
	if (pdf)
		pdf_clear_xref_to_mark(ctx, pdf);
}

// open_page loads a page. What is read of it stays in memory until it is closed. It returns NULL if that fails.
fz_page *open_page(fz_context *ctx, fz_document *doc, int n)
{
	fz_page *page = NULL;
	fz_var(page);
	fz_try(ctx) {
		page = fz_load_page(ctx, doc, n);
		mark(ctx, doc);
	}
	fz_catch(ctx) {
		fz_drop_page(ctx, page);
		return NULL;
	}
	return page;
}

// close_page drops a page and what was read of it.
void close_page(fz_context *ctx, fz_document *doc, fz_page *page)
{
	forget(ctx, doc);
	fz_drop_page(ctx, page);
}

// page_size returns how large a page is in pixels, or 0 if that is unknown.
int page_size(fz_context *ctx, fz_page *page, float scale, fz_irect *size)
{
	fz_try(ctx)
		*size = fz_round_rect(fz_transform_rect(fz_bound_page(ctx, page), fz_scale(scale, scale)));
	fz_catch(ctx)
		return 0;
	return 1;
}

// usual is how a device draws that is changed to test for colours.
static struct {
	void (*begin_group)(fz_context *, fz_device *, fz_rect area, fz_colorspace *cs, int isolated, int knockout, int blendmode, float alpha);
	void (*fill_text)(fz_context *, fz_device *, const fz_text *, fz_matrix, fz_colorspace *, const float *color, float alpha, fz_color_params);
	void (*fill_shade)(fz_context *, fz_device *, fz_shade *shd, fz_matrix ctm, float alpha, fz_color_params color_params);
	void (*fill_image)(fz_context *, fz_device *, fz_image *img, fz_matrix ctm, float alpha, fz_color_params color_params);
	int *coloured; // what was found
	int grey;      // the paper is grey
} usual;

// grey_group draws a group in grey if the paper is, because nothing in it has a colour. To convert its pixels to grey afterwards takes as long
// as to draw them.
static void grey_group(fz_context *ctx, fz_device *dev, fz_rect area, fz_colorspace *space, int isolated, int knockout, int blendmode, float alpha)
{
	usual.begin_group(ctx, dev, area, space && usual.grey ? fz_device_gray(ctx) : space, isolated, knockout, blendmode, alpha);
}

// in_vain reports whether a page that is drawn in grey will be drawn again. What MuPDF keeps of letters, shades and pictures must not be grey
// then, so they are not drawn.
static int in_vain(void) { return usual.grey && *usual.coloured; }

// sets_colours reports whether a letter of a Type 3 font may have colours of its own: it does not begin with the operator d1.
static int sets_colours(fz_context *ctx, fz_font *font, int gid)
{
	fz_buffer **procs = fz_font_t3_procs(ctx, font);
	unsigned char *code = NULL;
	size_t n = 0, i = 0;
	if (!procs || gid < 0 || gid > 255 || !procs[gid])
		return 0;
	n = fz_buffer_storage(ctx, procs[gid], &code);
	while (i < n && (code[i] <= ' ' || strchr("+-.0123456789", code[i])))
		i++;
	return n - i < 2 || code[i] != 'd' || code[i + 1] != '1';
}

// test_text draws text, and finds letters that may have colours, which the device that tests does not see.
static void test_text(fz_context *ctx, fz_device *dev, const fz_text *text, fz_matrix ctm, fz_colorspace *space, const float *color, float alpha, fz_color_params params)
{
	for (fz_text_span *span = text->head; span && !*usual.coloured; span = span->next)
		for (int i = 0; i < span->len && !*usual.coloured; i++)
			*usual.coloured = sets_colours(ctx, span->font, span->items[i].gid);
	if (!in_vain())
		usual.fill_text(ctx, dev, text, ctm, space, color, alpha, params);
}

static void test_shade(fz_context *ctx, fz_device *dev, fz_shade *shade, fz_matrix ctm, float alpha, fz_color_params params)
{
	if (!in_vain())
		usual.fill_shade(ctx, dev, shade, ctm, alpha, params);
}

static void test_image(fz_context *ctx, fz_device *dev, fz_image *image, fz_matrix ctm, float alpha, fz_color_params params)
{
	if (!in_vain())
		usual.fill_image(ctx, dev, image, ctm, alpha, params);
}

// tested returns a device that draws with another one, and finds whether anything has a colour.
static fz_device *tested(fz_context *ctx, fz_device *dev, int grey, int *coloured)
{
	usual.begin_group = dev->begin_group;
	usual.fill_text = dev->fill_text;
	usual.fill_shade = dev->fill_shade;
	usual.fill_image = dev->fill_image;
	usual.coloured = coloured;
	usual.grey = grey;
	dev->begin_group = grey_group;
	dev->fill_text = test_text;
	dev->fill_shade = test_shade;
	dev->fill_image = test_image;
	return fz_new_test_device(ctx, coloured, 0, 0, dev);
}

// draw_page draws a page of this size on white paper, without annotations: with one byte for each pixel in grey, or with four. It returns 0 if
// that fails. found, unless it is NULL, gets what is found.
int draw_page(fz_context *ctx, fz_page *page, float scale, fz_irect size, int bytes, unsigned char *pixels, findings *found)
{
	fz_cookie cookie = {0};
	damage_signs signs;
	fz_colorspace *space = bytes == 1 ? fz_device_gray(ctx) : fz_device_rgb(ctx);
	fz_pixmap *paper = NULL;
	fz_device *dev = NULL, *test = NULL;
	fz_var(paper);
	fz_var(dev);
	fz_var(test);
	if (found)
		watch_damage(ctx, &signs);
	fz_try(ctx) {
		paper = fz_new_pixmap_with_bbox_and_data(ctx, space, size, NULL, bytes == 4, pixels);
		fz_clear_pixmap_with_value(ctx, paper, 0xff);
		dev = fz_new_draw_device(ctx, fz_scale(scale, scale), paper);
		if (found)
			test = tested(ctx, dev, bytes == 1, &found->coloured);
		fz_run_page_contents(ctx, page, test ? test : dev, fz_identity, &cookie);
		if (test)
			fz_close_device(ctx, test);
		fz_close_device(ctx, dev);
	}
	fz_always(ctx) {
		if (found)
			end_watch(ctx, &signs);
		fz_drop_device(ctx, test);
		fz_drop_device(ctx, dev);
		fz_drop_pixmap(ctx, paper);
	}
	fz_catch(ctx)
		return 0;
	if (found)
		found->damage = damage_of(ctx, found->doc, found->n, &signs, cookie.errors);
	return 1;
}

// hide takes pictures out of what is printed, and prints their places instead. To print a picture is to encode it.
static void hide(fz_context *ctx, fz_output *out, fz_stext_page *text)
{
	for (fz_stext_block *b = text->first_block; b; b = b->next) {
		if (b->type != FZ_STEXT_BLOCK_IMAGE)
			continue;
		fz_rect unit = {0, 0, 1, 1}, at = fz_transform_rect(unit, b->u.i.transform);
		fz_write_printf(ctx, out, "<img %g %g %g %g>\n", at.x0, at.y0, at.x1, at.y1);
		b->type = hidden;
	}
}

// show undoes hide, so that the pictures are dropped with the page.
static void show(fz_stext_page *text)
{
	for (fz_stext_block *b = text ? text->first_block : NULL; b; b = b->next)
		if (b->type == hidden)
			b->type = FZ_STEXT_BLOCK_IMAGE;
}

// print_ends prints where each line ends, in the order in which they are printed as HTML, or 0 for one that is not upright.
static void print_ends(fz_context *ctx, fz_output *out, fz_stext_page *text)
{
	for (fz_stext_block *b = text->first_block; b; b = b->next) {
		if (b->type != FZ_STEXT_BLOCK_TEXT)
			continue;
		for (fz_stext_line *line = b->u.t.first_line; line; line = line->next) {
			float end = 0;
			for (fz_stext_char *c = line->first_char; c && line->dir.x > 0.99f; c = c->next)
				if (c->c != ' ')
					end = c->quad.lr.x;
			fz_write_printf(ctx, out, "<end %g>\n", end);
		}
	}
}

// page_text returns the text of a page as HTML, with the places of pictures and where lines end, or NULL. Before it are the numbers of letters that nobody can see,
// which are left out, and of those in fonts that draw them, and what the content shows of damage.
fz_buffer *page_text(fz_context *ctx, fz_document *doc, fz_page *page, int n)
{
	fz_cookie cookie = {0};
	fz_stext_options options = {.flags = FZ_STEXT_PRESERVE_IMAGES};
	fz_stext_page *text = NULL;
	int unseen, drawn, damage;
	damage_signs signs;
	fz_device *dev = NULL;
	fz_buffer *buf = NULL;
	fz_output *out = NULL;
	fz_var(text);
	fz_var(dev);
	fz_var(buf);
	fz_var(out);
	forget(ctx, doc); // objects warn of damage when they are read
	watch_damage(ctx, &signs);
	fz_try(ctx) {
		text = fz_new_stext_page(ctx, fz_bound_page(ctx, page));
		dev = fz_new_stext_device(ctx, text, &options);
		note_ground(dev, text);
		name_signs(dev);
		fz_run_page_contents(ctx, page, dev, fz_identity, &cookie);
		fz_close_device(ctx, dev);
		end_watch(ctx, &signs);
		damage = damage_of(ctx, doc, n, &signs, cookie.errors);
		unseen = hide_unseen(ctx, page, text, damage == sound, &drawn);
		buf = fz_new_buffer(ctx, 1 << 16);
		out = fz_new_output_with_buffer(ctx, buf);
		fz_write_printf(ctx, out, "<letters %d %d %d>\n", unseen, drawn, damage);
		print_ticks(ctx, out, page, text);
		print_struck(ctx, out, text);
		hide(ctx, out, text);
		print_ends(ctx, out, text);
		fz_print_stext_page_as_html(ctx, out, text, n);
		fz_close_output(ctx, out);
	}
	fz_always(ctx) {
		end_watch(ctx, &signs);
		show(text);
		fz_drop_output(ctx, out);
		fz_drop_device(ctx, dev);
		fz_drop_stext_page(ctx, text);
	}
	fz_catch(ctx) {
		fz_drop_buffer(ctx, buf);
		return NULL;
	}
	return buf;
}
