//go:build worker

#include <string.h>
#include "read.h"

// Large operators, brackets and roots of formulas are in fonts of TeX whose glyphs have names that MuPDF does not know, so that it reads none of
// them. The names are those of the font cmex10 (D. E. Knuth, Computer Modern Typefaces), which its successors use too.
static const struct { const char *name; int sign; } operators[] = {
	{"summation", 0x2211}, {"product", 0x220f}, {"coproduct", 0x2210}, {"integral", 0x222b}, {"contintegral", 0x222e},
	{"union", 0x22c3}, {"intersection", 0x22c2}, {"logicaland", 0x22c0}, {"logicalor", 0x22c1},
	{"circleplus", 0x2a01}, {"circlemultiply", 0x2a02}, {"circledot", 0x2a00}, {"unionmulti", 0x2a04}, {"unionsq", 0x2a06},
}, brackets[] = {
	{"parenleft", '('}, {"parenright", ')'}, {"bracketleft", '['}, {"bracketright", ']'}, {"braceleft", '{'}, {"braceright", '}'},
	{"floorleft", 0x230a}, {"floorright", 0x230b}, {"ceilingleft", 0x2308}, {"ceilingright", 0x2309},
	{"angbracketleft", 0x27e8}, {"angbracketright", 0x27e9}, {"slash", '/'}, {"backslash", '\\'}, {"radical", 0x221a},
}, pieces[] = {
	{"parenlefttp", 0x239b}, {"parenleftex", 0x239c}, {"parenleftbt", 0x239d}, {"parenrighttp", 0x239e}, {"parenrightex", 0x239f}, {"parenrightbt", 0x23a0},
	{"bracketlefttp", 0x23a1}, {"bracketleftex", 0x23a2}, {"bracketleftbt", 0x23a3}, {"bracketrighttp", 0x23a4}, {"bracketrightex", 0x23a5}, {"bracketrightbt", 0x23a6},
	{"bracelefttp", 0x23a7}, {"braceleftmid", 0x23a8}, {"braceleftbt", 0x23a9}, {"braceex", 0x23aa},
	{"bracerighttp", 0x23ab}, {"bracerightmid", 0x23ac}, {"bracerightbt", 0x23ad}, {"vextendsingle", 0x23d0}, {"mapsto", 0x21a6},
};

// sign_of returns the sign that a glyph's name means, or 0.
static int sign_of(const char *name)
{
	static const char *const sizes[] = {"big", "Big", "bigg", "Bigg"}, *const styles[] = {"text", "display"};
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
		if (!strcmp(name, pieces[i].name))
			return pieces[i].sign;
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		size_t n = strlen(operators[i].name);
		for (size_t j = 0; j < 2; j++)
			if (!strncmp(name, operators[i].name, n) && !strcmp(name + n, styles[j]))
				return operators[i].sign;
	}
	for (size_t i = 0; i < sizeof brackets / sizeof *brackets; i++) {
		size_t n = strlen(brackets[i].name);
		for (size_t j = 0; j < 4; j++)
			if (!strncmp(name, brackets[i].name, n) && !strcmp(name + n, sizes[j]))
				return brackets[i].sign;
	}
	return 0;
}

// unknown reports whether a character is none: also those that Adobe's list of names has for pieces of brackets.
static int unknown(int ucs) { return ucs == 0xfffd || ucs >= 0 && ucs < ' ' || ucs >= 0xf8e6 && ucs <= 0xf8fe; }

static _Thread_local void (*usual)(fz_context *, fz_device *, const fz_text *, fz_matrix, fz_colorspace *, const float *, float, fz_color_params);

// fill_named names the glyphs that MuPDF found no character for, and goes on as usual.
static void fill_named(fz_context *ctx, fz_device *dev, const fz_text *text, fz_matrix ctm, fz_colorspace *space, const float *color, float alpha, fz_color_params params)
{
	for (fz_text_span *span = text->head; span; span = span->next)
		for (int i = 0; i < span->len; i++) {
			fz_text_item *item = &span->items[i];
			char name[32];
			int sign;
			if (item->gid < 0 || !unknown(item->ucs))
				continue;
			fz_get_glyph_name(ctx, span->font, item->gid, name, sizeof name);
			if ((sign = sign_of(name)))
				item->ucs = sign;
		}
	usual(ctx, dev, text, ctm, space, color, alpha, params);
}

// name_signs has a device read the signs of formulas.
void name_signs(fz_device *dev)
{
	usual = dev->fill_text;
	dev->fill_text = fill_named;
}
