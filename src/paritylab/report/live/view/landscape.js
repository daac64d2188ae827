/** The landscape: the exact risk over two angles, and hundreds of runs that fall into it. */

import {
  anglesOf,
  basinOf,
  etaOf,
  fall,
  isProved,
  markAt,
  PROVED,
  STEPS,
  surface,
  trapDepths,
} from "../engine/landscape.js";
import { rateInterval } from "../engine/statistics.js";
import { oneOf, readAddress, realNumber, writeAddress } from "./address.js";
import {
  button,
  choice,
  copyLink,
  digits,
  el,
  share,
  slider,
  wantsStillness,
  whenQuiet,
} from "./dom.js";
import { paintMap } from "./landscape_paint.js";
import { pythonPlace } from "./python.js";

/** Runs that fall. */
export const DOTS = 400;
/** Angles in a row of the surface. */
const SIZE = 96;
/** Sliders move over powers: τ from 1/64 to 1, b from 10⁻⁴ to 1; the proof's values are exact. */
const TAU = { low: -6, high: 0, step: 0.25, of: (power) => 2 ** power, to: Math.log2 };
const B = {
  low: -4,
  high: 0,
  step: 0.25,
  of: (power) => Number((10 ** power).toPrecision(12)),
  to: Math.log10,
};
const USUAL = { readout: PROVED.readout, tau: PROVED.tau, b: PROVED.b };

/** Builds the picture into its place. heights: of the certificate, which outline the traps. */
export function landscape(place, heights) {
  const canvas = el("canvas", { width: 1120, height: 1120, role: "img" });
  const said = el("p", { class: "said", role: "status", "aria-live": "polite" });
  const key = el("p", { class: "small" });
  const view = { place, canvas, said, key, heights, settings: readSettings(), turn: 0 };
  view.python = pythonPlace();
  const side = el("div", {}, controls(view), buttons(view), said, key, view.python.node);
  place.append(el("div", { class: "panel two landscape" }, el("div", {}, canvas), side));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => paint(view));
  drop(view);
}

function readSettings() {
  const asked = readAddress("land");
  const readout = oneOf(asked.readout, ["zigzag", "cos"], USUAL.readout);
  const tau = realNumber(asked.tau, 2 ** TAU.low, 1, USUAL.tau);
  return { ...PROVED, readout, tau, b: realNumber(asked.b, 1e-4, 1, USUAL.b) };
}

function controls(view) {
  const { settings } = view;
  const soon = whenQuiet(() => drop(view));
  const moved = (name, scale, text) =>
    slider(text, {
      min: scale.low,
      max: scale.high,
      step: scale.step,
      value: scale.to(settings[name]),
      show: (power) => digits(scale.of(power)),
      onchange: (power) => {
        settings[name] = scale.of(power);
        soon();
      },
    });
  const tau = moved("tau", TAU, "temperature τ");
  const smooth = moved("b", B, "smoothing b");
  smooth.hidden = settings.readout === "cos";
  const readout = choice("readout", {
    options: { zigzag: "zigzag, as in the paper", cos: "cos(πs)" },
    value: settings.readout,
    onchange: (name) => {
      settings.readout = name;
      smooth.hidden = name === "cos";
      drop(view);
    },
  });
  return el("div", { class: "controls" }, readout, tau, smooth);
}

function buttons(view) {
  view.pause = button("Pause", () => {
    view.playing = !view.playing;
    view.pause.textContent = view.playing ? "Pause" : "Play";
    if (view.playing) roll(view, view.turn);
  });
  const again = button("Drop them again", () => drop(view), { class: "strong" });
  return el("div", { class: "buttons" }, again, view.pause, copyLink());
}

/** Other settings, or the same again: a new surface, all runs from their starts. */
function drop(view) {
  const { settings } = view;
  view.turn += 1;
  view.risks = surface(settings, SIZE);
  const proved = isProved(settings);
  view.traps = proved && view.heights ? trapDepths(view.risks, SIZE, view.heights) : null;
  view.runs = Array.from({ length: DOTS }, (_, run) => fall(settings, { run }));
  view.starts = view.runs.map(anglesOf);
  view.basins = null;
  view.key.textContent =
    "Across and up: the two heads' angles, marked by the positions they point at. " +
    "Lines: equal risk. Dots: runs, coloured by where they end; green ends on the hidden bits. " +
    (proved
      ? "Thick outline: gradient flow from a start inside is proved to stay at risk 1 or more."
      : "The proof of the traps is for the zigzag with b = 0.01.");
  writeAddress("land", { readout: settings.readout, tau: settings.tau, b: settings.b }, USUAL);
  view.python.show(pythonLine(settings));
  view.playing = !wantsStillness();
  view.pause.disabled = false;
  view.pause.textContent = view.playing ? "Pause" : "Play";
  paint(view);
  if (view.playing) roll(view, view.turn);
  else settle(view, view.turn);
}

