# Turns text files into one C file: `embedded_files`, an array of name (path below schema/) and text.
# Adjacent string literals, one a source line, so that a compiler's message still points somewhere useful.
# A file of SQL with lines `-- @NAME: what it does` has several statements, each of which is a text of its own: PATH/NAME without .sql.
# The files are read here and not by awk's own loop, because that never tells of an empty file.
# A question mark is escaped: two of them and a third character are a trigraph in -std=c11.
# Comments of the web application that have lines of their own, and empty lines, are not here: browsers need not fetch them.
function without_comment(line,    ends) {
    if (!inside && line !~ /^ *\/\*/) return line
    ends = line ~ /\*\/ *$/
    if (!inside && !ends && line ~ /\*\//) return line # code behind the comment
    inside = !ends
    return ""
}
# Of CSS: nor indentation, and no blanks around what needs none. A line with a slash stays as it is.
function tight(code) {
    sub(/^ +/, "", code)
    if (code ~ /\//) return code
    gsub(/, /, ",", code)
    gsub(/: /, ":", code)
    gsub(/; /, ";", code)
    gsub(/ *\{ */, "{", code)
    gsub(/;? \}/, "}", code)
    return code
}
# Of JavaScript: nor indentation, comments at the ends of lines, and blanks beside what is no letter of a name, but for those between two signs, which
# would be another operator; const is let, and true !0. Texts stay as they are, those between backquotes over lines too; what stands in `${ }` of one is code again.
# `level` counts the texts between backquotes that are open, and braces[level] the braces that are open inside of the code in one.
function is_letter(c) {
    return c ~ /[A-Za-z0-9_$]/ || c > "~"
}
function begins_regex(before) {
    return before == "" || before ~ /[(,=:[!&|?{};+*%~^<>-]$/ || before ~ /(^|[^A-Za-z0-9_$])(return|typeof|case|in|of)$/
}
# Where the text or the regular expression that begins at `at` ends.
function end_of(line, at, quote,    c, in_class) {
    for (at++; at <= length(line); at++) {
        c = substr(line, at, 1)
        if (c == "\\") at++
        else if (quote == "/" && c == "[") in_class = 1
        else if (quote == "/" && c == "]") in_class = 0
        else if (c == quote && !in_class) return at
    }
    return length(line)
}
function without_blanks(line,    out, at, c, next_one, last, end, word) {
    if (!in_text && line ~ /^import /) { # as serve/page/bundle.c reads it
        gsub(/, /, ",", line)
        sub(/\{ /, "{", line)
        sub(/ \}/, "}", line)
        return line
    }
    for (at = 1; at <= length(line); at++) {
        c = substr(line, at, 1)
        if (in_text) {
            if (c == "\\") c = substr(line, at++, 2)
            else if (c == "`") {
                level--
                in_text = 0
            }
            else if (c == "$" && substr(line, at, 2) == "${") {
                c = substr(line, at++, 2)
                braces[level] = 1
                in_text = 0
            }
            out = out c
            continue
        }
        last = substr(out, length(out))
        if (c == " ") {
            while (substr(line, at + 1, 1) == " ") at++
            next_one = substr(line, at + 1, 1)
            if (substr(line, at + 1, 2) == "//") return out
            if ((is_letter(last) && is_letter(next_one)) || (last == next_one && last ~ /[+-]/)) out = out " "
        } else if (c == "/" && substr(line, at, 2) == "//") {
            return out
        } else if (c == "'" || c == "\"" || (c == "/" && begins_regex(out))) {
            end = end_of(line, at, c)
            out = out substr(line, at, end - at + 1)
            at = end
        } else if (is_letter(c) && match(substr(line, at), /[^A-Za-z0-9_$]|$/) > 1) {
            word = substr(line, at, RSTART - 1)
            at += RSTART - 2
            # To who only runs it they are the same.
            if (last != "." && word == "const" && out !~ /export $/) word = "let"
            else if (last != "." && (word == "true" || word == "false")) word = word == "true" ? "!0" : "!1"
            out = out word
        } else {
            out = out c
            if (c == "`") in_text = ++level
            else if (c == "{" && level) braces[level]++
            else if (c == "}" && level && --braces[level] == 0) in_text = 1
        }
    }
    return out
}
function begin_text(name) {
    if (count) print ";"
    names[++count] = name
    printf "static const char text_%d[] =\n    \"\"\n", count
}
function put(line, end) {
    gsub(/[\\"?]/, "\\\\&", line)
    printf "    \"%s%s\"\n", line, end
}
# What stands between two lines: nothing where the statement goes on, ends or begins a block there. Imports and exports have lines of their own, which
# serve/page/bundle.c reads.
function between(line, next_one) {
    if (line ~ /^import / || next_one ~ /^(im|ex)port /) return "\\n"
    return is_css || line ~ /[;,{}([]$/ || next_one ~ /^[})\].?:&|]/ ? "" : "\\n"
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
        inside = in_text = level = 0
        while ((status = (getline line < ARGV[i])) > 0) {
            was_in_text = in_text
            if (is_web && !in_text) line = without_comment(line)
            if (is_web) line = is_css ? tight(line) : without_blanks(line)
            if (is_web && line == "" && !was_in_text) continue
            if (is_sql && match(line, /^-- @[a-z_]+:/)) begin_text(name "/" substr(line, 5, RLENGTH - 5))
            if (is_web && !was_in_text && line ~ /^}/ && held !~ /^(for|while).*\);$/) sub(/;$/, "", held) # what ends a block ends its last statement
            if (has_held) put(held, was_in_text ? "\\n" : between(held, line))
            if (is_web) held = line
            else put(line, "\\n")
            has_held = is_web
        }
        if (has_held) put(held, "\\n")
        has_held = 0
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
