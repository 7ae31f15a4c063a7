-- The tables of judgement, with clear's own rows.
CREATE TABLE clear_views.rules (name text COLLATE "C" PRIMARY KEY, value double precision NOT NULL, unit text NOT NULL, meaning text NOT NULL);
CREATE TABLE clear_views.advice (code text COLLATE "C" PRIMARY KEY, severity text COLLATE "C" NOT NULL, title text NOT NULL,
                                 text text COLLATE "C" NOT NULL);
CREATE TABLE clear_views.wrappers (pattern text COLLATE "C" PRIMARY KEY);
