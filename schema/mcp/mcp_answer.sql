-- The statements of serve/mcp/mcp_answer.c: what a tool answers, made of the JSON :output of the command of clear that it ran. Columns: a text for
-- a reader, and the same as a JSON object. Every name and every text of a profile is quoted in the text. :run is what the client named, :kind
-- too, :limit how many rows are shown, :notes what the command said beside its output; :ending of a program that was recorded.

-- @runs: The list of runs, newest first.
WITH
listed AS (
    SELECT value AS run FROM json_each(:output) LIMIT :limit
),
counted AS (
    SELECT count(*) AS runs, json_array_length(:output) > :limit AS is_cut,
        group_concat(
            'run ' || (run ->> '$.run_id') || coalesce(' labelled ' || quoted(run ->> '$.label', 80), '') || ': '
            || quoted(run ->> '$.command', 160) || ', ' || (run ->> '$.started') || ', ' || shown(run ->> '$.duration_ns', 'ns')
            || ', ' || coalesce(run ->> '$.exit', 'not over') || ', ' || (SELECT coalesce(group_concat(word(value), ' '), 'no profile') FROM json_each(run, '$.kinds'))
            || iif(run -> '$.tags' = '{}', '', ', tags ' || quoted(run -> '$.tags', 300)),
            char(10)) AS lines,
        json_group_array(json_object(
            'run_id', run ->> '$.run_id', 'uuid', run ->> '$.uuid', 'label', run ->> '$.label', 'command', run ->> '$.command',
            'started', run ->> '$.started', 'duration_ns', run ->> '$.duration_ns', 'exit', run ->> '$.exit',
            'cpu_ns', run ->> '$.cpu_ns', 'alloc_bytes', run ->> '$.alloc_bytes', 'peak_bytes', run ->> '$.peak_bytes',
            'lock_wait_ns', run ->> '$.lock_wait_ns', 'flags', run ->> '$.flags',
            'kinds', json(run -> '$.kinds'), 'tags', json(run -> '$.tags'))) AS runs_json,
        substr((SELECT run ->> '$.uuid' FROM listed LIMIT 1), 1, 13) AS first,
        substr((SELECT run ->> '$.uuid' FROM listed LIMIT 1 OFFSET 1), 1, 13) AS second
    FROM listed
),
steps AS (
    SELECT json_object('tool', 'doctor', 'arguments', json_object('run', first), 'why', 'what is wrong with the newest of them') AS step
    FROM counted WHERE first IS NOT NULL
    UNION ALL
    SELECT json_object('tool', 'diff', 'arguments', json_object('base', second, 'run', first), 'why', 'what changed in the newest of them')
    FROM counted WHERE second IS NOT NULL
)
SELECT
    iif(runs = 0, 'no such run; clear profile PROGRAM records one, clear ingest FILE reads one', shown(runs, 'run') || ', newest first')
    || coalesce(char(10) || lines, '')
    || iif(is_cut, char(10) || '[cut: there are more; ask with a larger limit, or with before]', '') AS text,
    json_object('runs', json(runs_json), 'truncated', json(iif(is_cut, 'true', 'false')),
                'next', json((SELECT json_group_array(json(step)) FROM steps))) AS structured
FROM counted

