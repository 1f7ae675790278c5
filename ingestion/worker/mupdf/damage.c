//go:build worker

#include <string.h>
#include "read.h"

// From mupdf/pdf, which the binding does not have.
typedef struct pdf_obj pdf_obj;
pdf_obj *pdf_lookup_page_obj(fz_context *ctx, pdf_document *doc, int needle);
pdf_obj *pdf_dict_gets(fz_context *ctx, pdf_obj *dict, const char *key);
int pdf_is_array(fz_context *ctx, pdf_obj *obj);
int pdf_array_len(fz_context *ctx, pdf_obj *array);
pdf_obj *pdf_array_get(fz_context *ctx, pdf_obj *array, int i);
fz_buffer *pdf_load_stream(fz_context *ctx, pdf_obj *ref);

// Damage of which MuPDF only warns: it reads on as if the file were meant so.

static void note(void *signs, const char *warning)
{
	damage_signs *found = signs;
	if (strstr(warning, "treating as end of file") || strstr(warning, "incorrect data check") || strstr(warning, "content stream is not a stream"))
		found->worst = cut_short;
	else if (found->worst == sound && (strstr(warning, "non-page object in page tree") || strstr(warning, "cannot load object")))
		found->worst = faulty;
	// In a picture or a font, these are common and mean little.
	if (strstr(warning, "premature end") || strstr(warning, "zlib error") || strstr(warning, "eod marker") || strstr(warning, "lzw") || strstr(warning, "bad data in"))
		found->unpacking = 1;
}

// watch_damage notes signs of damage from now on, until end_watch.
void watch_damage(fz_context *ctx, damage_signs *signs)
{
	signs->worst = sound, signs->unpacking = 0;
	signs->usual = fz_warning_callback(ctx, &signs->user);
	fz_flush_warnings(ctx); // a repeated one is not told
	fz_set_warning_callback(ctx, note, signs);
}

void end_watch(fz_context *ctx, damage_signs *signs)
{
	fz_flush_warnings(ctx);
	fz_set_warning_callback(ctx, signs->usual, signs->user);
}

// unpacks reports whether a stream can be unpacked to its end.
static int unpacks(fz_context *ctx, pdf_obj *stream)
{
	damage_signs signs;
	fz_buffer *data = NULL;
	int whole = 0;
	fz_var(data);
	watch_damage(ctx, &signs);
	fz_try(ctx) {
		data = pdf_load_stream(ctx, stream);
		whole = 1;
	}
	fz_always(ctx) {
		fz_drop_buffer(ctx, data);
		end_watch(ctx, &signs);
	}
	fz_catch(ctx)
		whole = 0;
	return whole && !signs.unpacking;
}

// damage_of returns the worst sign that was noted while a page was run. Warnings of unpacking count only if they are of its contents.
int damage_of(fz_context *ctx, fz_document *doc, int n, const damage_signs *signs, int errors)
{
	pdf_document *pdf = pdf_document_from_fz_document(ctx, doc);
	int worst = signs->worst == sound && errors > 0 ? faulty : signs->worst;
	if (!pdf || worst == cut_short || !signs->unpacking)
		return worst;
	fz_try(ctx) {
		pdf_obj *contents = pdf_dict_gets(ctx, pdf_lookup_page_obj(ctx, pdf, n), "Contents");
		int parts = pdf_is_array(ctx, contents) ? pdf_array_len(ctx, contents) : -1;
		if (parts < 0 && contents && !unpacks(ctx, contents))
			worst = cut_short;
		for (int i = 0; i < parts && worst != cut_short; i++)
			if (!unpacks(ctx, pdf_array_get(ctx, contents, i)))
				worst = cut_short;
	}
	fz_catch(ctx)
		worst = cut_short;
	return worst;
}
