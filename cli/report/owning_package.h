/* owning_package.h: which package of Debian a file belongs to. */
#ifndef CLEAR_CLI_REPORT_OWNING_PACKAGE_H
#define CLEAR_CLI_REPORT_OWNING_PACKAGE_H

/* The package's name without its architecture, free() it; NULL where none has the file, or this is no Debian.
 *
 * `dpkg-query -S` reads the lists of all packages, which takes a tenth of a second where 2,000 are installed: ten times as long as a report of a
 * small run. A library or program mostly is of a package that begins like its name (libsqlite3.so.0 of libsqlite3-0), so the lists of these are
 * read here first, in DPKG_ADMINDIR or /var/lib/dpkg. Only where none has the file dpkg-query is asked, and given two seconds. */
char *owning_package(const char *file);

#endif
