/** A run from a file, computed here or by Python: heads on the circle, scores, or a curve. */

import { headAttention, circle, weightsOf } from "../engine/models.js";
import { indicator } from "../engine/problem.js";
import { barChart, heatMap, lineChart } from "./charts.js";
import { circlePicture } from "./circle.js";
import { digits, el } from "./dom.js";
import { player } from "./player.js";
import { complaintAbout } from "./runs.js";

/** Shows the run that was built into the page, and any file that is opened. */
export function replay(place, embedded) {
  const shown = el("div");
  const complaint = el("p", { class: "complaint", role: "alert" });
  const input = el("input", { type: "file", accept: ".json,application/json" });
  input.addEventListener("change", async () => {
    const [file] = input.files;
    if (file) open(await file.text(), file.name);
  });
  place.append(
    el(
      "div",
      { class: "panel" },
      el("label", { class: "control" }, el("span", { class: "name" }, "open a run (JSON)"), input),
      complaint,
      shown,
    ),
  );

  function open(text, name) {
    complaint.textContent = "";
    let run = null;
    try {
      run = JSON.parse(text);
    } catch {
      complaint.textContent = `${name} cannot be shown: it is not JSON.`;
      return;
    }
    const wrong = complaintAbout(run);
    if (wrong) complaint.textContent = `${name} cannot be shown: ${wrong}.`;
    else shown.replaceChildren(...runPictures(run));
  }

  if (embedded) open(embedded, "The run in this page");
}

/** Title, pictures and a player for one run. */
function runPictures(run) {
  const parts = [riskChart(run), directionsPicture(run), scoresPicture(run)].filter(Boolean);
  const said = el("p", { class: "said", role: "status" });
  const moments = player({
    name: "Replay",
    show: (index) => {
      for (const part of parts) part.show(index);
      const risk = run.risk ? `, risk ${digits(run.risk[index])}` : "";
      said.textContent = `Step ${run.step[index]}${risk}.`;
    },
  });
  const facts = [
    `${run.learner ?? "a learner"}, n = ${run.n}`,
    run.hidden?.length ? `hidden ${run.hidden.join(", ")}` : "",
    run.end ? String(run.end) : "",
  ];
  moments.length(run.step.length);
  const box = el(
    "div",
    { class: "two" },
    parts.map((part) => part.node),
  );
  moments.go(run.step.length - 1);
  return [el("p", { class: "rate" }, facts.filter(Boolean).join("; ")), box, moments, said];
}

function riskChart(run) {
  if (!run.risk || run.step.length < 2) return null;
  const finite = run.risk.filter(Number.isFinite);
  const low = Math.min(0, ...finite);
  const chart = lineChart({
    title: "what the optimiser saw",
    height: 200,
    x: { low: run.step[0], high: run.step[run.step.length - 1], name: "steps" },
    y: { low, high: Math.max(low + 1e-9, ...finite) },
    lines: [{ x: run.step, y: run.risk, className: "risk" }],
  });
  return { node: el("div", {}, chart), show: (index) => chart.mark(run.step[index]) };
}

function directionsPicture(run) {
  if (!run.directions || run.n > 400) return null;
  const flags = indicator(run.n, run.hidden ?? []);
  const places = circle(run.n);
  const frames = run.directions.map((directions, index) => {
    const rows = [];
    for (let i = 0; i < directions.length; i += 2) {
      rows.push(headAttention([directions[i], directions[i + 1]], places, run.tau?.[index] ?? 1));
    }
    return { step: run.step[index], directions, weights: weightsOf(rows) };
  });
  const node = circlePicture({ n: run.n, flags });
  const most = Math.max(1, ...frames.map((frame) => Math.max(...frame.weights)));
  const bars = barChart({ title: "attention", values: frames[0].weights, flags, most });
  node.setAttribute("aria-label", `Circle of ${run.n} positions with the heads of the run`);
  node.paths(frames);
  const last = frames[frames.length - 1].step || 1;
  return {
    node: el("div", {}, node, run.tau ? bars : null),
    show: (index) => {
      node.show(frames[index], frames[index].step / last);
      bars.show(frames[index].weights);
    },
  };
}

function scoresPicture(run) {
  if (!run.scores) return null;
  const box = el("div");
  const tokens = Math.max(...run.scores[0].map((column) => column.length));
  return {
    node: box,
    show: (index) => {
      const columns = run.scores[index];
      const rows = columns.map((_, node) => String(run.n + node));
      const title = "scores: a row per node, a column per token";
      box.replaceChildren(
        heatMap({ title, columns, tokens, rows, marked: () => false, label: title }),
      );
    },
  };
}