-- @doctor: The overview of a run: the findings, the worst first.
WITH
overview AS (
    SELECT
        :output ->> '$.run_id' AS run_id,
        coalesce(:run, substr(:output ->> '$.uuid', 1, 13)) AS run,
        substr(:output ->> '$.previous.uuid', 1, 13) AS previous,
        :output ->> '$.findings_in_all' AS findings,
        json_array_length(:output, '$.findings') AS shown_findings
),
found AS (
    SELECT
        one.value AS finding,
        -- Where to look: at who held the lock, else at the place of the finding.
        (SELECT part.value ->> '$.function' FROM json_each(one.value, '$.parts') AS part
         WHERE part.value ->> '$.is' IN ('holder', 'place') ORDER BY part.value ->> '$.is' LIMIT 1) AS function,
        CASE one.value ->> '$.section' WHEN 'heap' THEN 'heap' WHEN 'lock' THEN 'lock' WHEN 'cpu' THEN 'cpu' WHEN 'wait' THEN 'wait' END AS kind,
        -- What a heap profile shows first is live at the end, which is nothing where blocks are freed.
        iif(one.value ->> '$.section' = 'heap' AND one.value ->> '$.code' <> 'leak', 'alloc_space', NULL) AS type
    FROM json_each(:output, '$.findings') AS one
),
told AS (
    SELECT
        group_concat(
            word(finding ->> '$.severity') || ' ' || quoted(finding ->> '$.text', 500)
            || coalesce(char(10) || '  figures: ' || (
                SELECT group_concat(figure(key, atom), ', ') FROM (
                    SELECT key, atom FROM json_each(finding, '$.evidence') WHERE type IN ('integer', 'real') AND atom <> 0 LIMIT 12)), '')
            || iif(finding ->> '$.short' = '', '', char(10) || '  advice: ' || quoted(finding ->> '$.short', 600))
            || iif(finding ->> '$.unless' = '', '', char(10) || '  not a fault if: ' || quoted(finding ->> '$.unless', 300)),
            char(10)) AS lines,
        json_group_array(json_object(
            'number', finding ->> '$.number', 'severity', finding ->> '$.severity', 'section', finding ->> '$.section',
            'code', finding ->> '$.code', 'subject', finding ->> '$.subject', 'text', finding ->> '$.text',
            'places', json((SELECT json_group_array(json(value)) FROM json_each(finding, '$.parts')
                            WHERE value ->> '$.is' IN ('place', 'holder') AND value ->> '$.text' GLOB '*:[0-9]*')),
            'evidence', json(finding -> '$.evidence'), 'advice', finding ->> '$.short', 'unless', finding ->> '$.unless')) AS findings_json
    FROM found
),
steps AS (
    SELECT * FROM (
        SELECT json_object('tool', 'source', 'arguments',
                           json_patch(json_object('function', pattern(function), 'run', run), json_object('kind', kind, 'type', type)),
                           'why', 'the lines with their cost, of finding ' || (finding ->> '$.number')) AS step
        FROM found, overview WHERE function IS NOT NULL LIMIT 1)
    UNION ALL
    SELECT json_object('tool', 'top', 'arguments', json_object('run', run), 'why', 'the functions that cost most') FROM overview
    UNION ALL
    SELECT json_object('tool', 'doctor', 'arguments', json_object('run', run, 'limit', min(findings, 50)), 'why', 'the other findings')
    FROM overview WHERE findings > shown_findings
    UNION ALL
    SELECT json_object('tool', 'diff', 'arguments', json_object('base', previous, 'run', run), 'why', 'what changed since the run before')
    FROM overview WHERE previous IS NOT NULL
)
SELECT
    coalesce(:ending || char(10), '')
    || 'run ' || run_id || ', ' || shown(:output ->> '$.duration_ns', 'ns') || ': '
    || iif(findings = 0, quoted(:output ->> '$.verdict.text', 500), shown(findings, 'finding') || ', the worst first')
    || coalesce(char(10) || quoted(:output ->> '$.sentence', 300), '')
    || coalesce(char(10) || lines, '')
    || iif(findings > shown_findings, char(10) || '[cut: ' || (findings - shown_findings) || ' more; ask with limit ' || min(findings, 50) || ']', '') AS text,
    json_object(
        'run_id', run_id, 'uuid', :output ->> '$.uuid', 'duration_ns', :output ->> '$.duration_ns',
        'sentence', :output ->> '$.sentence', 'kind', :output ->> '$.kind', 'ending', :ending,
        'findings', json(findings_json), 'findings_in_all', findings,
        'truncated', json(iif(findings > shown_findings, 'true', 'false')),
        'next', json((SELECT json_group_array(json(step)) FROM steps))) AS structured
FROM overview, told

