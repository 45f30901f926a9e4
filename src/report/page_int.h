/* The pieces of a page, as build/gen/page.c has them. */
#ifndef HONE_REPORT_PAGE_INT_H
#define HONE_REPORT_PAGE_INT_H

extern const char report__page_html[]; /* the head, without title and style */
extern const char report__style_css[];
extern const char report__draw_js[]; /* what both kinds use */
extern const char report__run_js[];
extern const char report__bench_js[];

#endif
