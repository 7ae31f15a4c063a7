-- How often names were deleted, and whether project $1 is on another server now.
SELECT (SELECT value FROM clear.meta WHERE key = 'swept'), EXISTS (SELECT 1 FROM clear.shards WHERE project = $1)
