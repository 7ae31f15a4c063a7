# Turns text files into one C file: `embedded_files`, an array of name (path below schema/) and text.
# Adjacent string literals, one a source line, so that a compiler's message still points somewhere useful.
# A file of SQL with lines `-- @NAME: what it does` has several statements, each of which is a text of its own: PATH/NAME without .sql.
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
# Nor blanks around what needs none. A line with a slash may have a regular expression, and one with a backquote a text, which may have quotes: they
# stay as they are. So do + and -, two of which are another operator.
function tight(code) {
    gsub(/, /, ",", code)
    gsub(/: /, ":", code)
    gsub(/; /, ";", code)
    gsub(/ => /, "=>", code)
    gsub(/ = /, "=", code)
    gsub(/ === /, "===", code)
    gsub(/ && /, "\\&\\&", code)
    gsub(/ \|\| /, "||", code)
    gsub(/ \? /, "?", code)
    gsub(/ :/, is_css ? " :" : ":", code) # before a pseudo-class it is a descendant
    gsub(/ *\{ */, "{", code)
    gsub(/ \}/, "}", code)
    return code
}
function without_blanks(line,    out) {
    if (in_text || line ~ /[`\/]/) return line
    while (match(line, /'([^'\\]|\\.)*'|"([^"\\]|\\.)*"/)) {
        out = out tight(substr(line, 1, RSTART - 1)) substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
    }
    return out tight(line)
}
function begin_text(name) {
    if (count) print ";"
    names[++count] = name
    printf "static const char text_%d[] =\n    \"\"\n", count
}
BEGIN {
    print "#include \"schema/schema.h\"\n"
    for (i = 1; i < ARGC; i++) {
        name = ARGV[i]
        sub(/^schema\/|^.*\/gen\//, "", name)
        begin_text(name)
        is_web = name ~ /^web\/.*\.(js|css)$/
        is_css = name ~ /\.css$/
        is_sql = sub(/\.sql$/, "", name)
        inside = in_text = 0
        while ((status = (getline line < ARGV[i])) > 0) {
            if (is_web) line = without_blanks(without_indentation(without_comment(line)))
            if (is_sql && match(line, /^-- @[a-z_]+:/)) begin_text(name "/" substr(line, 5, RLENGTH - 5))
            gsub(/[\\"?]/, "\\\\&", line)
            printf "    \"%s\\n\"\n", line
        }
        if (status < 0) {
            print "embed.awk: cannot read " ARGV[i] > "/dev/stderr"
            exit 1
        }
        close(ARGV[i])
    }
    print ";\n\nconst struct embedded embedded_files[] = {"
    for (i = 1; i <= count; i++) printf "    {\"%s\", text_%d},\n", names[i], i
    print "    {0, 0},\n};"
    exit 0
}
