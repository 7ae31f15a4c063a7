/* unit_pprof: what the writer is told is what protobuf-c reads back; the file is whole or not there; GLOB to RE2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "export/encode.h"
#include "export/file.h"
#include "export/pprof.h"
#include "profile.pb-c.h"
#include "query/profile/drop_frames.h"

static char directory[200];

static int enter_directory(void **state) {
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/unit_pprof.XXXXXX", parent ? parent : "/tmp");
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave_directory(void **state) {
    (void)state;
    return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1; /* fails where a test left a file */
}

static void read_gzip(const char *path, struct buffer *bytes) {
    char chunk[10000];
    gzFile file = gzopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(gzdirect(file), 0);
    for (int size; (size = gzread(file, chunk, sizeof chunk)) > 0;)
        buffer_add(bytes, chunk, (size_t)size);
    assert_int_equal(gzclose(file), Z_OK); /* a truncated file is Z_BUF_ERROR */
}

static Perftools__Profiles__Profile *read_profile(const char *path) {
    struct buffer bytes = {0};
    read_gzip(path, &bytes);
    Perftools__Profiles__Profile *profile =
        perftools__profiles__profile__unpack(NULL, bytes.size, (const uint8_t *)bytes.data);
    assert_non_null(profile);
    buffer_free(&bytes);
    return profile;
}

static void read_file(const char *path, struct buffer *bytes) {
    char chunk[10000];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (size_t size; (size = fread(chunk, 1, sizeof chunk, file)) > 0;)
        buffer_add(bytes, chunk, size);
    fclose(file);
}

static struct pprof_writer *open_writer(const char *path) {
    struct error err = {0};
    struct file file;
    if (file_open(&file, path, true, &err) < 0) fail_msg("%s", err.message);
    return pprof_open_file(&file, 0);
}

static void close_writer(struct pprof_writer *writer) {
    struct error err = {0};
    if (pprof_close(writer, &err) < 0) fail_msg("%s", err.message);
}

static void write_example(const char *path) {
    struct error err = {0};
    struct pprof_writer *writer = open_writer(path);
    static const struct profile_type types[] = {{"alloc_objects", "count"}, {"alloc_space", "bytes"}};
    static const struct profile_type period = {"space", "bytes"};
    static const struct profile_mapping program = {
        0x400000, UINT64_MAX, 0, "/bin/x", "", .has_filenames = true, .has_inline_frames = true};
    static const struct profile_mapping libc = {
        0x1000, 0x2000, 0x10, "/lib/libc.so", "c0ffee", .has_functions = true, .has_line_numbers = true};
    static const struct profile_function outer = {"outer", "_Z5outerv", "/src/a.c", 3};
    static const struct profile_function inner = {"inner", "", "/src/a.c", INT64_MAX};
    static const struct profile_line lines[] = {{1, 7, 2}, {0, 9, 0}};
    pprof_sample_type(writer, &types[0]);
    pprof_sample_type(writer, &types[1]);
    pprof_default_type(writer, "alloc_space");
    pprof_period(writer, &period, 524288);
    pprof_time(writer, 1700000000000000001, -1);
    pprof_comment(writer, "one");
    pprof_comment(writer, "two");
    pprof_frames(writer, "^malloc$", "");
    pprof_doc_url(writer, "http://localhost/");
    pprof_mapping(writer, &program);
    pprof_mapping(writer, &libc);
    assert_int_equal(pprof_function(writer, &outer), 1);
    assert_int_equal(pprof_function(writer, &inner), 2);
    uint64_t first = pprof_location(
        writer, &(struct profile_location){.mapping = 0, .address = UINT64_MAX, .is_folded = true, .line_count = 2},
        lines);
    uint64_t second =
        pprof_location(writer, &(struct profile_location){.mapping = 1, .address = 0x1234, .line_count = 0}, NULL);
    struct profile_label labels[] = {{"thread", "w", "", 0}, {"size", NULL, "bytes", -512}, {"n", NULL, "", 0}};
    uint64_t stack[] = {second, first};
    assert_int_equal(pprof_sample(writer, stack, 2, (int64_t[]){INT64_MIN, 5}, labels, 3, &err), 0);
    assert_int_equal(pprof_sample(writer, NULL, 0, (int64_t[]){0, -1}, NULL, 0, &err), 0);
    close_writer(writer);
}

