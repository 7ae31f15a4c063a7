/* weblist_page.h: what is always the same of the page of report_weblist.c. */
#ifndef CLEAR_QUERY_REPORT_WEBLIST_PAGE_H
#define CLEAR_QUERY_REPORT_WEBLIST_PAGE_H

extern const char weblist_page_head[], weblist_page_body[], weblist_page_end[];

#endif
