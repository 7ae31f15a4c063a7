-- Why the diagnosis with the text :text failed when it was tried last; no row: it did not. The value of meta is a JSON array of
-- [text of the view, reason]. It is found by its text, so that a view that was changed is tried again.
SELECT failing.value ->> 1
FROM meta
JOIN json_each(meta.value) AS failing
WHERE meta.key = :key AND failing.value ->> 0 = :text
