/* plain_name.h: names of C++ and Rust functions as a person would write them, for reports of ours. Names in tables, JSON and the formats of
 * other tools stay as they are.
 *   std::__cxx11::basic_string<char, ...>::append   std::string::append
 *   std::map<int, Order, ...>::operator[]           std::map<…>::operator[]
 *   server::run::h0123456789abcdef                  server::run
 * The `<impl T>::f` and `<T as Trait>::f` of Rust stay: there the brackets are the name. */
#ifndef CLEAR_QUERY_PROFILE_PLAIN_NAME_H
#define CLEAR_QUERY_PROFILE_PLAIN_NAME_H

#include <stdbool.h>

#include "base/buffer.h"

void plain_name(struct buffer *out, const char *name);
/* The name as it is, if `is_full`; else its plain form, in `room`, which is cleared first. */
const char *plain_name_unless(bool is_full, const char *name, struct buffer *room);

#endif
