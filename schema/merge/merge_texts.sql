-- The statements of ingest/read/warehouse/merge_texts.c.

-- @accepted: Accepted changes of a warehouse that is merged, of any run.
SELECT
    run_uuid,
    figure,
    subject,
    why,
    accepted_ns
FROM main.accepted_changes

-- @put_accepted: An accepted change, unless it is known.
INSERT OR IGNORE INTO main.accepted_changes(run_uuid, figure, subject, why, accepted_ns)
VALUES (:uuid, :figure, :subject, :why, :accepted)

-- @put_missing_pin: A pin of run :run, unless it has one.
INSERT OR IGNORE INTO main.pins(run_id, why, pinned_ns)
VALUES (:run, :why, :pinned)

-- @put_query: A saved query of a user, unless there is one of that name.
INSERT OR IGNORE INTO main.queries(name, description, params, sql, export)
VALUES (:name, :description, :params, :sql, :export)

-- @same_query: Is the saved query here the same?
SELECT
    description = :description AND params = :params AND sql = :sql AND export = :export
FROM main.queries
WHERE name = :name
