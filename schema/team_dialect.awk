# Makes one text of the views of a file (schema/views, schema/doctor) for a store on PostgreSQL: each view behind those it reads, those of
# schema/team/views, named last, in place of the file's. The views are written in what both engines take; docs/design.md has the list of what is
# not so. Functions that only SQLite has are in schema/team/dialect.sql. Here is what no function can be:
#   json_object(a, ...)    json_build_object(a, ...)::text; json_array and json_group_array likewise: only PostgreSQL's own take any arguments
#   a.profile_id = b.id    ... AND a.run_number = b.run_number (process_id likewise): an id in a store is made of the number of the run and its
#                          own, so that no index has it. A condition on the run arrives at each table by its number.
#   FROM a, with a.*       FROM clear_views.a AS a: without that number
#   doctor                 the union of the sections alone: PostgreSQL takes any condition into it, and need not make an array for each run

BEGIN {
    for (i = 1; i < ARGC; i++) {
        if (ARGV[i] ~ /tables\.sql$/) read_tables(ARGV[i])
        else read_view(ARGV[i])
    }
    for (i = 1; i <= views; i++) put(names[i])
    exit failed
}

# The tables of a run that have a column run_number in the schema clear_rows: those of a profile or process.
function read_tables(file,    line, field) {
    while ((getline line < file) > 0) {
        if (split(line, field, /[ (]+/) > 2 && line ~ /^CREATE (TABLE|VIEW) /) name = field[3]
        if (line ~ /^    (profile_id|process_id) / || name ~ /^(sites|profiles|processes)$/) has_run[name] = 1
    }
    close(file)
}

function read_view(file,    line, text, name, word) {
    while ((getline line < file) > 0)
        if (line !~ /^DROP VIEW /) { sub(/--( .*|$)/, "", line); text = text line "\n" }
    close(file)
    sub(/^[ \n]+/, "", text)
    split(text, word, " ")
    name = word[3]
    if (text !~ /^CREATE VIEW /) { print file ": is no view" > "/dev/stderr"; failed = 1 }
    if (!(name in texts)) names[++views] = name
    sub(/^CREATE VIEW /, "&clear_views.", text)
    if (name == "doctor") text = without_array(text)
    texts[name] = file ~ /team\/views\// ? text : with_json(with_runs(text))
}

function without_array(text,    sections, order) {
    sections = substr(text, index(text, "SELECT section,"))
    order = sections
    sub(/\)[ \n]*ORDER BY.*/, "", sections)
    gsub(/SELECT section,/, "SELECT run_id, section,", sections)
    gsub(/ WHERE run_id = run\.id/, "", sections)
    sub(/.*ORDER BY run_id/, "ORDER BY run_id", order)
    return "CREATE VIEW clear_views.doctor AS\nSELECT run_id, section, code, severity, subject, evidence, trace_ids,\n" \
        "       coalesce(finding.advice, (SELECT text FROM advice WHERE advice.code = finding.section || '-' || finding.code)) AS advice\n" \
        "FROM (" sections ") AS finding\n" order
}

function with_json(text,    done, at, depth, letter) {
    gsub(/json_array\(/, "json_build_array(", text)
    gsub(/json_group_array\(/, "json_agg(", text)
    while (at = index(text, "json_object(")) {
        done = done substr(text, 1, at - 1) "json_build_object("
        text = substr(text, at + length("json_object("))
        for (depth = at = 1; depth; at++) {
            letter = substr(text, at, 1)
            depth += (letter == "(") - (letter == ")")
        }
        done = done substr(text, 1, at - 1) "::text"
        text = substr(text, at)
    }
    return done text
}

# is_row[alias]: only tables with a run are called so in this view.
function with_runs(text,    is_row, rest, done, alias, part) {
    for (rest = text; match(rest, /(FROM|JOIN|\)) ([a-z_]+ )?AS [a-z_]+|(FROM|JOIN) [a-z_]+/); rest = substr(rest, RSTART + RLENGTH)) {
        split(substr(rest, RSTART, RLENGTH), part, " ")
        alias = part[2] == "AS" ? part[3] : part[4] == "" ? part[2] : part[4]
        is_row[alias] = (part[2] in has_run) && is_row[alias] != "no" ? "yes" : "no"
    }
    while (match(text, /[a-z_]+\.(id|profile_id|process_id) = [a-z_]+\.(id|profile_id|process_id)/)) {
        done = done substr(text, 1, RSTART + RLENGTH - 1)
        split(substr(text, RSTART, RLENGTH), part, /[. =]+/)
        if (is_row[part[1]] == "yes" && is_row[part[3]] == "yes" && part[2] part[4] != "idid")
            done = done " AND " part[1] ".run_number = " part[3] ".run_number"
        text = substr(text, RSTART + RLENGTH)
    }
    text = done text
    if (match(text, /[a-z_]+_facts\.\*/)) {
        part[1] = substr(text, RSTART, RLENGTH - 2)
        sub("FROM " part[1] "\n", "FROM clear_views." part[1] " AS " part[1] "\n", text)
    }
    return text
}

function put(name,    list, i, n) {
    if (is_put[name]++) return
    n = split(texts[name], list, /[^a-z_0-9]+/)
    for (i = 1; i <= n; i++) if (list[i] in texts) put(list[i])
    print texts[name]
}
