-- The oldest run behind :above whose facts are missing, or were made by another definition.
SELECT runs.id
FROM main.runs AS runs
WHERE runs.id > :above
  AND NOT EXISTS (SELECT 1 FROM main.seals WHERE seals.run_id = runs.id AND seals.definition = :definition)
ORDER BY runs.id
LIMIT 1
