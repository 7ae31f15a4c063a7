-- Indexes of tables that ingest/team/layout.c makes.
CREATE INDEX IF NOT EXISTS runs_content ON clear.runs(project, content_hash) WHERE content_hash IS NOT NULL;
CREATE INDEX IF NOT EXISTS runs_newest ON clear.runs(project, started_ns DESC, run DESC);
CREATE INDEX IF NOT EXISTS runs_run ON clear.runs(project, run);
CREATE INDEX IF NOT EXISTS tags_value ON clear.tags(project, key, md5(value));
CREATE INDEX IF NOT EXISTS runs_label ON clear.runs(project, label) WHERE label IS NOT NULL;
