-- The statements of ingest/record/run.c.

-- @end: Run :run has ended, with an exit status or by a signal; the other is NULL.
UPDATE runs
SET exit_status = :status,
    exit_signal = :signal,
    symbolize_ns = :symbolize,
    write_ns = :write,
    flags = trim(replace(' ' || flags || ' ', ' unfinished ', ' '))
WHERE id = :run;

-- @recorded: A run that is about to be recorded.
INSERT INTO runs(uuid, command, label, started_ns, host, source, sample_n, flags)
VALUES (:uuid, :command, :label, :started, :host, 'profile', :sample_n,
        'unfinished' || coalesce(' sample_bytes=' || :sample_bytes, ''));
