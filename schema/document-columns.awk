# Makes docs/columns.md's tables of the comments in the SQL files: tables, views and diagnoses with their columns and units.
#
#   awk -f schema/document-columns.awk schema/tables.sql schema/facts/*.sql schema/views/*.sql schema/doctor/*.sql
#   awk -v list=1 -f ...       one line per column instead: OBJECT|COLUMN|UNIT
#
# A column of a table has a comment behind it, which may go on in lines of their own; the first comment in the table is its row:
#     CREATE TABLE runs (
#         -- One recorded execution, or one ingested file.
#         started_ns INTEGER NOT NULL, -- [ns since epoch] start of the run
# A view has a header. "Columns: those of VIEW, those of OTHER" takes over the columns of other views and tables, each name once:
#     CREATE VIEW heap AS
#     -- Question: which stack allocated how much?
#     -- Rows: one per run and stack.
#     -- Columns: those of doctor, and
#     --   alloc_bytes [bytes]: bytes allocated
#     -- Thresholds: of a diagnosis. Known false positives: of a diagnosis.
# A text that breaks this form, and a unit that is not in the list below, is an error: FILE:LINE: WHAT, and status 1.
BEGIN {
    split("id,text,JSON,ns,ns since epoch,bytes,count,percent,ratio,number,line,address,hash,0 or 1", names, ",")
    for (i in names) units[names[i]] = 1
}

function wrong(what) {
    printf "%s:%d: %s\n", FILENAME, FNR, what > "/dev/stderr"
    failed = 1
}

function trimmed(text) {
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    return text
}

# Adds a comment to the text that is under way.
function append(text) {
    text = trimmed(text)
    if (part == "row") row[object] = trimmed(row[object] " " text)
    else if (part == "column") meaning[object, count[object]] = trimmed(meaning[object, count[object]] " " text)
    else if (part != "") header[object, part] = trimmed(header[object, part] " " text)
}

function add_column(name, unit, text) {
    if (!(unit in units) && unit !~ /^unit (in|of) /) wrong("`" unit "` is not a unit of schema/document-columns.awk")
    if (trimmed(text) == "") wrong("column " name " of " object " has no meaning")
    column[object, ++count[object]] = name
    unit_of[object, count[object]] = unit
    meaning[object, count[object]] = trimmed(text)
    part = "column"
}

function start(kind, name) {
    object = name
    objects[++object_count] = name
    kind_of[name] = kind
    count[name] = 0
}

function end_table() {
    if (row[object] == "") wrong("table " object " does not say what a row is")
    object = ""
}

function end_view() {
    if (header[object, "Question"] == "") wrong("view " object " has no `Question:`")
    if (header[object, "Rows"] == "") wrong("view " object " has no `Rows:`")
    if (header[object, "Columns"] == "" && !count[object]) wrong("view " object " has no `Columns:`")
    if (object ~ /^doctor_/ && header[object, "Thresholds"] == "") wrong("diagnosis " object " has no `Thresholds:`")
    if (object ~ /^doctor_/ && header[object, "Known false positives"] == "") wrong("diagnosis " object " has no `Known false positives:`")
    object = ""
}

# "[unit] meaning" behind a column.
function table_column(line,    name, comment, unit) {
    name = line
    sub(/^ +/, "", name)
    sub(/ .*/, "", name)
    if (!match(line, / -- \[[^]]+\] /)) {
        wrong("column " name " of " object " has no comment `-- [unit] meaning`")
        column[object, ++count[object]] = name
        return
    }
    comment = substr(line, RSTART + 5)
    unit = comment
    sub(/\].*/, "", unit)
    sub(/^[^]]*\] /, "", comment)
    add_column(name, unit, comment)
}

# "  name [unit]: meaning" in the header of a view.
function view_column(text,    name, unit) {
    name = unit = trimmed(text)
    sub(/ .*/, "", name)
    sub(/^[^[]*\[/, "", unit)
    sub(/\].*/, "", unit)
    sub(/^[^]]*\]: */, "", text)
    add_column(name, unit, text)
}

