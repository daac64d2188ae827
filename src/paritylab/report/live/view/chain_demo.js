/** Demo 3: a chain of thought learns a parity of many bits in one step, or a level per step. */

import {
  chainAttention,
  generate,
  hintRows,
  judgeChain,
  learnLevels,
  teacherStep,
  trainingRows,
  untrained,
} from "../engine/chain.js";
import { drawSigns, parityTree, randomSubset, trueTokens } from "../engine/problem.js";
import { keyOf, runKey } from "../engine/random.js";
import { levelStep, usualStep } from "../engine/theory.js";
import { oneOf, readAddress, realNumber, wholeNumber, writeAddress } from "./address.js";
import { attentionMaps, judgement, scorePicture } from "./chain_pictures.js";
import {
  breathe,
  button,
  choice,
  copyLink,
  digits,
  download,
  el,
  slider,
  whenQuiet,
} from "./dom.js";
import { player } from "./player.js";
import { pythonPlace } from "./python.js";
import { chainRun } from "./runs.js";
import { treePicture } from "./tree.js";

const USUAL = { n: 32, k: 8, method: "teacher", logN: 15, size: 1, seed: 0, input: 0 };
const METHODS = { teacher: "teacher forcing: one step", levels: "levels: one step per level" };
const LARGEST_N = 32;

/** The settings that the address asks for; what makes no sense there is the usual setting. */
function readSettings() {
  const asked = readAddress("chain");
  const n = wholeNumber(asked.n, 4, LARGEST_N, USUAL.n);
  const k = Number(oneOf(asked.k, ["2", "4", "8", "16"], String(USUAL.k)));
  return {
    n,
    k: k > n ? 4 : k,
    method: oneOf(asked.method, Object.keys(METHODS), USUAL.method),
    logN: realNumber(asked.logN, 5, 17, USUAL.logN),
    size: realNumber(asked.size, 0.25, 3, USUAL.size),
    seed: wholeNumber(asked.seed, 0, 2 ** 31, USUAL.seed),
    input: wholeNumber(asked.input, 0, 2 ** 31, USUAL.input),
  };
}

/** Builds the demo into its place. */
export function chainDemo(place) {
  const demo = {
    place,
    settings: readSettings(),
    turn: 0,
    stage: el("div", { class: "wide" }),
    maps: el("div", { class: "two" }),
    scores: el("div"),
    said: el("p", { class: "said", role: "status", "aria-live": "polite" }),
    python: pythonPlace(),
  };
  demo.moments = player({ show: (level) => fill(demo, level), seconds: 3, name: "Chain" });
  place.append(
    el(
      "div",
      { class: "panel" },
      el("div", { class: "controls" }, makeControls(demo)),
      demo.stage,
      demo.moments,
      demo.said,
      demo.maps,
      demo.scores,
      el("div", { class: "buttons" }, makeButtons(demo), copyLink()),
      demo.python.node,
    ),
  );
  compute(demo);
}

function makeControls(demo) {
  const { settings } = demo;
  const soon = whenQuiet(() => compute(demo));
  const change = (name) => (value) => {
    settings[name] = value;
    soon();
  };
  const n = slider("bits n", {
    min: 4,
    max: LARGEST_N,
    value: settings.n,
    onchange: (value) => {
      settings.n = value;
      if (settings.k > value) k.set((settings.k = 4));
      soon();
    },
  });
  const k = choice("leaves k", {
    options: { 2: "2", 4: "4", 8: "8", 16: "16" },
    value: settings.k,
    onchange: (value) => {
      settings.k = Number(value);
      if (settings.k > settings.n) n.set((settings.n = 2 * settings.k));
      soon();
    },
  });
  const { method, logN, size } = settings;
  const whole = (value) => Math.round(2 ** value).toLocaleString("en");
  return [
    choice("method", { options: METHODS, value: method, onchange: change("method") }),
    slider("samples N", {
      ...{ min: 5, max: 17, step: 0.25, value: logN, show: whole },
      onchange: change("logN"),
    }),
    slider("step size, × usual", {
      ...{ min: 0.25, max: 3, step: 0.01, value: size, show: digits },
      onchange: change("size"),
    }),
    n,
    k,
  ];
}

