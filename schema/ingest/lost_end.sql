-- Run :run is over, but nobody saw how it ended.
UPDATE runs
SET flags = trim(replace(' ' || flags || ' ', ' unfinished ', ' '))
WHERE id = :run
