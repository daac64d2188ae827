/** Demo 1: k heads on a circle look for the hidden positions. */

import { finish, lookAt, PROCEDURES, SOLVED_RISK, startRun, temperature } from "../engine/heads.js";
import { hasNeighbours, indicator, randomSubset } from "../engine/problem.js";
import { keyOf } from "../engine/random.js";
import { rateInterval } from "../engine/statistics.js";
import { oneOf, positions, readAddress, wholeNumber, writeAddress } from "./address.js";
import { barChart, lineChart } from "./charts.js";
import { circlePicture } from "./circle.js";
import {
  breathe, button, choice, digits, download, el, field, share, slider, tick, whenQuiet,
} from "./dom.js";
import { player } from "./player.js";
import { headsRun } from "./runs.js";

const LARGEST_N = 200;
const MOST_HEADS = 6;
const MOMENTS = 150;
/** Milliseconds of computing between two looks of the browser at its reader. */
const SLICE = 24;
const RUNS = 100;

const USUAL = {
  n: 20, hidden: "2,7,12", procedure: "annealed", tau: "", tauEnd: "", start: "random", seed: 0,
  run: 0, moment: -1,
};

const NAMES = {
  paper: "paper: plain descent, τ = 1/n",
  code: "public code: Adam, τ = n/4",
  annealed: "annealed: cos readout, τ falls to 0.5/n²",
};

/** The settings that the address asks for; what makes no sense there is the usual setting. */
function settingsFromAddress() {
  const asked = readAddress("heads");
  const n = wholeNumber(asked.n, 4, LARGEST_N, USUAL.n);
  const most = Math.min(MOST_HEADS, n);
  const usualSet = positions(USUAL.hidden, n, most) ?? [0, 2];
  const tauText = (text) => (text && temperature(text, n) ? text : "");
  return {
    n,
    hidden: positions(asked.hidden ?? "", n, most) ?? usualSet,
    procedure: oneOf(asked.procedure, Object.keys(PROCEDURES), USUAL.procedure),
    tau: tauText(asked.tau),
    tauEnd: tauText(asked.tauEnd),
    start: oneOf(asked.start, ["random", "hidden"], USUAL.start),
    seed: wholeNumber(asked.seed, 0, 2 ** 31, USUAL.seed),
    run: wholeNumber(asked.run, 0, 2 ** 31, USUAL.run),
    moment: wholeNumber(asked.moment, -1, 1e6, USUAL.moment),
  };
}

/** What startRun needs, for run number `run`. */
function runSettings(settings, run = settings.run, subset = settings.hidden) {
  const { n, procedure, tau, tauEnd, start, seed } = settings;
  return {
    n, subset, procedure, start, seed, run, tau: tau || undefined, tauEnd: tauEnd || undefined,
  };
}

/** The same run in Python, as one line. */
export function pythonLine({ n, hidden, procedure, tau, tauEnd, start, seed, run }) {
  const changes = [];
  const annealed = procedure === "annealed";
  if (annealed && tau) changes.push(`tau_start=${temperature(tau, n)}`);
  if (annealed && tauEnd) changes.push(`tau_end=${temperature(tauEnd, n) * n * n}`);
  if (!annealed && tau) changes.push(`tau="${tau}"`);
  const set = `(${hidden.join(", ")}${hidden.length === 1 ? "," : ""})`;
  if (start === "hidden") {
    const angles = `2 * np.pi * np.array(${set}) / ${n}`;
    changes.push(annealed ? `start=${angles}` : `start=Circle(${n}).vectors(${set})`);
  }
  const learner = `${annealed ? "Annealed" : `Heads.${procedure}`}(${changes.join(", ")})`;
  return `learn(${learner}, Population(Parity(${n}, ${set})), runs=1, key=${seed}, first=${run})`;
}