function view_comment(text,    label) {
    if (text ~ /^([A-Z][a-z ]*|trace_ids)( \([^)]*\))?:/) {
        label = part = text
        sub(/:.*/, "", label)
        sub(/:.*/, "", part)
        sub(/ *\(.*/, "", part)
        sub(/^[^:]*:/, "", text)
        heading[object, part] = label
        header[object, part] = trimmed(text) == "" ? " " : trimmed(text)
        is_list = trimmed(text) == ""
        if (part != "Columns" && part != "Question" && part != "Rows") parts[object] = parts[object] part "|"
    } else if (text ~ /^  [a-z_0-9]+ \[[^]]+\]:/ && (part == "Columns" || part == "column")) {
        view_column(text)
    } else if (text ~ /^  [^ ]/ && is_list) {
        header[object, part] = header[object, part] "\n" trimmed(text)
    } else {
        append(text)
    }
}

/^CREATE TABLE / { start("table", $3); part = "row"; next }
/^CREATE VIEW / { start("view", $3); part = ""; next }
object == "" { next }
kind_of[object] == "table" && /^\)/ { end_table(); next }
kind_of[object] == "table" && /^ +-- / { sub(/^ +-- /, ""); append($0); next }
kind_of[object] == "table" && /^    [a-z_0-9]+ +(INTEGER|TEXT|REAL)/ { table_column($0); next }
kind_of[object] == "table" { part = ""; next }
/^-- / { view_comment(substr($0, 4)); next }
{ end_view() }

# ---- the page ----

# Characters that mean something to Markdown, but not inside `...`.
function escaped(text,    out, pieces, n, k) {
    n = split(text, pieces, "`")
    for (k = 1; k <= n; k++) {
        if (k % 2) gsub(/[*<|]/, "\\\\&", pieces[k])
        else gsub(/\|/, "\\|", pieces[k])
        out = out (k > 1 ? "`" : "") pieces[k]
    }
    return out
}

function sentence(text) {
    return toupper(substr(text, 1, 1)) substr(text, 2) (text ~ /[.?!]$/ ? "" : ".")
}

# The views and tables whose columns this one takes over go into others[1...]; returns how many.
function taken(name, others,    text, found) {
    text = header[name, "Columns"]
    while (match(text, /^(, )?those of [a-z_0-9]+/)) {
        others[++found] = substr(text, 1, RLENGTH)
        sub(/.* /, "", others[found])
        text = substr(text, RLENGTH + 1)
        if (!(others[found] in kind_of)) { printf "%s: no view %s\n", name, others[found] > "/dev/stderr"; failed = 1 }
    }
    return found + 0
}

function print_columns(name,    k) {
    if (!count[name]) return
    print "\n| column | unit | meaning |\n|---|---|---|"
    for (k = 1; k <= count[name]; k++)
        printf "| `%s` | %s | %s |\n", column[name, k], unit_of[name, k], escaped(meaning[name, k])
}

function print_parts(name,    list, lines, n, m, k, i) {
    n = split(parts[name], list, "|")
    for (k = 1; k < n; k++) {
        m = split(header[name, list[k]], lines, "\n")
        print "\n" escaped(trimmed(heading[name, list[k]] ": " trimmed(lines[1])))
        if (m > 1) print ""
        for (i = 2; i <= m; i++) print "- " escaped(lines[i])
    }
}

function print_object(name,    others, n, k, text) {
    printf "\n### %s\n\n", name
    if (kind_of[name] == "table") {
        print escaped(row[name])
        print_columns(name)
        return
    }
    print escaped(sentence(header[name, "Question"])) "\n\nRows: " escaped(header[name, "Rows"])
    n = taken(name, others)
    for (k = 1; k <= n; k++) text = text (k > 1 ? ", " : "") "those of [" others[k] "](#" others[k] ")"
    if (n) printf "\nColumns: %s%s\n", text, count[name] ? ", and" : "."
    print_columns(name)
    print_parts(name)
}

function list_columns(name, as,    others, n, k) {
    n = taken(name, others)
    for (k = 1; k <= n; k++) list_columns(others[k], as)
    for (k = 1; k <= count[name]; k++)
        if (!listed[as, column[name, k]]++) printf "%s|%s|%s\n", as, column[name, k], unit_of[name, k]
}

function print_all(title, kind, pattern, not,    k) {
    if (!list) print "\n## " title
    for (k = 1; k <= object_count; k++) {
        if (kind_of[objects[k]] != kind || objects[k] !~ pattern || (not != "" && objects[k] ~ not)) continue
        if (list) list_columns(objects[k], objects[k])
        else print_object(objects[k])
    }
}

END {
    if (failed) exit 1
    print_all("Tables", "table", "", "")
    print_all("Views", "view", "", "^doctor_")
    print_all("Diagnoses", "view", "^doctor_", "")
    exit failed
}
