/** Runs as files: what the page offers for download is what it, and Python, can open again. */

/** The mark of a run file. */
export const FORMAT = "paritylab-run/1";
const MOST_STEPS = 5000;
const MOST_TOKENS = 600;

/** A heads run of the page as an object to save. */
export function headsRun(settings, frames) {
  const { n, hidden, procedure, seed, run } = settings;
  const last = frames[frames.length - 1];
  return {
    format: FORMAT,
    learner: procedure,
    made: "in the page",
    n,
    hidden,
    seed,
    run,
    tau: frames.map((frame) => frame.tau),
    step: frames.map((frame) => frame.step),
    risk: frames.map((frame) => frame.risk),
    directions: frames.map((frame) => frame.directions),
    found: last.found,
    end: last.recovered ? "found exactly the hidden bits" : "did not find the hidden bits",
  };
}

/** A chain run of the page as an object to save: scores before and after every step. */
export function chainRun({ tree, method, seed, states, risks, end }) {
  return {
    format: FORMAT,
    learner: method,
    made: "in the page",
    n: tree.n,
    hidden: tree.leaves,
    seed,
    run: 0,
    step: states.map((_, step) => step),
    risk: risks,
    scores: states.map((scores) => scores.map((column) => Array.from(column))),
    end,
  };
}

const isNumbers = (list) => Array.isArray(list) && list.every((x) => typeof x === "number");

/** One complaint about a run file, or an empty text if it can be shown. */
export function complaintAbout(run) {
  if (typeof run !== "object" || run === null || Array.isArray(run)) return "it holds no run";
  if (run.format !== FORMAT) return `its format is not ${FORMAT}`;
  if (!Number.isInteger(run.n) || run.n < 1 || run.n > 100000) return "n must be a whole number";
  if (!isNumbers(run.step) || !run.step.length) return "step must be a list of numbers";
  if (run.step.length > MOST_STEPS) return `it has more than ${MOST_STEPS} moments`;
  const ends = run.step.length;
  const hidden = run.hidden ?? [];
  const fits = (j) => Number.isInteger(j) && j >= 0 && j < run.n;
  if (!Array.isArray(hidden) || !hidden.every(fits)) return "hidden must be positions below n";
  for (const name of ["risk", "tau"]) {
    if (run[name] === undefined) continue;
    if (!isNumbers(run[name]) || run[name].length !== ends)
      return `${name} must have a number per step`;
  }
  return aboutDirections(run, ends) || aboutScores(run, ends);
}

/** Directions: two numbers per head at every step. */
function aboutDirections(run, ends) {
  if (run.directions === undefined) return "";
  const sizes = new Set(Array.isArray(run.directions) ? run.directions.map((d) => d?.length) : []);
  const even = sizes.size === 1 && [...sizes][0] % 2 === 0 && [...sizes][0] <= 200;
  const fine = even && run.directions.length === ends && run.directions.every(isNumbers);
  return fine ? "" : "directions must hold two numbers per head at every step";
}

/** Scores: columns of numbers at every step, the same shape always. */
function aboutScores(run, ends) {
  if (run.scores === undefined) return "";
  const fine =
    Array.isArray(run.scores) &&
    run.scores.length === ends &&
    run.scores.every(
      (columns) =>
        Array.isArray(columns) &&
        columns.length === run.scores[0].length &&
        columns.length <= MOST_TOKENS &&
        columns.every((column) => isNumbers(column) && column.length <= MOST_TOKENS),
    );
  return fine ? "" : "scores must hold columns of numbers at every step";
}
