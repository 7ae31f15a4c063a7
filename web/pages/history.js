/* The runs beside a run: which of them its history is made of, and what tells one from the others. Pure but for the application that is asked. */
import { time } from '../names/format.js';

/* All runs with the label of this one; of a run without a label, or whose label means something else in a set, all runs. */
export function setOfRun(app) {
  const run = app.run && app.run.runs[0];
  if (app.run && app.run.runs.length > 1) return app.state.runs;
  return run && run.label && !/[,:~]/.test(run.label) ? `all:${run.label}` : 'all';
}

/* What stands below a point: the tag that tells it from the others, else the label or the time. */
export function pointLabel(point) {
  const tags = point.tags || {};
  const commit = tags.git_commit || tags.commit || tags.version || tags.git_describe;
  return commit ? commit.slice(0, 10) : point.label || time(point.started_ns).slice(5, 16);
}
