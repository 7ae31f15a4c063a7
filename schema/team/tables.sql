-- A store on PostgreSQL: what is not made from the tables of a file (ingest/team/layout.c). Every primary key begins with the project, so
-- that every join stays in one shard. Names are kept by content: `key` and `check` are bits of the SHA-256 of a definition.
-- The tables that take most have a partition a month; those of layout.c that do are listed there. A query meets every partition of a table
-- that it reads, so the others have none.
CREATE SCHEMA IF NOT EXISTS clear;

CREATE TABLE IF NOT EXISTS clear.meta (
    key   text PRIMARY KEY, -- version: of the tables, as user_version of a file
    value text NOT NULL
);

CREATE TABLE IF NOT EXISTS clear.projects (
    project bigint PRIMARY KEY, -- 64 bits of the SHA-256 of its name
    name    text   NOT NULL
);

-- Projects whose runs are on another server, which has a store of its own. Who pushes or pulls asks here, and then goes straight there.
CREATE TABLE IF NOT EXISTS clear.shards (
    project bigint PRIMARY KEY, -- as in projects, whether or not that has it
    address text   NOT NULL -- postgresql://HOST/DATABASE, without a password
);

-- Runs that the owner removed: a push does not bring them back.
CREATE TABLE IF NOT EXISTS clear.removed (
    project      bigint      NOT NULL,
    run          uuid        NOT NULL,
    content_hash text,       -- of the file that it was read from; NULL of a recorded run
    removed_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project, run)
);

-- Runs that name what the store does not have: a push of one, by whoever has it, brings the names.
CREATE TABLE IF NOT EXISTS clear.wanting (
    project bigint NOT NULL,
    month   date   NOT NULL,
    run     uuid   NOT NULL,
    PRIMARY KEY (project, month, run)
);

CREATE SEQUENCE IF NOT EXISTS clear.run_number;

-- What a run uses of the names, in the order in which exports list it. Other tables have a place in these lists, from 1.
CREATE TABLE IF NOT EXISTS clear.run_names (
    project    bigint      NOT NULL,
    month      date        NOT NULL, -- the first day of the month in which the run began, UTC
    run        uuid        NOT NULL,
    traces     bigint[]    NOT NULL,
    label_sets bigint[]    NOT NULL,
    objects    bigint[]    NOT NULL,
    pushed_at  timestamptz NOT NULL DEFAULT now(),
    pushed_by  text        NOT NULL DEFAULT current_user,
    number     bigint      NOT NULL DEFAULT nextval('clear.run_number'), -- run_id in the views
    PRIMARY KEY (project, month, run)
);
-- Runs of a store that had no numbers get them.
ALTER TABLE clear.run_names ADD COLUMN IF NOT EXISTS number bigint NOT NULL DEFAULT nextval('clear.run_number');
ALTER TABLE clear.run_names ADD COLUMN IF NOT EXISTS changed_at timestamptz; -- by the owner, since; NULL: it was not
CREATE INDEX IF NOT EXISTS run_names_number ON clear.run_names(project, number);

-- What the file's views said of the run when it was pushed: of each code the first 100 critical and warning ones, and the first 10 others.
CREATE TABLE IF NOT EXISTS clear.findings (
    project  bigint NOT NULL,
    month    date   NOT NULL,
    run      uuid   NOT NULL,
    place    bigint NOT NULL, -- 1, 2, ... in the order of the view doctor
    section  text   NOT NULL,
    code     text   NOT NULL,
    severity text   NOT NULL,
    subject  text   NOT NULL,
    evidence text   NOT NULL, -- JSON; the advice for a code is in every file (table advice)
    PRIMARY KEY (project, month, run, place)
);

-- How many findings there were of each code and severity, and how many of them `findings` has.
CREATE TABLE IF NOT EXISTS clear.finding_counts (
    project  bigint NOT NULL,
    month    date   NOT NULL,
    run      uuid   NOT NULL,
    place    bigint NOT NULL, -- 1, 2, ... in the order of the first of them
    section  text   NOT NULL,
    code     text   NOT NULL,
    severity text   NOT NULL,
    count    bigint NOT NULL,
    kept     bigint NOT NULL,
    PRIMARY KEY (project, month, run, place)
);

CREATE TABLE IF NOT EXISTS clear.figures (
    project bigint           NOT NULL,
    month   date             NOT NULL,
    run     uuid             NOT NULL,
    place   bigint           NOT NULL,
    figure  text             NOT NULL,
    subject text             NOT NULL, -- '' for the whole run; of functions the five with most of the figure: one without a row is not 0
    value   double precision,
    PRIMARY KEY (project, month, run, place)
);
-- A name of C++ may be longer than an index takes.
CREATE INDEX IF NOT EXISTS figures_subject ON clear.figures(project, figure, md5(subject));
