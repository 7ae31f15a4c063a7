-- The functions of a stack, inlined ones too, from the leaf on.
SELECT function, file, module, line
FROM frames
WHERE trace_id = :trace
