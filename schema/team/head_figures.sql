-- The figures of the runs with the months $2 and uuids $3 (arrays, one for one) of project $1, those with the name $4 or, where it is NULL, all:
-- place in the arrays, figure, subject, value, place in the run.
SELECT
    wanted.number,
    figures.figure,
    figures.subject,
    figures.value,
    figures.place
FROM unnest($2::date[], $3::uuid[]) WITH ORDINALITY AS wanted(month, run, number)
JOIN clear.figures ON figures.project = $1 AND figures.month = wanted.month AND figures.run = wanted.run
WHERE ($4::text IS NULL OR figures.figure = $4) AND figures.subject NOT LIKE 'function %'
ORDER BY wanted.number, figures.place
