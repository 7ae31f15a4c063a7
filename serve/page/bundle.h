/* bundle.h: the application in one text, for a page that can fetch nothing. Private to serve/page/. */
#ifndef CLEAR_SERVE_PAGE_BUNDLE_H
#define CLEAR_SERVE_PAGE_BUNDLE_H

#include "base/buffer.h"

/* All modules of the application as one module. api.js and place.js are those of a file: file_api.js and file_place.js. Imports and exports
 * of these sources have lines of their own, of the forms that this reads; others are a bug. */
void bundle_script(struct buffer *out);
/* All style sheets, in the order of the page. */
void bundle_style(struct buffer *out);

#endif