static void check_header(const Perftools__Profiles__Profile *profile) {
    char **text = profile->string_table;
    assert_string_equal(text[0], "");
    assert_int_equal(profile->n_sample_type, 2);
    assert_string_equal(text[profile->sample_type[1]->type], "alloc_space");
    assert_string_equal(text[profile->sample_type[1]->unit], "bytes");
    assert_string_equal(text[profile->default_sample_type], "alloc_space");
    assert_string_equal(text[profile->period_type->type], "space");
    assert_int_equal(profile->period, 524288);
    assert_true(profile->time_nanos == 1700000000000000001 && profile->duration_nanos == -1);
    assert_int_equal(profile->n_comment, 2);
    assert_string_equal(text[profile->comment[1]], "two");
    assert_string_equal(text[profile->drop_frames], "^malloc$");
    assert_int_equal(profile->keep_frames, 0);
    assert_string_equal(text[profile->doc_url], "http://localhost/");
    for (size_t i = 0; i < profile->n_string_table; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(text[i], text[j]);
}

static void check_names(const Perftools__Profiles__Profile *profile) {
    char **text = profile->string_table;
    const Perftools__Profiles__Mapping *program = profile->mapping[0], *libc = profile->mapping[1];
    assert_true(program->id == 1 && libc->id == 2);
    assert_string_equal(text[program->filename], "/bin/x");
    assert_true(program->memory_limit == UINT64_MAX && !program->has_functions && program->has_filenames);
    assert_true(!program->has_line_numbers && program->has_inline_frames);
    assert_string_equal(text[libc->build_id], "c0ffee");
    assert_true(libc->memory_start == 0x1000 && libc->file_offset == 0x10 && libc->has_functions);
    assert_int_equal(profile->n_function, 2);
    assert_string_equal(text[profile->function[0]->system_name], "_Z5outerv");
    assert_true(profile->function[1]->start_line == INT64_MAX && profile->function[1]->id == 2);
    assert_int_equal(profile->n_location, 2);
    const Perftools__Profiles__Location *first = profile->location[0];
    assert_true(first->id == 1 && first->mapping_id == 1 && first->address == UINT64_MAX && first->is_folded);
    assert_int_equal(first->n_line, 2);
    assert_true(first->line[0]->function_id == 2 && first->line[0]->line == 7 && first->line[0]->column == 2);
    assert_true(first->line[1]->function_id == 1 && first->line[1]->line == 9 && first->line[1]->column == 0);
    assert_int_equal(profile->location[1]->n_line, 0);
}

static void check_samples(const Perftools__Profiles__Profile *profile) {
    char **text = profile->string_table;
    assert_int_equal(profile->n_sample, 2);
    const Perftools__Profiles__Sample *sample = profile->sample[0];
    assert_true(sample->n_location_id == 2 && sample->location_id[0] == 2 && sample->location_id[1] == 1);
    assert_true(sample->n_value == 2 && sample->value[0] == INT64_MIN && sample->value[1] == 5);
    assert_int_equal(sample->n_label, 3);
    assert_string_equal(text[sample->label[0]->key], "thread");
    assert_string_equal(text[sample->label[0]->str], "w");
    assert_true(sample->label[1]->str == 0 && sample->label[1]->num == -512);
    assert_string_equal(text[sample->label[1]->num_unit], "bytes");
    assert_true(sample->label[2]->num == 0 && sample->label[2]->num_unit == 0);
    assert_true(profile->sample[1]->n_location_id == 0 && profile->sample[1]->value[1] == -1);
}

static void test_round_trip(void **state) {
    (void)state;
    write_example("a.pb.gz");
    Perftools__Profiles__Profile *profile = read_profile("a.pb.gz");
    check_header(profile);
    check_names(profile);
    check_samples(profile);
    perftools__profiles__profile__free_unpacked(profile, NULL);
    unlink("a.pb.gz");
}

static void test_same_bytes(void **state) {
    (void)state;
    struct buffer first = {0}, second = {0};
    write_example("a.pb.gz");
    write_example("b.pb.gz");
    read_file("a.pb.gz", &first);
    read_file("b.pb.gz", &second);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    assert_memory_equal(first.data + 4, "\0\0\0\0", 4);  /* RFC 1952: no time ... */
    assert_int_equal((unsigned char)first.data[9], 255); /* ... and no system */
    buffer_free(&first);
    buffer_free(&second);
    unlink("a.pb.gz");
    unlink("b.pb.gz");
}

/* More than a chunk, in and out, of what does not compress. */
static void test_many_samples(void **state) {
    (void)state;
    enum { COUNT = 50000 };
    struct error err = {0};
    struct pprof_writer *writer = open_writer("a.pb.gz");
    pprof_sample_type(writer, &(struct profile_type){"n", "count"});
    uint64_t locations[COUNT / 10];
    for (int i = 0; i < COUNT / 10; i++) {
        char name[40];
        snprintf(name, sizeof name, "function_%d", i);
        const struct profile_function function = {name, name, "", 0};
        const struct profile_line line = {.function = (uint32_t)pprof_function(writer, &function) - 1};
        const struct profile_location location = {.mapping = PROFILE_NONE, .address = (uint64_t)i, .line_count = 1};
        locations[i] = pprof_location(writer, &location, &line);
    }
    for (int64_t i = 0; i < COUNT; i++)
        assert_int_equal(
            pprof_sample(writer, &locations[i % (COUNT / 10)], 1, (int64_t[]){i * i * 7919}, NULL, 0, &err), 0);
    close_writer(writer);
    Perftools__Profiles__Profile *profile = read_profile("a.pb.gz");
    assert_int_equal(profile->n_sample, COUNT);
    for (int64_t i = 0; i < COUNT; i++) {
        assert_int_equal(profile->sample[i]->location_id[0], i % (COUNT / 10) + 1);
        assert_true(profile->sample[i]->value[0] == i * i * 7919);
    }
    perftools__profiles__profile__free_unpacked(profile, NULL);
    unlink("a.pb.gz");
}

static void test_old_file_stays_until_close(void **state) {
    (void)state;
    struct stat status;
    struct buffer bytes = {0};
    FILE *old = fopen("a.pb.gz", "w");
    fputs("old", old);
    fclose(old);
    const mode_t old_mode = 0644;
    assert_int_equal(chmod("a.pb.gz", old_mode), 0);
    pprof_abandon(open_writer("a.pb.gz"));
    struct pprof_writer *writer = open_writer("a.pb.gz");
    read_file("a.pb.gz", &bytes);
    assert_string_equal(bytes.data, "old");
    mode_t mask = umask(027);
    close_writer(writer);
    writer = open_writer("a.pb.gz");
    close_writer(writer);
    umask(mask);
    assert_int_equal(stat("a.pb.gz", &status), 0);
    assert_int_equal(status.st_mode & 07777, old_mode); /* what exists keeps its mode */
    unlink("a.pb.gz");
    close_writer(open_writer("a.pb.gz"));
    assert_int_equal(stat("a.pb.gz", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600); /* what is new is its owner's */
    buffer_free(&bytes);
    unlink("a.pb.gz");
    pprof_abandon(NULL);
}

static void test_link_stays_a_link(void **state) {
    (void)state;
    struct stat status;
    fclose(fopen("real.pb.gz", "w"));
    assert_int_equal(symlink("real.pb.gz", "link.pb.gz"), 0);
    write_example("link.pb.gz");
    assert_int_equal(lstat("link.pb.gz", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    perftools__profiles__profile__free_unpacked(read_profile("real.pb.gz"), NULL);
    unlink("real.pb.gz");
    unlink("link.pb.gz");
}

static void test_failures_are_told(void **state) {
    (void)state;
    struct error err = {0};
    struct profile profile = {0};
    assert_int_equal(encode_write(&profile, &(struct encode_target){.path = "missing/a.pb.gz"}, &err), -1);
    assert_int_equal(err.status, ERROR_FAILURE);
    assert_non_null(strstr(err.message, "missing/a.pb.gz: "));
    err = (struct error){0};
    assert_int_equal(encode_write(&profile, &(struct encode_target){.path = "."}, &err), -1);
    assert_int_equal(err.status, ERROR_FAILURE);
    err = (struct error){0};
    assert_int_equal(pprof_close(open_writer("/dev/full"), &err), -1);
    assert_int_equal(err.status, ERROR_FAILURE);
    assert_non_null(strstr(err.message, "No space left on device"));
}

static void check_pattern(const char *glob, const char *expected) {
    struct buffer regex = {0};
    drop_pattern(&regex, glob);
    assert_string_equal(buffer_text(&regex), expected);
    buffer_free(&regex);
}

/* pprof drops what a dropped frame calls, so a pattern of code that calls back is no pattern to drop. */
static void test_safe_patterns(void **state) {
    static const char *const safe[] = {"malloc",        "__libc_malloc",    "g_malloc*",
                                       "operator new*", "operator delete*", "__rust_alloc*"};
    static const char *const unsafe[] = {"std::*::_M_*",
                                         "heap.*alloc*",
                                         "* std::make_shared<*",
                                         "alloc::raw_vec::*",
                                         "*malloc",
                                         "*",
                                         "_PyObject_GC_New*",
                                         "PyType_GenericAlloc",
                                         "x*alloc",
                                         "std::vector<*",
                                         "array_list.*ensure*"};
    (void)state;
    for (size_t i = 0; i < sizeof safe / sizeof *safe; i++)
        assert_true(drop_is_safe(safe[i]));
    for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++)
        assert_false(drop_is_safe(unsafe[i]));
}

static void test_patterns(void **state) {
    (void)state;
    check_pattern("xmalloc", "xmalloc");
    check_pattern("operator new*", "operator new.*");
    check_pattern("a.b+c|d{2}$^\\e", "a\\.b\\+c\\|d\\{2\\}\\$\\^\\\\e");
    check_pattern("x?alloc", "x.alloc");
    check_pattern("[a-c]x[^]z]", "[a-c]x[^\\]z]");
    check_pattern("a[", "a\\[");
    /* pprof cuts argument lists before it compares, so a pattern with one has to match without. */
    check_pattern("f<*>::g(*", "f<.*>::g(?:\\(.*)?");
    check_pattern("f(int, char)", "f(?:\\(int, char\\))?");
    check_pattern("(anonymous namespace)::g", "\\(anonymous namespace\\)::g");
    check_pattern("a::operator()(int)", "a::operator\\(\\)(?:\\(int\\))?");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_safe_patterns),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_many_samples),
        cmocka_unit_test(test_old_file_stays_until_close),
        cmocka_unit_test(test_link_stays_a_link),
        cmocka_unit_test(test_failures_are_told),
        cmocka_unit_test(test_patterns),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
