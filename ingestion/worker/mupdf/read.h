#include "fitz.h"

// From mupdf/pdf/document.h, which the binding does not have.
typedef struct pdf_document pdf_document;
pdf_document *pdf_document_from_fz_document(fz_context *ctx, fz_document *ptr);

// Signs of damage, the worst last. layout.Damage has the same.
enum { sound, faulty, cut_short };

// damage_signs are noted while a page is run.
typedef struct
{
	int worst;
	int unpacking; // something could not be unpacked to its end
	fz_warning_cb *usual;
	void *user;
} damage_signs;

// findings are what is found while a page is drawn.
typedef struct
{
	fz_document *doc;
	int n; // of the page, from 0
	int coloured; // anything has a colour
	int damage;
} findings;

void watch_damage(fz_context *ctx, damage_signs *signs);
void end_watch(fz_context *ctx, damage_signs *signs);
int damage_of(fz_context *ctx, fz_document *doc, int n, const damage_signs *signs, int errors);
fz_page *open_page(fz_context *ctx, fz_document *doc, int n);
void close_page(fz_context *ctx, fz_document *doc, fz_page *page);
int page_size(fz_context *ctx, fz_page *page, float scale, fz_irect *size);
int draw_page(fz_context *ctx, fz_page *page, float scale, fz_irect size, int bytes, unsigned char *pixels, findings *found);
void language(fz_context *ctx, fz_document *doc, char *to, size_t size);
void page_label(fz_context *ctx, fz_document *doc, fz_page *page, char *to, int size);
fz_buffer *page_links(fz_context *ctx, fz_document *doc, int n);
fz_buffer *page_text(fz_context *ctx, fz_document *doc, fz_page *page, int n);
fz_buffer *page_shapes(fz_context *ctx, fz_page *page);
void note_ground(fz_device *dev, fz_stext_page *text);
void name_signs(fz_device *dev);
void forget_squares(void);
void note_square(fz_rect r);
void forget_rules(void);
void note_rule(fz_context *ctx, const fz_path *path, fz_rect at);
void print_struck(fz_context *ctx, fz_output *out, fz_stext_page *text);
void print_ticks(fz_context *ctx, fz_output *out, fz_page *page, fz_stext_page *text);
int hide_unseen(fz_context *ctx, fz_page *page, fz_stext_page *text, int sound, int *drawn);
