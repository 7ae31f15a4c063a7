/* units.h: formats numbers for people. Each function returns a struct that holds its text, so that a call can stand in
 * an argument list: printf("%s", units_bytes(n).text). */
#ifndef CLEAR_BASE_UNITS_H
#define CLEAR_BASE_UNITS_H

#include <stdint.h>

struct units_text {
    char text[48];
};

struct units_text units_count(int64_t count);                     /* 12,345 */
struct units_text units_things(int64_t count, const char *thing); /* 1 block, 12,345 blocks, 2 flushes */
struct units_text units_bytes(int64_t bytes);                     /* 512 B, 1.2 MiB (1024 each) */
struct units_text units_ns(int64_t ns);                           /* 87 ns, 3.4 ms, 2.0 s, 5m 03s, 2h 05m, 3d 04h */
struct units_text units_percent(double percent);                  /* 0.12 %, 5.6 %, 56 %, 1,234 % */
struct units_text units_time(int64_t ns); /* ns since the epoch as local time, 2024-05-01 13:04:59 */

#endif
