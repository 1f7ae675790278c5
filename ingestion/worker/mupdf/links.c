//go:build worker

#include <string.h>
#include "read.h"

// From mupdf/pdf, which the binding does not have.
typedef struct pdf_obj pdf_obj;
pdf_obj *pdf_trailer(fz_context *ctx, pdf_document *doc);
pdf_obj *pdf_lookup_page_obj(fz_context *ctx, pdf_document *doc, int needle);
void pdf_page_obj_transform(fz_context *ctx, pdf_obj *pageobj, fz_rect *page_mediabox, fz_matrix *page_ctm);
pdf_obj *pdf_dict_gets(fz_context *ctx, pdf_obj *dict, const char *key);
int pdf_array_len(fz_context *ctx, pdf_obj *array);
pdf_obj *pdf_array_get(fz_context *ctx, pdf_obj *array, int i);
float pdf_array_get_real(fz_context *ctx, pdf_obj *array, int index);
const char *pdf_to_name(fz_context *ctx, pdf_obj *obj);
const char *pdf_to_text_string(fz_context *ctx, pdf_obj *obj);
char *pdf_parse_link_dest(fz_context *ctx, pdf_document *doc, pdf_obj *obj);

// The links of a page (ISO 32000-1, sections 12.5.6.5, 12.6.4.2 and 12.6.4.7). MuPDF's own list has one place for each, also where its text takes several lines,
// and it makes addresses of links to files.

enum { max_links = 10000 };	// of a page, with their parts; layout has the same

static int is(fz_context *ctx, pdf_obj *name, const char *value) { return !strcmp(pdf_to_name(ctx, name), value); }

// page_of returns the page that a destination leads to, from 1, or 0.
static int page_of(fz_context *ctx, fz_document *doc, pdf_document *pdf, pdf_obj *dest)
{
	int n = 0;
	char *uri = NULL;
	fz_var(uri);
	fz_try(ctx) {
		uri = pdf_parse_link_dest(ctx, pdf, dest);
		fz_location at = fz_resolve_link(ctx, doc, uri, NULL, NULL);
		if (at.page >= 0)
			n = fz_page_number_from_location(ctx, doc, at) + 1;
	}
	fz_always(ctx)
		fz_free(ctx, uri);
	fz_catch(ctx)
		n = 0;
	return n;
}

// print_link prints one place of a link: its corners in points of the page as displayed, a page or 0, and an address or nothing.
static void print_link(fz_context *ctx, fz_buffer *out, fz_rect at, int page, const char *base, const char *uri)
{
	fz_append_printf(ctx, out, "%g %g %g %g %d ", at.x0, at.y0, at.x1, at.y1, page);
	for (; *base; base++)
		fz_append_byte(ctx, out, *base == '\n' ? ' ' : *base);
	for (; *uri; uri++)
		fz_append_byte(ctx, out, *uri == '\n' ? ' ' : *uri);
	fz_append_byte(ctx, out, '\n');
}

static fz_rect corners(fz_context *ctx, pdf_obj *numbers, int from, int count, fz_matrix ctm)
{
	fz_rect r = { pdf_array_get_real(ctx, numbers, from), pdf_array_get_real(ctx, numbers, from + 1), 0, 0 };
	r.x1 = r.x0, r.y1 = r.y0;
	for (int i = from; i < from + count; i += 2) {
		float x = pdf_array_get_real(ctx, numbers, i), y = pdf_array_get_real(ctx, numbers, i + 1);
		r.x0 = x < r.x0 ? x : r.x0, r.x1 = x > r.x1 ? x : r.x1;
		r.y0 = y < r.y0 ? y : r.y0, r.y1 = y > r.y1 ? y : r.y1;
	}
	return fz_transform_rect(r, ctm);
}

static int print_annotation(fz_context *ctx, fz_buffer *out, fz_document *doc, pdf_document *pdf, pdf_obj *annotation, fz_matrix ctm)
{
	if (!is(ctx, pdf_dict_gets(ctx, annotation, "Subtype"), "Link"))
		return 0;
	pdf_obj *action = pdf_dict_gets(ctx, annotation, "A"), *dest = pdf_dict_gets(ctx, annotation, "Dest"), *kind = pdf_dict_gets(ctx, action, "S");
	int page = 0;
	const char *base = "", *uri = "";
	if (!dest && is(ctx, kind, "GoTo"))
		dest = pdf_dict_gets(ctx, action, "D");
	if (dest)
		page = page_of(ctx, doc, pdf, dest);
	else if (is(ctx, kind, "URI")) {
		uri = pdf_to_text_string(ctx, pdf_dict_gets(ctx, action, "URI"));
		if (!strchr(uri, ':'))
			base = pdf_to_text_string(ctx, pdf_dict_gets(ctx, pdf_dict_gets(ctx, pdf_dict_gets(ctx, pdf_trailer(ctx, pdf), "Root"), "URI"), "Base"));
	}
	if (!page && !*uri)
		return 0;
	pdf_obj *quads = pdf_dict_gets(ctx, annotation, "QuadPoints");
	int parts = pdf_array_len(ctx, quads) / 8;
	for (int i = 0; i < parts && i < max_links; i++)
		print_link(ctx, out, corners(ctx, quads, 8 * i, 8, ctm), page, base, uri);
	if (!parts)
		print_link(ctx, out, corners(ctx, pdf_dict_gets(ctx, annotation, "Rect"), 0, 4, ctm), page, base, uri);
	return parts ? parts : 1;
}

// page_links prints a line for each link of a page to a page or an address, and for each part of it, or returns NULL. Links to anything else, such as scripts and
// files, are left out.
fz_buffer *page_links(fz_context *ctx, fz_document *doc, int n)
{
	pdf_document *pdf = pdf_document_from_fz_document(ctx, doc);
	fz_buffer *out = NULL;
	fz_var(out);
	fz_try(ctx) {
		out = fz_new_buffer(ctx, 256);
		pdf_obj *page = pdf ? pdf_lookup_page_obj(ctx, pdf, n) : NULL, *annotations = pdf_dict_gets(ctx, page, "Annots");
		int count = pdf_array_len(ctx, annotations);
		fz_rect box;
		fz_matrix ctm;
		if (count)
			pdf_page_obj_transform(ctx, page, &box, &ctm);
		for (int i = 0, printed = 0; i < count && printed < max_links; i++)
			printed += print_annotation(ctx, out, doc, pdf, pdf_array_get(ctx, annotations, i), ctm);
	}
	fz_catch(ctx) {
		fz_drop_buffer(ctx, out);
		out = NULL;
	}
	return out;
}
