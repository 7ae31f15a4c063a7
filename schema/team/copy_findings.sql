-- Findings of a run.
COPY clear.findings(project, month, run, place, section, code, severity, subject, evidence) FROM STDIN
