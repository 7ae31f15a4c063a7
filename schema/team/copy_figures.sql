-- Figures of a run.
COPY clear.figures(project, month, run, place, figure, subject, value) FROM STDIN
