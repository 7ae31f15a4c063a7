-- Runs whose facts are missing, or were made by another definition.
SELECT (SELECT count(*) FROM main.runs) - (SELECT count(*) FROM main.seals WHERE definition = :definition)
