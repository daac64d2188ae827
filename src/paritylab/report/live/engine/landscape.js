/**
 * The landscape of two heads: the exact risk over their two angles, and where descent leads.
 *
 * n positions, two hidden. The surface has heads of norm 1, as descent starts. Descent itself moves
 * both numbers of each head, as the paper trains it, so a run's norms change on its way; the
 * picture shows its angles. Run i is run i of `learn`.
 */

import { cosine, enumeratedRisk, MARGINS, smoothZigzag } from "./enumerated.js";
import { startRun } from "./heads.js";
import { angleOf, circle, favourite, headAttention } from "./models.js";
import { indicator } from "./problem.js";

/** The setting of the certificate hg1-thm5, at the first of its temperatures. */
export const PROVED = { n: 8, subset: [0, 3], readout: "zigzag", tau: 1 / 8, b: 0.01 };
/** The size of a step: a force is of order 1/τ, and a basin is about as wide as √τ. */
export function etaOf({ tau }) {
  return Number((0.64 * tau * tau).toPrecision(6));
}

/** How many steps a run has. */
export const STEPS = 400;

/** The readout by its name. */
export function readoutOf({ readout, b }) {
  return readout === "cos" ? cosine() : smoothZigzag(2, b);
}

/** Whether the certificate speaks of these settings: the heights of its cells serve every τ. */
export function isProved({ readout, b }) {
  return readout === PROVED.readout && b === PROVED.b;
}

/**
 * The squared-hinge risk of unit heads at all pairs of `size` angles, row by row (size²,).
 *
 * The heads may change places, so half of the pairs are computed.
 */
export function surface(settings, size) {
  const { n, subset, tau } = settings;
  const [places, flags, readout] = [circle(n), indicator(n, subset), readoutOf(settings)];
  const rows = Array.from({ length: size }, (_, at) => {
    const angle = (2 * Math.PI * at) / size;
    return headAttention([Math.sin(angle), Math.cos(angle)], places, tau);
  });
  const risks = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      const weights = rows[i].map((weight, position) => weight + rows[j][position]);
      const { value } = enumeratedRisk(weights, flags, readout, MARGINS.squared_hinge);
      risks[i * size + j] = risks[j * size + i] = value;
    }
  }
  return risks;
}

/** A run from the directions that the lab draws for its number, or from a pair of angles. */
export function fall(settings, { run = 0, angles = null } = {}) {
  const { n, subset, tau } = settings;
  const readout = readoutOf(settings);
  const flags = indicator(n, subset);
  const riskOf = (weights) => enumeratedRisk(weights, flags, readout, MARGINS.squared_hinge);
  const made = startRun({
    n,
    subset,
    procedure: "paper",
    tau,
    eta: etaOf(settings),
    steps: STEPS,
    run,
    riskOf,
  });
  angles?.forEach((angle, head) => {
    made.directions[2 * head] = Math.sin(angle);
    made.directions[2 * head + 1] = Math.cos(angle);
  });
  return made;
}

/** The angles of a run's heads, from 0 to 2π. */
export function anglesOf({ directions }) {
  return [0, 1].map((head) => {
    const angle = Math.atan2(directions[2 * head], directions[2 * head + 1]);
    return angle < 0 ? angle + 2 * Math.PI : angle;
  });
}

/** The positions that the two heads look at, ascending: the name of the basin. */
export function basinOf({ directions, places }) {
  const heads = [0, 2].map((at) => favourite([directions[at], directions[at + 1]], places));
  return heads.sort((a, b) => a - b).join();
}

/**
 * In which pairs of angles a run is proved to be trapped: the risk there is below the height of the
 * cell, and no path on which the risk never rises leaves the cells of that height.
 *
 * heights: of the certificate, (n, n), by the positions nearest to the heads; 0 is no trap.
 */
export function trapDepths(risks, size, heights) {
  const n = heights.length;
  const nearest = (at) => Math.round((at * n) / size) % n;
  return risks.map((risk, at) => {
    const height = heights[nearest(Math.floor(at / size))][nearest(at % size)];
    return height > 0 ? height - risk : -1;
  });
}

/** The angle of a position, for the marks of the axes. */
export function markAt(position, n) {
  return angleOf(position, n) / (2 * Math.PI);
}