/** One step of every run per look of the screen, until all have had theirs. */
function roll(view, turn) {
  const tick = () => {
    if (turn !== view.turn || !view.playing) return;
    const seen = visible(view.canvas);
    if (seen) for (const run of view.runs) if (run.count < run.steps) run.step();
    if (seen) paint(view);
    if (view.runs[0].count < STEPS) requestAnimationFrame(tick);
    else finish(view);
  };
  requestAnimationFrame(tick);
}

/** Whether somebody can see it: a picture below the screen waits. */
function visible(canvas) {
  const { top, bottom } = canvas.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

/** To the end without motion, some runs at a time. */
async function settle(view, turn) {
  for (let at = 0; at < view.runs.length; at++) {
    const run = view.runs[at];
    while (run.count < run.steps) run.step();
    if (at % 10 === 0) await new Promise((done) => setTimeout(done));
    if (turn !== view.turn) return;
  }
  finish(view);
}

/** All runs are at rest: colour the basins, count who found the hidden bits. */
function finish(view) {
  view.playing = false;
  view.pause.disabled = true;
  view.basins = nearestBasins(view);
  paint(view);
  view.place.dataset.ready = String(view.turn);
}

/**
 * The basin of every place of the map: that of the nearest start, or of its mirror image.
 *
 * The risk does not change if heads change places, nor if position j becomes i + i' - j for hidden
 * i and i': each run stands for four.
 */
function nearestBasins({ runs, starts, settings }) {
  const { n, subset } = settings;
  const turn = subset[0] + subset[1];
  const mirror = (angle) => 2 * Math.PI * (turn / n) - angle;
  const seeds = runs.flatMap((run, at) => {
    const [a, b] = starts[at];
    const pair = basinOf(run).split(",").map(Number);
    const other = pair
      .map((j) => (turn - j + n) % n)
      .sort((x, y) => x - y)
      .join();
    return [
      [a, b, pair.join()],
      [b, a, pair.join()],
      [mirror(a), mirror(b), other],
      [mirror(b), mirror(a), other],
    ];
  });
  const unit = (2 * Math.PI) / SIZE;
  return Array.from({ length: SIZE * SIZE }, (_, at) => {
    const [x, y] = [Math.floor(at / SIZE) * unit, (at % SIZE) * unit];
    let best = Infinity;
    let name = "";
    for (const [a, b, basin] of seeds) {
      const far = 1 - Math.cos(a - x) + (1 - Math.cos(b - y));
      if (far < best) [best, name] = [far, basin];
    }
    return name;
  });
}

function paint(view) {
  const { settings, runs } = view;
  const wanted = settings.subset.join();
  const marks = Array.from({ length: settings.n }, (_, j) => ({
    name: String(j),
    at: markAt(j, settings.n),
    lit: settings.subset.includes(j),
  }));
  const dots = runs.map((run) => ({ at: anglesOf(run), basin: basinOf(run) }));
  paintMap(view.canvas, {
    size: SIZE,
    risks: view.risks,
    traps: view.traps,
    basins: view.basins,
    dots,
    marks,
    wanted,
  });
  const found = dots.filter(({ basin }) => basin === wanted).length;
  const step = runs[0].count;
  const rate = share(found, DOTS, rateInterval(found, DOTS));
  const text =
    `${step < STEPS ? `Step ${step} of ${STEPS}` : `After ${STEPS} steps`}: ` +
    `the two heads point at the two hidden bits in ${rate} of the runs.`;
  if (step % 20 === 0 || step === STEPS) view.said.textContent = text;
  view.canvas.setAttribute(
    "aria-label",
    `Risk over the angles of two heads, n = 8, hidden bits 0 and 3. ${text}`,
  );
}

/** The same runs in Python. */
function pythonLine({ n, subset, readout, tau, b }) {
  const part = readout === "cos" ? '"cos"' : `Zigzag(2, ${b})`;
  const learner = `Heads.paper(readout=${part}, tau=${tau}, eta=${etaOf({ tau })}, steps=${STEPS})`;
  return `learn(${learner}, Population(Parity(${n}, (${subset.join(", ")}))), runs=${DOTS}, key=0)`;
}
