-- The moment :text in ns since the epoch, to the millisecond; UTC where it names no time zone. NULL: SQLite reads no time in it.
SELECT CAST(strftime('%s', :text) AS INTEGER) * 1000000000
       + CAST(round(1000 * (strftime('%f', :text) - strftime('%S', :text))) AS INTEGER) * 1000000
