# Turns the views of a file (schema/views, schema/doctor) into views of a store on PostgreSQL: one text, each view behind those it reads.
# Those in schema/team/views, named last, are PostgreSQL's already, and take the place of the file's.
#
# What differs between the two engines is put right here where the text has to be another, and in schema/team/dialect.sql by functions,
# operators and aggregates of the names that SQLite has. Of each rule: SQLite's, PostgreSQL's, why.
#   iif(a, b, c)           CASE WHEN a THEN b ELSE c END
#   coalesce(a, 'null')    coalesce(text_of(a), 'null'); iif likewise
#   max(a, b), min(a, b)   greatest_of(a, b), least_of(a, b): NULL if one is NULL, where greatest() passes over it. Of one value: aggregates
#   CAST(a AS INTEGER)     to_int(a): the digits that a text begins with; a real number without its fraction, where PostgreSQL rounds
#   CAST(a AS REAL)        to_real(a)
#   printf('...', a)       a text for each argument, joined by ||; a NULL is 0 or ''
#   group_concat(a)        string_agg(text_of(a), ',')
#   json_object(a, ...)    json_build_object(a, ...)::text
#   a GLOB b               a @~ b; NOT GLOB is !@~
#   a IS b                 a IS NOT DISTINCT FROM b, unless b is NULL
#   a LIKE b               a ILIKE b
#   1.5                    a double: PostgreSQL's literal is a decimal number
#   ORDER BY a             ... NULLS FIRST: a NULL is the least value; ORDER BY a DESC: NULLS LAST
#   JOIN a                 without ON: CROSS JOIN LATERAL
#   FROM (SELECT ...)      gets an alias, which PostgreSQL 15 wants
#   char(n)                chr(n)
#   substr, round, sum     the same name, another meaning: in dialect.sql
#   lock_facts.*           the columns of the table one by one: a store has one more
#   a.profile_id = b.id    ... AND a.run_number = b.run_number, for an id in a store is made of the number of the run and its own, so that no
#                          index has it: a condition on the run arrives at each table by its number (process_id likewise)

BEGIN {
    renamed["char"] = "chr"
    renamed["like"] = "ILIKE"
    split("limit rows range groups window union", words, " ")
    for (i in words) ends_order[words[i]] = 1
    split("null true false distinct unknown", words, " ")
    for (i in words) is_literal[words[i]] = 1
    for (i = 1; i < ARGC; i++)
        if (ARGV[i] ~ /tables\.sql$/) read_tables(ARGV[i])
        else if (ARGV[i] ~ /team\/views\//) read_own(ARGV[i])
        else read_view(ARGV[i])
    for (i = 1; i <= views; i++) put(names[i])
    exit failed
}

function fail(why) {
    print "team_dialect.awk: " why > "/dev/stderr"
    failed = 1
}

# ---- tokens ----

function add_token(text) {
    tok[++count] = text
    word[count] = tolower(text)
    before[count] = space
    head[count] = tail[count] = "" # what stands around it, whatever becomes of the token
    space = ""
}

function read_tokens(text,    at) {
    count = 0
    space = ""
    while (text != "") {
        if (match(text, /^[ \n]+/)) { space = space substr(text, 1, RLENGTH); text = substr(text, RLENGTH + 1); continue }
        if (match(text, /^--[^\n]*/)) { text = substr(text, RLENGTH + 1); continue }
        if (!match(text, /^'([^']|'')*'/) && !match(text, /^"[^"]*"/) && !match(text, /^[A-Za-z_][A-Za-z_0-9]*/) &&
            !match(text, /^[0-9]+(\.[0-9]+)?(e[0-9]+)?/) && !match(text, /^(->>|\|\||<>|<=|>=|!=)/))
            RLENGTH = 1
        add_token(substr(text, 1, RLENGTH))
        text = substr(text, RLENGTH + 1)
    }
    word[count + 1] = tok[count + 1] = before[count + 1] = ""
    find_pairs()
}

