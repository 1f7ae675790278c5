//go:build worker

#include <string.h>
#include "read.h"

// hidden is a kind of block that nothing prints.
enum { hidden = 100 };

// From mupdf/pdf/document.h and xref.h, which the binding does not have.
typedef struct pdf_document pdf_document;
pdf_document *pdf_document_from_fz_document(fz_context *ctx, fz_document *ptr);
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

// draw_page draws a page of this size, four bytes for each pixel, without annotations. It returns 0 if that fails.
int draw_page(fz_context *ctx, fz_page *page, float scale, fz_irect size, unsigned char *pixels)
{
	fz_pixmap *paper = NULL;
	fz_device *dev = NULL;
	fz_var(paper);
	fz_var(dev);
	fz_try(ctx) {
		paper = fz_new_pixmap_with_bbox_and_data(ctx, fz_device_rgb(ctx), size, NULL, 1, pixels);
		fz_clear_pixmap_with_value(ctx, paper, 0xff);
		dev = fz_new_draw_device(ctx, fz_scale(scale, scale), paper);
		fz_run_page_contents(ctx, page, dev, fz_identity, NULL);
		fz_close_device(ctx, dev);
	}
	fz_always(ctx) {
		fz_drop_device(ctx, dev);
		fz_drop_pixmap(ctx, paper);
	}
	fz_catch(ctx)
		return 0;
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

// Signs of damage, the worst last.
enum { sound, faulty, cut_short };

// note_damage looks for signs of damage in a warning. MuPDF reads on as if the file were meant so.
static void note_damage(void *damage, const char *warning)
{
	int *worst = damage;
	if (strstr(warning, "treating as end of file") || strstr(warning, "incorrect data check") || strstr(warning, "content stream is not a stream"))
		*worst = cut_short;
	else if (*worst == sound && (strstr(warning, "non-page object in page tree") || strstr(warning, "cannot load object")))
		*worst = faulty;
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
	int unseen, drawn, damage = sound;
	void *user;
	fz_warning_cb *usual = fz_warning_callback(ctx, &user);
	fz_device *dev = NULL;
	fz_buffer *buf = NULL;
	fz_output *out = NULL;
	fz_var(text);
	fz_var(dev);
	fz_var(buf);
	fz_var(out);
	forget(ctx, doc); // objects warn of damage when they are read
	fz_flush_warnings(ctx); // a repeated one is not told
	fz_set_warning_callback(ctx, note_damage, &damage);
	fz_try(ctx) {
		text = fz_new_stext_page(ctx, fz_bound_page(ctx, page));
		dev = fz_new_stext_device(ctx, text, &options);
		note_ground(dev, text);
		name_signs(dev);
		fz_run_page_contents(ctx, page, dev, fz_identity, &cookie);
		fz_close_device(ctx, dev);
		fz_set_warning_callback(ctx, usual, user);
		if (damage == sound && cookie.errors > 0)
			damage = faulty;
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
		fz_set_warning_callback(ctx, usual, user);
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
