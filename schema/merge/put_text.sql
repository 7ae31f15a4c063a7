-- A source text, unless it is there.
INSERT OR IGNORE INTO main.source_texts(hash, text)
VALUES (:hash, :text)
