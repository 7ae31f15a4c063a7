-- The line of the program's own code that has most of the CPU time of the function :function, which is not its own, in run :run; where it has half of it
-- or more. :file is the name of its source file without directories.
SELECT own_function, own_file, own_line, module, lines
FROM library_facts
WHERE run_id = :run AND function = :function AND substr(file, 1 + length(rtrim(file, replace(file, '/', '')))) = :file AND own_percent >= 50
LIMIT 1
