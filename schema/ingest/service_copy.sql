-- The statement of ingest/services/service_copy.c.

-- @describe: The run of a service, as ingest/lost/describe has that of a recording: the run :uuid of the command line :command, of the file
-- :executable, that began at :started. Its tags: the :program, :host and :user, and what tells the parts of one recording: :service and :part,
-- NULL of one that was not cut.
SELECT
    json_object(
        'uuid', :uuid,
        'command', :command,
        'label', NULL,
        'started_ns', :started,
        'host', :host,
        'sample_n', :sample_n,
        'flags', 'unfinished',
        'tags', json_patch(
            json_object('program', :program, 'host', :host, 'user', :user, 'service', :service),
            json_object('part', CAST(:part AS TEXT))
        ),
        'warehouse', :warehouse,
        'program', :executable,
        'build', NULL,
        'source', NULL,
        'text', NULL
    )
