-- How many findings a run has, of each code and severity.
COPY clear.finding_counts(project, month, run, place, section, code, severity, count, kept) FROM STDIN
