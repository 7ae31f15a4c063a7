# Turns text files into one C file: `embedded_files`, an array of name (path below schema/) and text.
# Adjacent string literals, one a source line, so that a compiler's message still points somewhere useful.
# The files are read here and not by awk's own loop, because that never tells of an empty file.
# A question mark is escaped: two of them and a third character are a trigraph in -std=c11.
# Comments of the web application that have lines of their own are empty lines here: browsers need not fetch them, and the numbers of
# lines stay.
function without_comment(line,    ends) {
    if (!inside && line !~ /^ *\/\*/) return line
    ends = line ~ /\*\/ *$/
    if (!inside && !ends && line ~ /\*\//) return line # code behind the comment
    inside = !ends
    return ""
}
# Nor indentation, outside of texts between backquotes. Lines with an odd number of those begin or end such a text
# (in a regular expression one is written \x60).
function without_indentation(line,    quotes) {
    if (!in_text) sub(/^ +/, "", line)
    quotes = line
    if (gsub(/`/, "", quotes) % 2) in_text = !in_text
    return line
}
BEGIN {
    print "#include \"schema/schema.h\"\n"
    for (i = 1; i < ARGC; i++) {
        names[i] = ARGV[i]
        sub(/^schema\/|^.*\/gen\//, "", names[i])
        printf "static const char text_%d[] =\n    \"\"\n", i
        is_web = names[i] ~ /^web\/.*\.(js|css)$/
        inside = in_text = 0
        while ((status = (getline line < ARGV[i])) > 0) {
            if (is_web) line = without_indentation(without_comment(line))
            gsub(/[\\"?]/, "\\\\&", line)
            printf "    \"%s\\n\"\n", line
        }
        if (status < 0) {
            print "embed.awk: cannot read " ARGV[i] > "/dev/stderr"
            exit 1
        }
        close(ARGV[i])
        print ";"
    }
    print "\nconst struct embedded embedded_files[] = {"
    for (i = 1; i < ARGC; i++) printf "    {\"%s\", text_%d},\n", names[i], i
    print "    {0, 0},\n};"
    exit 0
}
