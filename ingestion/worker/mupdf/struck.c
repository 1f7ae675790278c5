//go:build worker

#include <math.h>
#include "read.h"

// Words that are crossed out. Fonts have no crossed-out letters: programs draw a thin level line from the first letter to the last one, through
// the middle of their small letters. Lines below words, fraction bars, lines over letters and borders of tables pass above or below letters, and
// a line behind a title begins before it.

enum { max_rules = 2000, max_tests = 2000 * 1000 };

static const float
	least_wide = 2, most_high = 3,		// points
	lowest = 0.12f, highest = 0.45f,	// above the baseline, in sizes
	overhang = 0.5f;			// of a line beyond its letters, in sizes

static _Thread_local struct {
	int n;
	fz_rect at[max_rules];
} rules;

void forget_rules(void) { rules.n = 0; }

static void count_part(fz_context *ctx, void *parts, float x, float y) { ++*(int *)parts; }
static void count_rect(fz_context *ctx, void *parts, float x0, float y0, float x1, float y1) { ++*(int *)parts; }
static void pass_line(fz_context *ctx, void *parts, float x, float y) {}
static void pass_curve(fz_context *ctx, void *parts, float x1, float y1, float x2, float y2, float x3, float y3) {}
static void pass_end(fz_context *ctx, void *parts) {}

// note_rule notes a path that may cross out words: one thin level line.
void note_rule(fz_context *ctx, const fz_path *path, fz_rect at)
{
	static const fz_path_walker walker = {.moveto = count_part, .lineto = pass_line, .curveto = pass_curve, .closepath = pass_end, .rectto = count_rect};
	int parts = 0;
	if (rules.n == max_rules || at.y1 - at.y0 > most_high || at.x1 - at.x0 < least_wide)
		return;
	fz_walk_path(ctx, path, &walker, &parts);
	if (parts == 1)
		rules.at[rules.n++] = at;
}

// join_rules joins lines that continue one another: each part of a border, or of a line through words in several styles.
static void join_rules(void)
{
	for (int i = 0; i < rules.n; i++)
		for (int j = i + 1; j < rules.n; j++) {
			fz_rect *a = &rules.at[i], b = rules.at[j];
			if (fabsf(a->y0 + a->y1 - b.y0 - b.y1) > 1 || b.x0 > a->x1 + 1 || b.x1 < a->x0 - 1)
				continue;
			a->x0 = fminf(a->x0, b.x0);
			a->x1 = fmaxf(a->x1, b.x1);
			rules.at[j] = rules.at[--rules.n];
			j = i; // it may continue others now
		}
}

// crosses reports whether a rule crosses out letters of a line, and which part of the line.
static int crosses(fz_rect rule, const fz_stext_line *line, fz_rect *part)
{
	float y = (rule.y0 + rule.y1) / 2, size = 0;
	int letters = 0, digits = 0;
	fz_rect found = {0, 0, 0, 0};
	for (const fz_stext_char *ch = line->first_char; ch; ch = ch->next) {
		fz_rect r = fz_rect_from_quad(ch->quad);
		float x = (r.x0 + r.x1) / 2;
		if (ch->c == ' ' || ch->c == 0xa0 || x < rule.x0 || x > rule.x1)
			continue;
		if (ch->origin.y - y < lowest * ch->size || ch->origin.y - y > highest * ch->size)
			return 0;
		if (!letters++)
			found = r;
		found.x0 = fminf(found.x0, r.x0);
		found.x1 = fmaxf(found.x1, r.x1);
		digits += ch->c >= '0' && ch->c <= '9';
		size = fmaxf(size, ch->size);
	}
	*part = found;
	return letters + digits > 1 && rule.y1 - rule.y0 < 0.2f * size // one letter with a line through it is another letter
		&& fabsf(found.x0 - rule.x0) < overhang * size && fabsf(found.x1 - rule.x1) < overhang * size;
}

// print_struck prints where words are crossed out.
void print_struck(fz_context *ctx, fz_output *out, fz_stext_page *text)
{
	int tests = 0;
	join_rules();
	for (fz_stext_block *b = text->first_block; b; b = b->next)
		for (fz_stext_line *l = b->type == FZ_STEXT_BLOCK_TEXT ? b->u.t.first_line : NULL; l; l = l->next)
			for (int i = 0; i < rules.n && l->dir.x > 0.99f && tests++ < max_tests; i++) {
				fz_rect at = rules.at[i], part;
				if (at.y0 > l->bbox.y0 && at.y1 < l->bbox.y1 && at.x0 < l->bbox.x1 && at.x1 > l->bbox.x0 && crosses(at, l, &part))
					fz_write_printf(ctx, out, "<struck %g %g %g %g>\n", part.x0, at.y0, part.x1, at.y1);
			}
}
