-- For the manual: threshold number :at, from 0, by name.
SELECT name, value, unit, meaning FROM rules ORDER BY name LIMIT 1 OFFSET :at
