-- Accepted changes of a warehouse that is merged, of any run.
SELECT
    run_uuid,
    figure,
    subject,
    why,
    accepted_ns
FROM main.accepted_changes
