-- The frames of a :trace, leaf first. Not by the column depth, as in diff/callers.sql.
SELECT function, file, line, module
FROM (SELECT row_number() OVER () AS place, function, file, line, module
      FROM frames
      WHERE trace_id = :trace)
ORDER BY place;
