//go:build worker

#include <string.h>
#include "read.h"

// From mupdf/pdf/object.h and xref.h, which the binding does not have.
typedef struct pdf_obj pdf_obj;
pdf_obj *pdf_trailer(fz_context *ctx, pdf_document *doc);
pdf_obj *pdf_dict_gets(fz_context *ctx, pdf_obj *dict, const char *key);
const char *pdf_to_text_string(fz_context *ctx, pdf_obj *obj);

// What the catalog says (ISO 32000-1, section 7.7.2): the language, and the labels of pages.

// catalog returns an entry of the catalog, or NULL.
static pdf_obj *catalog(fz_context *ctx, pdf_document *pdf, const char *key)
{
	return pdf_dict_gets(ctx, pdf_dict_gets(ctx, pdf_trailer(ctx, pdf), "Root"), key);
}

// language copies the language of the text, as UTF-8 that ends with 0, or nothing.
void language(fz_context *ctx, fz_document *doc, char *to, size_t size)
{
	pdf_document *pdf = pdf_document_from_fz_document(ctx, doc);
	to[0] = 0;
	fz_try(ctx)
		if (pdf)
			strncat(to, pdf_to_text_string(ctx, catalog(ctx, pdf, "Lang")), size - 1);
	fz_catch(ctx)
		to[0] = 0;
}

// page_label copies the label of a page, as UTF-8 that ends with 0, or nothing if pages have none.
void page_label(fz_context *ctx, fz_document *doc, fz_page *page, char *to, int size)
{
	pdf_document *pdf = pdf_document_from_fz_document(ctx, doc);
	to[0] = 0;
	fz_try(ctx)
		if (pdf && catalog(ctx, pdf, "PageLabels"))
			fz_page_label(ctx, page, to, size);
	fz_catch(ctx)
		to[0] = 0;
}
