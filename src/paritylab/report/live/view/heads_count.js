/** "Run 100" of the heads demo: many starts, a share with its interval. */

import { lookAt, SOLVED_RISK, startRun } from "../engine/heads.js";
import { hasNeighbours, randomSubset } from "../engine/problem.js";
import { keyOf } from "../engine/random.js";
import { rateInterval } from "../engine/statistics.js";
import { button, el, pace, share, tick } from "./dom.js";
import { runSettings } from "./heads_settings.js";

const RUNS = 100;
/** Counts that stay on the page for comparison. */
const KEPT = 6;

/** "97 of 100: 97 % [92, 99]". */
function rateText(successes, trials) {
  return share(successes, trials, rateInterval(successes, trials));
}

/** A counter for the demo's settings: buttons, what it says, and `stop()`. */
export function headsCounter(settings) {
  let turn = 0;
  let busy = false;
  const said = el("div", { class: "counter" });
  const past = el("ul", { class: "past", "aria-label": "Counts so far" });
  const fresh = tick("a new hidden set for every run", { value: false, onchange: () => stop() });
  const start = button(`Run ${RUNS}`, () => (busy ? stop() : count()), { class: "strong" });

  function stop() {
    turn += 1;
  }

  async function count() {
    const mine = ++turn;
    const isOn = () => mine === turn;
    const wanted = { ...settings, fresh: fresh.querySelector("input").checked };
    const bar = el("progress", { max: RUNS, value: 0, "aria-label": "runs done" });
    const text = el("p", { class: "rate" });
    said.replaceChildren(bar, text);
    start.textContent = "Stop";
    busy = true;
    const counts = await manyRuns(wanted, isOn, (sofar) => {
      bar.value = sofar.done;
      text.textContent = countText(sofar);
    });
    busy = false;
    start.textContent = `Run ${RUNS}`;
    if (counts.done) remember(wanted, counts);
    said.dataset.done = String(counts.done);
  }

  function remember(wanted, { recovered, done }) {
    const line = `${settingsText(wanted)}: ${rateText(recovered, done)}`;
    past.prepend(el("li", {}, line));
    while (past.children.length > KEPT) past.lastChild.remove();
  }

  return { buttons: [start, fresh], said, past, stop, clear: () => said.replaceChildren() };
}

/** Runs from fresh starts while isOn(); report: told after every run. */
async function manyRuns(wanted, isOn, report) {
  const counts = { done: 0, recovered: 0, solved: 0 };
  const rest = pace();
  while (counts.done < RUNS && isOn()) {
    const { n, hidden, seed } = wanted;
    const drawn = keyOf(seed + 7919 * (counts.done + 1));
    const subset = wanted.fresh ? randomSubset(drawn, n, hidden.length) : hidden;
    const run = startRun(runSettings(wanted, counts.done, subset));
    while (run.count < run.steps && isOn()) {
      run.step();
      await rest();
    }
    if (run.count < run.steps) break;
    const end = lookAt(run);
    counts.done += 1;
    counts.recovered += end.recovered;
    counts.solved += end.solved;
    report(counts);
  }
  return counts;
}

function countText({ done, recovered, solved }) {
  return (
    `Heads on exactly the hidden bits in ${rateText(recovered, done)}; ` +
    `risk below ${SOLVED_RISK} in ${rateText(solved, done)}.`
  );
}

function settingsText({ n, hidden, procedure, tau, fresh }) {
  const near = hasNeighbours(n, hidden) ? ", neighbours among them" : "";
  const set = fresh ? `${hidden.length} new bits each` : `{${hidden.join(", ")}}${near}`;
  return `${procedure}${tau ? `, τ = ${tau}` : ""}, n = ${n}, ${set}`;
}