-- @top: The functions, lines or files of a run, those that cost most first.
WITH
whole AS (
    SELECT :output ->> '$.total' AS total, :output ->> '$.unit' AS unit, :output ->> '$.type' AS type,
        json_array_length(:output, '$.nodes') > :limit AS is_cut, coalesce(:run, 'latest') AS run
),
listed AS (
    SELECT key AS place, value AS node FROM json_each(:output, '$.nodes') LIMIT :limit
),
told AS (
    SELECT
        group_concat(
            'flat ' || shown(node ->> '$.flat', unit) || share(node ->> '$.flat', total) || ', cum ' || shown(node ->> '$.cum', unit)
            || share(node ->> '$.cum', total) || ', ' || quoted(node ->> '$.name', 300), char(10)) AS lines,
        json_group_array(json(node)) AS rows_json,
        (SELECT coalesce(node ->> '$.function', '') FROM listed ORDER BY node ->> '$.flat' DESC LIMIT 1) AS first
    FROM listed, whole
),
steps AS (
    SELECT json_object('tool', 'source', 'arguments',
                       json_patch(json_object('function', pattern(first), 'run', run), json_object('kind', :kind, 'type', :type)),
                       'why', 'the lines of the first with their cost') AS step
    FROM told, whole WHERE first NOT IN ('', '[unsampled]')
    UNION ALL
    SELECT json_object('tool', 'top', 'arguments', json_patch(json_object('run', run, 'limit', min(5 * :limit, 500)), json_object('kind', :kind, 'type', :type)),
                       'why', 'more of them')
    FROM whole WHERE is_cut
)
SELECT
    word(type) || ' of run ' || quoted(run, 100) || ': ' || shown(total, unit) || coalesce(char(10) || lines, ', nothing of it in any function')
    || coalesce(char(10) || 'note: ' || quoted(:notes, 500), '')
    || iif(is_cut, char(10) || '[cut: there are more; ask with a larger limit]', '') AS text,
    json_object('run', run, 'type', type, 'unit', unit, 'total', total, 'rows', json(rows_json), 'notes', :notes,
                'truncated', json(iif(is_cut, 'true', 'false')),
                'next', json((SELECT json_group_array(json(step)) FROM steps))) AS structured
FROM whole, told

-- @source: The lines of functions with their cost. A function shows the lines that cost something and two around each, at most 60.
WITH
whole AS (
    SELECT :output ->> '$.total' AS total, :output ->> '$.unit' AS unit, :output ->> '$.type' AS type, coalesce(:run, 'latest') AS run,
        json_array_length(:output, '$.functions') > :limit AS is_cut
),
listed AS (
    SELECT row_number() OVER (ORDER BY value ->> '$.cum' DESC, key) AS place, value AS function
    FROM json_each(:output, '$.functions')
),
lines AS (
    SELECT place, line.value AS line, line.value ->> '$.line' AS number,
        max(abs(line.value ->> '$.cum')) OVER (PARTITION BY place ORDER BY line.key ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING) > 0 AS is_near
    FROM listed JOIN json_each(function, '$.lines') AS line
    WHERE place <= :limit
),
near AS (
    SELECT place, line, number, row_number() OVER (PARTITION BY place ORDER BY number) AS nth
    FROM lines WHERE is_near
),
told AS (
    SELECT place,
        group_concat('  ' || number || ': ' || iif(line ->> '$.cum' = 0, '', 'flat ' || shown(line ->> '$.flat', unit) || ', cum ' || shown(line ->> '$.cum', unit)
                     || share(line ->> '$.cum', total) || ' ') || quoted(line ->> '$.text', 200), char(10)) AS text,
        json_group_array(json(line)) AS json
    FROM near, whole WHERE nth <= 60 GROUP BY place
),
costly AS (
    SELECT listed.function, number, line FROM near JOIN listed USING (place)
    ORDER BY line ->> '$.flat' DESC, line ->> '$.cum' DESC, place LIMIT 1
),
functions AS (
    SELECT
        group_concat(quoted(function ->> '$.name', 300) || ' in ' || quoted(function ->> '$.file', 300) || ': flat '
            || shown(function ->> '$.flat', unit) || ', cum ' || shown(function ->> '$.cum', unit) || share(function ->> '$.cum', total)
            || coalesce(char(10) || '  no source: ' || quoted(function ->> '$.error', 300), '') || coalesce(char(10) || told.text, ''), char(10)) AS text,
        json_group_array(json_object('name', function ->> '$.name', 'file', function ->> '$.file', 'flat', function ->> '$.flat',
            'cum', function ->> '$.cum', 'error', function ->> '$.error', 'lines', json(coalesce(told.json, '[]')))) AS json,
        (SELECT count(*) FROM near WHERE nth > 60) > 0 AS is_cut,
        (SELECT function ->> '$.name' FROM listed WHERE place = 1) AS first
    FROM whole, listed LEFT JOIN told USING (place)
    WHERE place <= :limit
),
steps AS (
    SELECT json_object('tool', 'top', 'arguments',
                       json_patch(json_object('run', run, 'focus', pattern(first), 'sort', 'cum'), json_object('kind', :kind, 'type', :type)),
                       'why', 'what calls it and what it calls') AS step
    FROM functions, whole WHERE first IS NOT NULL
)
SELECT
    coalesce('the line that costs most: ' || quoted((SELECT (function ->> '$.file') || ':' || number FROM costly), 300) || ', '
        || (SELECT shown(line ->> '$.flat', unit) || share(line ->> '$.flat', total) FROM costly) || ' of ' || word(type) || ', in '
        || quoted((SELECT function ->> '$.name' FROM costly), 300) || char(10), '')
    || coalesce(functions.text, 'no function matches')
    || coalesce(char(10) || 'note: ' || quoted(:notes, 500), '')
    || iif(whole.is_cut OR functions.is_cut, char(10) || '[cut: there are more functions or lines; ask with a larger limit, or for fewer functions]', '') AS text,
    json_object('run', run, 'type', type, 'unit', unit, 'total', total, 'functions', json(functions.json),
                'line', (SELECT json_object('file', function ->> '$.file', 'line', number, 'function', function ->> '$.name', 'flat', line ->> '$.flat',
                                            'cum', line ->> '$.cum', 'text', line ->> '$.text') FROM costly),
                'notes', :notes, 'truncated', json(iif(whole.is_cut OR functions.is_cut, 'true', 'false')),
                'next', json((SELECT json_group_array(json(step)) FROM steps))) AS structured