function makeButtons(demo) {
  const { settings } = demo;
  return [
    button("Another input", () => {
      settings.input += 1;
      demo.signs = drawSigns(keyOf(settings.input), 1, settings.n);
      writeAddress("chain", settings, USUAL);
      demo.moments.go(demo.moments.at());
    }),
    button("Another tree and sample", () => {
      settings.seed += 1;
      compute(demo);
    }),
    button("Download this run", () => {
      const { tree, run } = demo;
      const states = run.states.map((state) => state.scores);
      const risks = states.map((scores) => judgeChain(tree, scores, settings.seed, 0).risk);
      const end = run.judged.solved ? "solved" : "not solved";
      const { method, seed } = settings;
      download("paritylab-chain.json", chainRun({ tree, method, seed, states, risks, end }));
    }),
  ];
}

/** The step size in force. */
function stepSize({ n, k, method, size }, samples) {
  return size * (method === "teacher" ? usualStep(n, k) : levelStep(n, k, samples));
}

/** The same run in Python, as one line. */
function pythonLine(tree, settings, samples) {
  const name = settings.method === "teacher" ? "Chain.theorem5" : "Chain.theorem7";
  const target = `ParityTree(${tree.n}, (${tree.leaves.join(", ")}))`;
  const learner = `${name}(eta=${stepSize(settings, samples)})`;
  return `learn(${learner}, Sample(${target}, ${samples}), runs=1, key=${settings.seed})`;
}

/** Train on the samples: the states before and after every step, and what the end is worth. */
function train(tree, settings, samples) {
  const { method, seed } = settings;
  const eta = stepSize(settings, samples);
  const rows = trainingRows(tree, seed, 0, samples);
  let states = [];
  if (method === "teacher") {
    const scores = teacherStep(tree, rows, eta);
    states = [{ scores: untrained(tree, "token") }, { scores, raw: scores }];
  } else {
    states = learnLevels(tree, rows, hintRows(tree, seed, 0), { eta });
  }
  const { scores } = states[states.length - 1];
  const judged = judgeChain(tree, scores, seed, 0);
  return { states, scores, judged, samples, method, attention: chainAttention(scores) };
}

async function compute(demo) {
  const { settings } = demo;
  const mine = ++demo.turn;
  const samples = Math.round(2 ** settings.logN);
  demo.said.textContent = `Learning from ${samples.toLocaleString("en")} samples …`;
  await breathe();
  if (mine !== demo.turn) return;
  const { n, k, seed } = settings;
  demo.tree = parityTree(n, randomSubset(runKey(seed, 0), n, k));
  demo.run = train(demo.tree, settings, samples);
  demo.signs = drawSigns(keyOf(settings.input), 1, n);
  draw(demo);
  demo.place.dataset.ready = String(mine);
}

function draw(demo) {
  const { tree, run, settings } = demo;
  writeAddress("chain", settings, USUAL);
  demo.python.show(pythonLine(tree, settings, run.samples));
  demo.maps.replaceChildren(...attentionMaps(tree, run.states[0].scores, run.scores));
  demo.scores.replaceChildren(scorePicture(tree, run.states, settings.method === "levels"));
  const onflip = (j) => {
    demo.signs[j] *= -1;
    fill(demo, demo.moments.at());
  };
  demo.stage.replaceChildren(treePicture({ tree, attention: run.attention, onflip }));
  demo.moments.length(tree.ends.length);
  demo.moments.go(tree.ends.length - 1);
}

/** Tokens of the input on screen up to a level. */
function fill({ tree, run, signs, stage, said }, level) {
  const truth = trueTokens(tree, signs);
  const made = generate(tree, run.attention, signs);
  const drawing = stage.firstChild;
  drawing.show(made, truth, level);
  const [answer, wanted] = [made[tree.size - 1], truth[tree.size - 1]];
  const depth = tree.ends.length - 1;
  const text =
    level < depth
      ? `Tokens up to level ${level} of ${depth}.`
      : `Answer ${digits(answer)}, truth ${wanted}: ${answer * wanted > 0 ? "right" : "wrong"}.`;
  drawing.setAttribute("aria-label", `Tree over ${tree.k} of ${tree.n} bits. ${text}`);
  said.textContent = `${text} ${judgement(tree, run)}`;
}
