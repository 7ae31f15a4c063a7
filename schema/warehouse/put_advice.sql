INSERT OR REPLACE INTO advice(code, severity, title, text)
VALUES (:code, :severity, :title, :text)
