-- The sample type that profiles of the kind :kind (or of its parts :also and :further) of the run :run show first; no row: none is named.
SELECT default_type
FROM profiles
WHERE run_id = :run AND kind IN (:kind, :also, :further) AND default_type <> ''
ORDER BY kind <> :kind, id
LIMIT 1
