-- A run that is about to be recorded.
INSERT INTO runs(uuid, command, label, started_ns, host, source, sample_n, flags)
VALUES (:uuid, :command, :label, :started, :host, 'profile', :sample_n,
        'unfinished' || coalesce(' sample_bytes=' || :sample_bytes, ''));
