-- Run :run has ended, with an exit status or by a signal; the other is NULL.
UPDATE runs
SET exit_status = :status,
    exit_signal = :signal,
    symbolize_ns = :symbolize,
    write_ns = :write,
    flags = trim(replace(' ' || flags || ' ', ' unfinished ', ' '))
WHERE id = :run;
