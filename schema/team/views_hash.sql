-- Which views the store has.
SELECT value
FROM clear.meta
WHERE key = 'views_hash'
