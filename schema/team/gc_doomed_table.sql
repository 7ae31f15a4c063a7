-- The runs that are deleted.
CREATE TEMP TABLE doomed (
    project bigint,
    month   date,
    run     uuid,
    PRIMARY KEY (project, month, run)
) ON COMMIT DROP
