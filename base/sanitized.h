/* sanitized.h: whether the build has AddressSanitizer, which gcc says by a macro and clang, which the fuzzers are built with, by a feature. */
#ifndef CLEAR_BASE_SANITIZED_H
#define CLEAR_BASE_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif

#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

#endif