# pair[i]: the other parenthesis; commas[i]: how many commas a parenthesis has, comma[i, n]: where.
function find_pairs(    i, top, open) {
    for (i = 1; i <= count; i++) {
        if (tok[i] == "(") { open[++top] = i; commas[i] = 0 }
        if (tok[i] == "," && top) comma[open[top], ++commas[open[top]]] = i
        if (tok[i] == ")") { pair[i] = open[top]; pair[open[top--]] = i }
    }
    if (top) fail("a parenthesis without its other")
}

# ---- the rules ----

# The arguments of CASE and coalesce have one type: beside a text, such as 'null', all are made texts.
function make_text(first, last) {
    if (tok[first] ~ /^'/ || first == last && word[first] == "null") return
    head[first] = head[first] "text_of("
    tail[last] = tail[last] ")"
}

function is_text(first, last) {
    return first == last && tok[first] ~ /^'/
}

function call_iif(i,    first, second, end) {
    first = comma[i + 1, 1]
    second = comma[i + 1, 2]
    end = pair[i + 1]
    if (is_text(first + 1, second - 1) || is_text(second + 1, end - 1)) {
        make_text(first + 1, second - 1)
        make_text(second + 1, end - 1)
    }
    tok[i] = ""
    tok[i + 1] = "(CASE WHEN "
    tok[comma[i + 1, 1]] = " THEN"
    tok[comma[i + 1, 2]] = " ELSE"
    tok[pair[i + 1]] = " END)"
}

function call_coalesce(i,    at, first, end) {
    end = pair[i + 1]
    if (!is_text(comma[i + 1, commas[i + 1]] + 1, end - 1)) return
    first = i + 2
    for (at = 1; at <= commas[i + 1]; at++) {
        make_text(first, comma[i + 1, at] - 1)
        first = comma[i + 1, at] + 1
    }
}

function call_cast(i,    end) {
    end = pair[i + 1]
    if (word[end - 1] == "text") return
    tok[i] = word[end - 1] ~ /^(integer|bigint)$/ ? "to_int" : "to_real"
    tok[end - 2] = tok[end - 1] = ""
}

function call_concat(i,    end, inner) {
    end = pair[i + 1]
    inner = word[i + 2] == "distinct" ? i + 2 : i + 1
    tok[i] = "string_agg"
    tok[inner] = tok[inner] " text_of("
    if (commas[i + 1]) tok[comma[i + 1, 1]] = "),"
    else tok[end] = "), ',')"
}

function call_object(i) {
    tok[i] = "json_build_object"
    tok[pair[i + 1]] = ")::text"
}

# One conversion of a format, such as "-20s": what stands before and behind its argument.
function open_conversion(how) {
    if (how ~ /x$/) return how ~ /^0/ ? "lpad(to_hex(to_int(" : "to_hex(to_int("
    if (how ~ /g$/) return "text_of_real("
    if (how ~ /f$/) return "text_of_fixed("
    return (how ~ /^-?[0-9]/ ? "pad(" : "") (how ~ /d$/ ? "text_of_int(" : "coalesce(text_of(")
}

function close_conversion(how,    width) {
    width = how
    gsub(/[^0-9-]/, "", width)
    if (how ~ /x$/) return how ~ /^0/ ? ")), " (width + 0) ", '0')" : "))"
    if (how ~ /g$/) return ")"
    if (how ~ /f$/) return ", " width ")"
    return (how ~ /d$/ ? ")" : "), '')") (width != "" ? ", " width ")" : "")
}

function literal(text) {
    gsub(/%%/, "%", text)
    return "'" text "'"
}

# The tokens of the format become one text; each comma behind it ends an argument and begins the next.
function call_printf(i,    at, last, format, number, how, text, next_text) {
    last = commas[i + 1] ? comma[i + 1, 1] - 1 : pair[i + 1] - 1
    for (at = i + 2; at <= last; at++) {
        if (tok[at] ~ /^'/) format = format substr(tok[at], 2, length(tok[at]) - 2)
        else if (tok[at] != "||") fail("a format that is no literal: " tok[at])
        tok[at] = ""
        if (at > i + 2) before[at] = ""
    }
    tok[i] = ""
    for (number = 1; match(format, /%[-!0-9.]*[a-z]/); number++) {
        how = substr(format, RSTART + 1, RLENGTH - 1)
        text = literal(substr(format, 1, RSTART - 1)) " || " open_conversion(how)
        tok[comma[i + 1, number]] = (number > 1 ? close_of " || " : "") text
        close_of = close_conversion(how)
        closes[i] = close_of
        format = substr(format, RSTART + RLENGTH)
    }
    if (number - 1 != commas[i + 1]) fail("a format that does not fit its arguments")
    tok[pair[i + 1]] = (number > 1 ? close_of " || " : "") literal(format) ")"
}

# The place behind a thing of FROM: NAME, NAME(...) or (SELECT ...).
function behind_thing(i) {
    if (tok[i] == "(") return pair[i] + 1
    return tok[i + 1] == "(" ? pair[i + 1] + 1 : i + 1
}

function behind_alias(i) {
    if (word[i] == "as") return i + 2
    return i
}

function join(i,    at, is_cross) {
    is_cross = word[i - 1] == "cross"
    at = behind_alias(behind_thing(i + 1))
    if (word[at] == "on" && is_cross) tok[i - 1] = ""
    if (word[at] != "on" && !is_cross) tok[i] = word[i - 1] == "left" ? "JOIN LATERAL" : "CROSS JOIN LATERAL"
    if (word[at] != "on" && word[i - 1] == "left") tok[at - 1] = tok[at - 1] " ON true"
}

function name_subquery(i) {
    if (tok[i] != "(" || word[pair[i] + 1] == "as") return
    tok[pair[i]] = tok[pair[i]] " AS unnamed_" ++unnamed
}

function order_item(last) {
    tok[last] = tok[last] (word[last] == "desc" ? " NULLS LAST" : " NULLS FIRST")
}

# From the token behind ORDER BY to the end of its list.
function order(i) {
    for (; i <= count; i++) {
        if (tok[i] == ",") order_item(i - 1)
        if (word[i] == "(") { i = pair[i]; continue }
        if (word[i] == ")" || word[i] == ";" || word[i] in ends_order) break
    }
    order_item(i - 1)
}

# ---- the run of a row ----

# The tables of a run that have a column run_number in the schema clear_rows: those of a profile or process.
function read_tables(file,    line, name, field) {
    while ((getline line < file) > 0) {
        split(line, field, /[ (]+/)
        if (line ~ /^CREATE (TABLE|VIEW) /) name = field[3]
        if (line ~ /^    [a-z_0-9]+ +(INTEGER|TEXT|REAL)/) columns[name] = columns[name] " " field[2]
        if (line ~ /^    (profile_id|process_id) +INTEGER/ || name == "sites" || name == "profiles" || name == "processes") has_run[name] = 1
    }
    close(file)
}

# row_of[alias]: the tables with a run that a view calls so; other[alias]: a query or another table is called so.
function find_aliases(    i, alias) {
    split("", row_of)
    split("", other)
    for (i = 1; i <= count; i++) {
        if (word[i + 1] == "as" && (tok[i + 2] == "(" || word[i + 2] == "materialized")) other[word[i]] = 1
        if (tok[i] == ")" && word[i + 1] == "as") other[word[i + 2]] = 1
        if ((word[i] != "from" && word[i] != "join") || tok[i + 1] == "(") continue
        alias = word[i + 2] == "as" ? word[i + 3] : word[i + 1]
        if (!(word[i + 1] in has_run)) other[alias] = 1
        else if (row_of[alias] !~ " " word[i + 1] "$") row_of[alias] = row_of[alias] " " word[i + 1]
    }
}

# What an alias has in a column: "profile", "process" or nothing.
function owner_of(alias, column) {
    if (!(alias in row_of) || alias in other) return ""
    if (column == "profile_id" || column == "process_id") return substr(column, 1, 7)
    return column != "id" ? "" : row_of[alias] == " profiles" ? "profile" : row_of[alias] == " processes" ? "process" : ""
}

# The tokens ALIAS.COLUMN = ALIAS.COLUMN, from the first.
function same_run(i,    owner) {
    if (tok[i + 1] != "." || tok[i + 3] != "=" || tok[i + 5] != ".") return
    owner = owner_of(word[i], word[i + 2])
    if (owner != "" && owner == owner_of(word[i + 4], word[i + 6]))
        tail[i + 6] = tail[i + 6] " AND " tok[i] ".run_number = " tok[i + 4] ".run_number"
}

# All columns of a table but run_number, which only a store has.
function all_columns(i,    list, n, k) {
    if (tok[i + 1] != "." || tok[i + 2] != "*" || !(word[i] in columns)) return
    n = split(columns[word[i]], list, " ")
    for (k = 1; k < n; k++) tail[i + 2] = tail[i + 2] (k > 1 ? ", " : "") tok[i] "." list[k]
    tok[i + 2] = tail[i + 2] ", " tok[i] "." list[n]
    tail[i + 2] = ""
    tok[i] = tok[i + 1] = before[i + 2] = ""
}

function translate(    i) {
    find_aliases()
    for (i = 1; i <= count; i++) same_run(i)
    for (i = 1; i <= count; i++) all_columns(i)
    for (i = 1; i <= count; i++)
        if (word[i] == "order" && word[i + 1] == "by") order(i + 2)
    for (i = 1; i <= count; i++) {
        if (tok[i] ~ /^[0-9]+[.e]/) tok[i] = "float8 '" tok[i] "'"
        if (word[i] == "join") join(i)
        if (word[i] == "from" || word[i] == "join") name_subquery(i + 1)
        if (word[i] == "glob") tok[i] = word[i - 1] == "not" ? "!@~" : "@~"
        if (word[i] == "glob" && word[i - 1] == "not") tok[i - 1] = ""
        if (word[i] == "is" && word[i + 1] == "not" && !(word[i + 2] in is_literal)) { tok[i] = "IS DISTINCT FROM"; tok[i + 1] = "" }
        else if (word[i] == "is" && word[i + 1] != "not" && !(word[i + 1] in is_literal)) tok[i] = "IS NOT DISTINCT FROM"
        if (word[i] in renamed && word[i - 1] != ".") tok[i] = renamed[word[i]]
        if (word[i + 1] != "(") continue
        if (word[i] == "iif") call_iif(i)
        if (word[i] == "coalesce") call_coalesce(i)
        if (word[i] == "cast") call_cast(i)
        if (word[i] == "printf") call_printf(i)
        if (word[i] == "group_concat") call_concat(i)
        if (word[i] == "json_object") call_object(i)
        if (word[i] == "max" && commas[i + 1]) tok[i] = "greatest_of"
        if (word[i] == "min" && commas[i + 1]) tok[i] = "least_of"
    }
}

# ---- files and their order ----

# The statement DROP VIEW IF EXISTS ...; at the start is left out.
function read_view(file,    line, text, name, i) {
    while ((getline line < file) > 0) text = text line "\n"
    close(file)
    read_tokens(text)
    translate()
    for (i = 1; tok[i] != ";" && word[1] == "drop"; i++) tok[i] = before[i] = ""
    if (word[1] == "drop") tok[i++] = ""
    name = tok[i + 2]
    if (word[i] != "create" || word[i + 1] != "view") fail(file ": is no view")
    names[++views] = name
    tok[i + 2] = "clear_views." name
    text = ""
    for (; i <= count; i++) {
        text = text before[i] head[i] tok[i] tail[i]
        reads[name] = reads[name] " " tok[i]
    }
    texts[name] = text
}

function read_own(file,    line, text, name, i) {
    while ((getline line < file) > 0) text = text line "\n"
    close(file)
    read_tokens(text)
    name = tok[3]
    if (word[1] != "create" || word[2] != "view" || !(name in texts)) fail(file ": is no view of a file")
    tok[3] = "clear_views." name
    text = reads[name] = ""
    for (i = 1; i <= count; i++) {
        text = text before[i] tok[i]
        reads[name] = reads[name] " " tok[i]
    }
    texts[name] = text
}

function put(name,    list, i, n) {
    if (is_put[name]++) return
    n = split(reads[name], list, " ")
    for (i = 1; i <= n; i++) if (list[i] in texts) put(list[i])
    print texts[name]
}
