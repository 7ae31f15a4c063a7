-- A run that comes from a file.
INSERT INTO runs(uuid, command, label, started_ns, duration_ns, host, source, content_hash, sample_n, flags)
VALUES (:uuid, :command, :label, :started, :duration, :host, :source, :hash, :sample_n, :flags);
