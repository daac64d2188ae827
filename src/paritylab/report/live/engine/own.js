/**
 * Heads with parts that were typed in: a readout of s, a temperature, a loss of the margin.
 *
 * Run i of a seed draws what the lab's `Heads` draws, and descends as it does.
 */

import { enumeratedRisk, MARGINS, typed, typedLoss } from "./enumerated.js";
import { compiled, parse, pythonOf, valueAt, variablesOf } from "./formula.js";
import { attentionOf, lookAt, SOLVED_RISK, startRun } from "./heads.js";
import { weightsOf } from "./models.js";
import { indicator } from "./problem.js";

/** A readout of s by its text; throws an Error that says what is wrong with it. */
export function readoutFrom(text, k) {
  const tree = parse(text, ["s"]);
  const at = compiled(tree);
  const values = Array.from({ length: 101 }, (_, i) => at((k * i) / 100));
  if (!values.every(Number.isFinite)) throw new Error(`it must be a number for s from 0 to ${k}`);
  if (Math.max(...values) === Math.min(...values)) throw new Error("it must depend on s");
  return { ...typed(at), python: `lambda s: ${pythonOf(tree, "jnp")}` };
}

/** A loss by its name in MARGINS, or by a formula in m = y·ŷ. */
export function lossFrom(text) {
  if (Object.hasOwn(MARGINS, text)) return { ...MARGINS[text], python: `"${text}"` };
  const tree = parse(text, ["m"]);
  const at = compiled(tree);
  if (![-2, -1, 0, 1, 2].map(at).every(Number.isFinite)) throw new Error("it must be a number");
  const python = `lambda y, made: ${pythonOf(tree, "jnp", { m: "(y * made)" })}`;
  return { ...typedLoss(at), python };
}

/** A temperature from a formula in n and t, the share of the steps that is done. */
export function heatFrom(text, n) {
  const tree = parse(text, ["n", "t"]);
  const at = (share) => valueAt(tree, { n, t: share });
  for (let i = 0; i <= 20; i++) {
    if (!(at(i / 20) > 0 && at(i / 20) < Infinity)) throw new Error("it must stay positive");
  }
  const moves = variablesOf(tree).includes("t");
  const python = `lambda n${moves ? ", share" : ""}: ${pythonOf(tree, "np", { t: "share" })}`;
  return { at: moves ? at : () => at(1), moves, python };
}

/**
 * Run number `run` with typed parts: n, subset, readout, loss, heat (of the three functions above),
 * optimiser ("sgd" or "adam"), eta, steps, seed.
 */
export function startOwn({ n, subset, readout, loss, heat, optimiser, eta, steps, seed, run }) {
  const flags = indicator(n, subset);
  const riskOf = (weights) => enumeratedRisk(weights, flags, readout, loss);
  const procedure = optimiser === "adam" ? "code" : "paper";
  const made = startRun({
    n,
    subset,
    procedure,
    tau: 1,
    eta,
    steps,
    seed,
    run,
    riskOf,
    start: "random",
  });
  made.tauAt = (share) => heat.at(share);
  return made;
}

/** Where a run ended: the positions it looks at, its squared-hinge risk, solved, recovered. */
export function endOf(run, readout) {
  const weights = weightsOf(attentionOf(run));
  const { value } = enumeratedRisk(weights, run.flags, readout, MARGINS.squared_hinge);
  const { found, recovered, directions } = lookAt(run);
  return { risk: value, found, recovered, directions, solved: value < SOLVED_RISK };
}
