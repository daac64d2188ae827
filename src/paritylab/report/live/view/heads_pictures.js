/** What the heads demo shows of a run: circle, attention, curves, and a sentence. */

import { indicator } from "../engine/problem.js";
import { barChart, lineChart } from "./charts.js";
import { digits } from "./dom.js";

/** Attention bars and the curves of risk, correlation and temperature over the steps. */
export function headsCharts(frames, { n, hidden }) {
  const steps = frames.map((frame) => frame.step);
  const x = { low: 0, high: steps[steps.length - 1] || 1, name: "steps" };
  const most = Math.max(1, ...frames.map((frame) => Math.max(...frame.weights)));
  const bars = barChart({
    title: "attention: weight g of every position",
    values: frames[0].weights,
    flags: indicator(n, hidden),
    most,
  });
  const curves = [riskCurve, correlationCurve, temperatureCurve];
  const charts = curves.map((curve) => curve(frames, steps, x, n));
  return {
    nodes: [bars, ...charts],
    show: (frame) => {
      bars.show(frame.weights);
      for (const chart of charts) chart.mark(frame.step);
    },
  };
}

function riskCurve(frames, steps, x) {
  const risks = frames.map((frame) => frame.risk);
  return lineChart({
    title: "exact risk over all inputs",
    x,
    y: { low: 0, high: Math.max(1.1, ...risks) },
    lines: [{ x: steps, y: risks, className: "risk" }],
    levels: [{ y: 1, name: "guessing" }],
  });
}

function correlationCurve(frames, steps, x) {
  const sizes = frames.map((frame) => Math.abs(frame.correlation));
  return lineChart({
    title: "correlation |E[y cos πs]|",
    x: { ...x, name: "" },
    y: { low: 0, high: 1 },
    lines: [{ x: steps, y: sizes, className: "correlation" }],
  });
}

function temperatureCurve(frames, steps, x, n) {
  const taus = frames.map((frame) => frame.tau);
  const all = [...taus, 1 / n ** 2, 1 / n];
  return lineChart({
    title: "temperature τ",
    height: 110,
    x: { ...x, name: "" },
    y: { low: Math.min(...all) / 2, high: Math.max(...all) * 2, log: true },
    lines: [{ x: steps, y: taus, className: "tau" }],
    levels: [
      { y: 1 / n, name: "1/n" },
      { y: 1 / n ** 2, name: "1/n²" },
    ],
  });
}

/** One sentence about a moment of a run. */
export function momentText(frame, last, hidden) {
  const outcome = frame.recovered ? "exactly the hidden bits" : `hidden are ${hidden.join(", ")}`;
  const error = frame.error > 1e-6 ? ` ± ${digits(frame.error)}` : "";
  const risk = frame.risk <= frame.error ? "0" : digits(frame.risk);
  const peak = Math.max(...frame.attention.map((row) => Math.max(...row)));
  return (
    `${last ? "End, step" : "Step"} ${frame.step}: heads point at ${frame.found.join(", ")} ` +
    `(${outcome}); risk ${risk}${error}, largest attention ${digits(peak)}.`
  );
}