FROM whole, functions

-- @query: The rows of a statement. :output is an array of the lines that clear query --format=arrays prints.
WITH
last AS (
    SELECT :output ->> '$[#-1].rows' AS row_count, :output ->> '$[#-1].truncated' AS is_cut
),
told AS (
    SELECT group_concat(cut(value, 1000), char(10)) AS lines, coalesce(json_group_array(json(value)), '[]') AS rows_json
    FROM json_each(:output) WHERE type = 'array'
),
steps AS (
    SELECT json_object('tool', 'query', 'arguments', json_object('sql', :sql, 'limit', min(10 * :limit, 10000)), 'why', 'more rows') AS step
    FROM last WHERE is_cut AND :sql IS NOT NULL AND :limit < 10000
)
SELECT
    shown(row_count, 'row') || ' of ' || (:output -> '$[0].columns') || coalesce(char(10) || lines, '')
    || iif(is_cut, char(10) || '[cut: there are more rows; ask with a larger limit, or let the SQL choose]', '') AS text,
    json_object('columns', json(:output -> '$[0].columns'), 'rows', json(rows_json), 'truncated', json(iif(is_cut, 'true', 'false')),
                'next', json((SELECT json_group_array(json(step)) FROM steps))) AS structured
FROM last, told

-- @diff: What changed from one side to the other: rows outside of the noise.
WITH
sides AS (
    SELECT :output ->> '$.old.name' AS old, :output ->> '$.new.name' AS new
),
changed AS (
    SELECT row.key AS place, row.value ->> '$.section' AS section, coalesce(row.value ->> '$.by', '') AS by, row.value ->> '$.subject' AS subject,
        row.value ->> '$.change' AS change, row.value ->> '$.file' AS file, row.value ->> '$.line' AS line,
        figure.key AS figure, figure.value AS figures
    FROM json_each(:output, '$.rows') AS row
    JOIN json_each(row.value, '$.figures') AS figure
    WHERE figure.value ->> '$.is_change' AND (row.value ->> '$.section' = 'totals' OR (row.value ->> '$.is_change' AND figure.key = row.value ->> '$.judged_by'))
),
listed AS (
    SELECT * FROM changed ORDER BY place LIMIT :limit
),
told AS (
    SELECT
        group_concat(
            word(section) || ' ' || iif(section = 'totals', '', word(by) || ' ' || quoted(subject, 300) || iif(coalesce(file, '') = '', '', ' at ' || quoted(file || ':' || line, 300)) || ': ' || change || ', ')
            || word(figure) || ' ' || coalesce(figure_value(figure, figures ->> '$.old.mean'), 'none') || ' -> ' || coalesce(figure_value(figure, figures ->> '$.new.mean'), 'none')
            || coalesce(' (' || printf('%+.1f', figures ->> '$.percent') || ' %)', ''), char(10)) AS lines,
        json_group_array(json_object('section', section, 'by', by, 'subject', subject, 'change', change, 'file', file, 'line', line, 'figure', figure,
            'old', figures ->> '$.old.mean', 'new', figures ->> '$.new.mean', 'percent', figures ->> '$.percent', 'p', figures ->> '$.p')) AS changes_json,
        (SELECT count(*) FROM changed) AS changes,
        (SELECT subject FROM listed WHERE by IN ('function', 'site') AND change <> 'gone' LIMIT 1) AS first
    FROM listed
),
steps AS (
    SELECT json_object('tool', 'source', 'arguments', json_object('function', pattern(first), 'run', new), 'why', 'the lines of the first function that changed') AS step
    FROM told, sides WHERE first IS NOT NULL
    UNION ALL
    SELECT json_object('tool', 'gate', 'arguments', json_object('base', old, 'run', new), 'why', 'whether that is within the limits') FROM sides
)
SELECT
    'from ' || quoted(old, 100) || ' to ' || quoted(new, 100) || ': ' || iif(changes = 0, 'no change outside of the noise', shown(changes, 'change'))
    || coalesce(char(10) || lines, '')
    || coalesce(char(10) || 'lost: ' || (SELECT group_concat(quoted(coalesce(value ->> '$.text', value), 200), ', ') FROM (SELECT value FROM json_each(:output, '$.saturation') LIMIT 5)), '')
    || iif(changes > :limit, char(10) || '[cut: ' || (changes - :limit) || ' more; ask with a larger limit]', '') AS text,
    json_object('old', json(:output -> '$.old'), 'new', json(:output -> '$.new'), 'changes', json(changes_json), 'changes_in_all', changes,
                'saturation', json(:output -> '$.saturation'), 'truncated', json(iif(changes > :limit, 'true', 'false')),
                'next', json((SELECT json_group_array(json(step)) FROM steps))) AS structured