/** Builds the demo into its place. */
export function headsDemo(place) {
  const settings = settingsFromAddress();
  let frames = [];
  let computing = 0;
  let counting = 0;
  let circle = null;
  let charts = [];
  let bars = null;

  const stage = el("div", { class: "stage" });
  const side = el("div", { class: "side" });
  const said = el("p", { class: "said", role: "status", "aria-live": "polite" });
  const counted = el("div", { class: "counter" });
  const past = el("ul", { class: "past", "aria-label": "Counts so far" });
  const line = el("code", { class: "python" });
  const moments = player({ show: showMoment, name: "Heads" });
  const controls = makeControls();
  const everyNew = tick("a new hidden set for every run", { value: false, onchange: () => {} });
  const runMany = button(`Run ${RUNS}`, () => (counting ? (counting = 0) : count()), {
    class: "strong",
  });

  function save() {
    const text = { ...settings, hidden: settings.hidden.join(",") };
    writeAddress("heads", text, USUAL);
    line.textContent = pythonLine(settings);
  }

  function changed() {
    counting = 0;
    settings.moment = -1;
    counted.replaceChildren();
    draw();
    compute();
  }
  const changedSoon = whenQuiet(changed);

  function choose(hidden) {
    settings.hidden = hidden;
    controls.hidden.set(hidden.join(", "));
    controls.k.set(hidden.length);
    changed();
  }

  function toggle(j) {
    const next = settings.hidden.includes(j)
      ? settings.hidden.filter((each) => each !== j)
      : [...settings.hidden, j].sort((a, b) => a - b);
    if (next.length >= 1 && next.length <= MOST_HEADS) choose(next);
    else said.textContent = `Between 1 and ${MOST_HEADS} positions can be hidden.`;
  }

  function drawSet(k) {
    const most = Math.min(MOST_HEADS, settings.n);
    const draw = Math.floor(Math.random() * 2 ** 31);
    choose(randomSubset(keyOf(draw), settings.n, Math.min(k, most)));
  }

  function makeControls() {
    const found = {
      n: slider("positions n", {
        min: 4, max: LARGEST_N, value: settings.n, onchange: (n) => {
          settings.n = n;
          settings.hidden = settings.hidden.filter((j) => j < n);
          if (!settings.hidden.length) settings.hidden = [0];
          found.hidden.set(settings.hidden.join(", "));
          found.k.set(settings.hidden.length);
          changedSoon();
        },
      }),
      k: slider("hidden bits k", {
        min: 1, max: MOST_HEADS, value: settings.hidden.length, onchange: drawSet,
      }),
      hidden: field("hidden positions", {
        value: settings.hidden.join(", "), size: 12, hint: "positions such as 2, 7, 12",
        onchange: (text) => {
          const next = positions(text, settings.n, MOST_HEADS);
          if (!next) return `1 to ${MOST_HEADS} numbers below ${settings.n}`;
          choose(next);
          return "";
        },
      }),
      procedure: choice("procedure", {
        options: NAMES, value: settings.procedure, onchange: (name) => {
          settings.procedure = name;
          settings.tau = settings.tauEnd = "";
          showTemperatures();
          changed();
        },
      }),
      tau: field("temperature τ", {
        value: "", hint: 'a number, or "1/n", "1/n^2", "n/4"', onchange: (text) => heat("tau", text),
      }),
      tauEnd: field("falling to", {
        value: "", hint: 'a number, or "0.5/n^2"', onchange: (text) => heat("tauEnd", text),
      }),
      start: choice("heads start", {
        options: { random: "at random", hidden: "on the hidden bits" }, value: settings.start,
        onchange: (start) => {
          settings.start = start;
          changed();
        },
      }),
    };
    return found;
  }

  function heat(name, text) {
    if (text.trim() && !temperature(text, settings.n)) return "a number, 1/n, 1/n^2 or n/4";
    settings[name] = text.trim();
    showTemperatures();
    changed();
    return "";
  }

  function showTemperatures() {
    const usual = PROCEDURES[settings.procedure];
    controls.tau.set(settings.tau || usual.tau);
    controls.tauEnd.set(settings.tauEnd || usual.tauEnd || "");
    controls.tauEnd.hidden = settings.procedure !== "annealed";
  }

  /** Everything but the run itself: circle and empty charts. */
  function draw() {
    const flags = indicator(settings.n, settings.hidden);
    circle = circlePicture({ n: settings.n, flags, ontoggle: toggle });
    stage.replaceChildren(circle);
    bars = null;
  }

  /** The run from start to end, a slice at a time, then its pictures. */
  async function compute() {
    const mine = ++computing;
    save();
    const run = startRun(runSettings(settings));
    const stride = Math.max(1, Math.ceil(run.steps / MOMENTS));
    frames = [lookAt(run)];
    let pause = performance.now() + SLICE;
    while (run.count < run.steps) {
      run.step();
      if (run.count % stride === 0 || run.count === run.steps) frames.push(lookAt(run));
      if (performance.now() > pause) {
        said.textContent = `Step ${run.count} of ${run.steps} …`;
        await breathe();
        if (mine !== computing) return;
        pause = performance.now() + SLICE;
      }
    }
    drawCharts();
    moments.length(frames.length);
    moments.go(settings.moment < 0 ? frames.length - 1 : settings.moment);
    place.dataset.ready = String(mine);
  }

  function drawCharts() {
    const steps = frames.map((frame) => frame.step);
    const column = (name) => frames.map((frame) => frame[name]);
    const { n } = settings;
    const x = { low: 0, high: steps[steps.length - 1] || 1, name: "steps" };
    const risks = column("risk");
    const taus = column("tau");
    const heats = [...taus, 1 / n ** 2, 1 / n];
    const correlations = column("correlation").map(Math.abs);
    charts = [
      lineChart({
        title: "exact risk over all inputs", x, y: { low: 0, high: Math.max(1.1, ...risks) },
        lines: [{ x: steps, y: risks, className: "risk" }],
        levels: [{ y: 1, name: "guessing" }],
      }),
      lineChart({
        title: "correlation |E[y cos πs]|", x: { ...x, name: "" }, y: { low: 0, high: 1 },
        lines: [{ x: steps, y: correlations, className: "correlation" }],
      }),
      lineChart({
        title: "temperature τ", x: { ...x, name: "" }, height: 110,
        y: { low: Math.min(...heats) / 2, high: Math.max(...heats) * 2, log: true },
        lines: [{ x: steps, y: taus, className: "tau" }],
        levels: [{ y: 1 / n, name: "1/n" }, { y: 1 / n ** 2, name: "1/n²" }],
      }),
    ];
    const most = Math.max(1, ...frames.map((frame) => Math.max(...frame.weights)));
    bars = barChart({
      title: "attention: weight g of every position", values: frames[0].weights,
      flags: indicator(n, settings.hidden), most,
    });
    side.replaceChildren(bars, ...charts);
    circle.paths(frames);
  }

  function showMoment(index) {
    const frame = frames[index];
    if (!frame || !bars) return;
    const last = index === frames.length - 1;
    circle.show(frame, frame.step / (frames[frames.length - 1].step || 1));
    bars.show(frame.weights);
    for (const chart of charts) chart.mark(frame.step);
    settings.moment = last ? -1 : index;
    save();
    const text = momentText(frame, last);
    said.textContent = text;
    circle.setAttribute("aria-label", `Circle of ${settings.n} positions. ${text}`);
  }

  function momentText(frame, last) {
    const places = settings.hidden.join(", ");
    const looks = frame.found.join(", ");
    const outcome = frame.recovered ? "exactly the hidden bits" : `hidden are ${places}`;
    const error = frame.error > 1e-6 ? ` ± ${digits(frame.error)}` : "";
    const peak = Math.max(...frame.attention.flatMap((row) => Math.max(...row)));
    return (
      `${last ? "End, step" : "Step"} ${frame.step}: heads point at ${looks} (${outcome}); ` +
      `risk ${frame.risk <= frame.error ? "0" : digits(frame.risk)}${error}, largest attention ${digits(peak)}.`
    );
  }

  /** Many runs from fresh starts; the counter fills as they end. */
  async function count() {
    const mine = (counting = performance.now());
    runMany.textContent = "Stop";
    const fresh = everyNew.querySelector("input").checked;
    const bar = el("progress", { max: RUNS, value: 0, "aria-label": "runs done" });
    const text = el("p", { class: "rate" });
    counted.replaceChildren(bar, text);
    let [done, recovered, solved] = [0, 0, 0];
    let pause = performance.now() + SLICE;
    while (done < RUNS && counting === mine) {
      const { n, hidden, seed } = settings;
      const own = fresh ? randomSubset(keyOf(seed + 7919 * (done + 1)), n, hidden.length) : hidden;
      const run = startRun(runSettings(settings, done, own));
      while (run.count < run.steps && counting === mine) {
        run.step();
        if (performance.now() > pause) {
          await breathe();
          pause = performance.now() + SLICE;
        }
      }
      if (counting !== mine) break;
      const end = lookAt(run);
      done += 1;
      recovered += end.recovered;
      solved += end.solved;
      bar.value = done;
      text.textContent =
        `Heads on exactly the hidden bits in ${share(recovered, done, rateInterval(recovered, done))}; ` +
        `risk below ${SOLVED_RISK} in ${share(solved, done, rateInterval(solved, done))}.`;
    }
    runMany.textContent = `Run ${RUNS}`;
    if (done) remember(recovered, done, fresh);
    if (counting === mine) counting = 0;
    counted.dataset.done = String(done);
  }

  function remember(recovered, done, fresh) {
    const { n, hidden, procedure, tau } = settings;
    const near = !fresh && hasNeighbours(n, hidden) ? ", neighbours among them" : "";
    const set = fresh ? `${hidden.length} new bits each` : `{${hidden.join(", ")}}${near}`;
    const heatText = tau ? `, τ = ${tau}` : "";
    const rate = share(recovered, done, rateInterval(recovered, done));
    past.prepend(el("li", {}, `${procedure}${heatText}, n = ${n}, ${set}: ${rate}`));
    while (past.children.length > 6) past.lastChild.remove();
  }

  const next = button("Another start", () => {
    settings.run += 1;
    settings.moment = -1;
    compute();
  });
  const set = button("Another hidden set", () => drawSet(settings.hidden.length));
  const save1 = button("Download this run", () => {
    download("paritylab-heads.json", headsRun(settings, frames));
  });
  place.append(
    el("div", { class: "panel" },
      el("div", { class: "controls" }, controls.procedure, controls.tau, controls.tauEnd,
        controls.start, controls.n, controls.k, controls.hidden),
      el("div", { class: "two" }, el("div", {}, stage, moments, said), side),
      el("div", { class: "buttons" }, next, set, runMany, everyNew, save1),
      counted, past,
      el("p", { class: "small" }, "The same run in Python: ", line)),
  );
  place.addEventListener("keydown", (event) => {
    if (event.key === " " && event.target.tagName === "DIV") moments.toggle();
  });
  showTemperatures();
  draw();
  compute();
  return { frames: () => frames, settings, finish };
}
