/* foreign_name.h: names as runtimes other than C's write them: paths of Go's packages, packages and descriptors of Java, functions of V8.
 * For usual_name.c. */
#ifndef CLEAR_QUERY_PROFILE_FOREIGN_NAME_H
#define CLEAR_QUERY_PROFILE_FOREIGN_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/* No function's name but an address in a module, a path, a section, or a kind of V8's code ("RegExp:[a-z]+"): it has one form. */
bool name_is_opaque(const char *name);

/* V8's JS:*handle /srv/app.js:12:3: appends handle, or app.js:12 for a function without a name; CPython's py::Cart.add:/srv/shop.py: Cart.add.
 * False: it is another name. */
bool add_name_of_map(struct buffer *out, const char *name);

/* Lcom/shop/Cart;::total of perf-map-agent: appends com.shop.Cart.total. False: it is another name. */
bool add_java_descriptor(struct buffer *out, const char *name);

/* Appends the package of a Go name without its path and version, and returns where the name goes on, behind it; else 0. */
size_t add_go_package(struct buffer *out, const char *name, size_t end);

/* The bytes of two packages or more at the start of a Java name, java.util.HashMap.put, or 0. */
size_t java_packages_size(const char *name);

#endif
