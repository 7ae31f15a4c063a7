-- The runs with the months $2 and uuids $3 (arrays, one for one) of project $1, for the rest of the transaction.
INSERT INTO pg_temp.piece(project, month, run)
SELECT $1::bigint, month, run
FROM unnest($2::date[], $3::uuid[]) AS item(month, run)
