/** The settings of the heads demo: from the address, for a run, and as a line of Python. */

import { MINIMUM, PROCEDURES, temperature } from "../engine/heads.js";
import { oneOf, positions, readAddress, wholeNumber, writeAddress } from "./address.js";

/** Sizes that stay legible on the circle. */
export const LARGEST_N = 200;
/** As many colours as there are for heads. */
export const MOST_HEADS = 6;

const USUAL = {
  n: 20,
  hidden: "2,7,12",
  procedure: "annealed",
  tau: "",
  tauEnd: "",
  start: "random",
  seed: 0,
  run: 0,
  moment: -1,
};

/** Where heads are stuck for ever: the one setting for which that is proved. */
export const STUCK = { n: 8, hidden: [0, 3], procedure: "paper", tau: "", start: "stuck" };

/** Whether these settings are still those of the proof. */
export function isStuck({ n, hidden, procedure, tau, start }) {
  return (
    start === "stuck" && n === STUCK.n && hidden.join() === STUCK.hidden.join() &&
    procedure === STUCK.procedure && !tau
  );
}

/** The settings that the address asks for; what makes no sense there is the usual setting. */
export function readSettings() {
  const asked = readAddress("heads");
  const n = wholeNumber(asked.n, 4, LARGEST_N, USUAL.n);
  const most = Math.min(MOST_HEADS, n);
  const usualSet = positions(USUAL.hidden, n, most) ?? [0, 2];
  const heat = (text) => (text && temperature(text, n) ? text : "");
  const settings = {
    n,
    hidden: positions(asked.hidden ?? "", n, most) ?? usualSet,
    procedure: oneOf(asked.procedure, Object.keys(PROCEDURES), USUAL.procedure),
    tau: heat(asked.tau),
    tauEnd: heat(asked.tauEnd),
    start: oneOf(asked.start, ["random", "hidden", "stuck"], USUAL.start),
    seed: wholeNumber(asked.seed, 0, 2 ** 31, USUAL.seed),
    run: wholeNumber(asked.run, 0, 2 ** 31, USUAL.run),
    moment: wholeNumber(asked.moment, -1, 1e6, USUAL.moment),
  };
  if (settings.start === "stuck" && !isStuck(settings)) settings.start = USUAL.start;
  return settings;
}

/** The settings into the address. */
export function keepSettings(settings) {
  writeAddress("heads", { ...settings, hidden: settings.hidden.join(",") }, USUAL);
}

/** What startRun needs for run number `run` on a hidden set. */
export function runSettings(settings, run = settings.run, subset = settings.hidden) {
  const { n, procedure, start, seed } = settings;
  const tau = settings.tau || undefined;
  const tauEnd = settings.tauEnd || undefined;
  return { n, subset, procedure, start, seed, run, tau, tauEnd };
}

/** The same run in Python, as one line. */
export function pythonLine({ n, hidden, procedure, tau, tauEnd, start, seed, run }) {
  const annealed = procedure === "annealed";
  const changes = annealed ? ["moves=0", "jitter=0.15"] : []; // the page does not relocate heads
  const usual = PROCEDURES[procedure];
  if (annealed && (tau || tauEnd)) {
    changes.push(`tau="${tau || usual.tau} -> ${tauEnd || usual.tauEnd}"`);
  }
  if (!annealed && tau) changes.push(`tau="${tau}"`);
  const set = `(${hidden.join(", ")}${hidden.length === 1 ? "," : ""})`;
  if (start === "hidden") changes.push(`start=Circle(${n}).vectors(${set})`);
  if (start === "stuck") changes.push(`start=np.array(${JSON.stringify(MINIMUM)})`);
  const learner = `Heads.${procedure}(${changes.join(", ")})`;
  const data = `Population(Parity(${n}, ${set}))`;
  return `learn(${learner}, ${data}, runs=1, key=${seed}, first_run=${run})`;
}