FROM sides, told

-- @gate: The verdict, and the figures that it is about, the worst first.
WITH
whole AS (
    SELECT :output ->> '$.verdict' AS verdict, :output ->> '$.base.name' AS base, :output ->> '$.set.name' AS run,
        json_array_length(:output, '$.rows') AS row_count
),
listed AS (
    SELECT value AS row FROM json_each(:output, '$.rows') LIMIT :limit
),
told AS (
    SELECT
        group_concat(
            (row ->> '$.verdict') || ': rule ' || quoted(row ->> '$.rule', 100) || ', ' || word(row ->> '$.figure')
            || iif(row ->> '$.subject' = '', '', ' of ' || quoted(row ->> '$.subject', 300)) || ' '
            || coalesce(figure_value(row ->> '$.figure', row ->> '$.old.mean'), 'none') || ' -> ' || coalesce(figure_value(row ->> '$.figure', row ->> '$.new.mean'), 'none')
            || coalesce(' (' || printf('%+.1f', row ->> '$.percent') || ' %)', '')
            || iif(coalesce(row ->> '$.file', '') = '', '', ' at ' || quoted((row ->> '$.file') || ':' || (row ->> '$.line'), 300))
            || coalesce(', ' || quoted(row ->> '$.why', 300), '') || coalesce(', blame ' || quoted(row ->> '$.blame', 300), ''), char(10)) AS lines,
        json_group_array(json(row)) AS rows_json
    FROM listed
),
steps AS (
    SELECT json_object('tool', 'diff', 'arguments', json_object('base', base, 'run', run), 'why', 'what else changed, and where') AS step FROM whole
)
SELECT
    verdict || ': ' || quoted(run, 100) || ' against ' || quoted(base, 100) || coalesce(char(10) || lines, '')
    || coalesce(char(10) || 'note: ' || (SELECT group_concat(quoted(value, 300), ', ') FROM (SELECT value FROM json_each(:output, '$.notes') LIMIT 5)), '')
    || iif(row_count > :limit, char(10) || '[cut: ' || (row_count - :limit) || ' more; ask with a larger limit]', '') AS text,
    json_object('verdict', verdict, 'base', json(:output -> '$.base'), 'set', json(:output -> '$.set'), 'rows', json(rows_json),
                'rows_in_all', row_count, 'notes', json(:output -> '$.notes'), 'truncated', json(iif(row_count > :limit, 'true', 'false')),
                'next', json((SELECT json_group_array(json(step)) FROM steps))) AS structured
FROM whole, told

-- @views: A line for each table and view with what it holds, of what clear schema --json prints. Those of single diagnoses and of facts are many,
-- and hardly asked.
SELECT
    'Each name is explained column by column in clear://schema/NAME. Views beside these: doctor_SECTION_CODE of each diagnosis, NAME_facts.'
    || char(10) || group_concat((value ->> '$.name') || ' (' || (value ->> '$.type') || '): ' || cut(replace(value ->> '$.comment', char(10), ' '), 240), char(10)) AS text
FROM json_each(:output)
WHERE value ->> '$.name' NOT GLOB 'doctor_*' AND value ->> '$.name' NOT GLOB '*_facts'
