/** The run on screen as a Python program that can be copied: imports, then the call. */

import { copyButton, el } from "./dom.js";

/** Names that calls of this page use, and where they are imported from. */
const OURS = ["Chain", "Circle", "Heads", "Parity", "ParityTree", "Population", "Sample"];
OURS.push("Zigzag", "learn");
const IMPORTS = {
  jax: "import jax",
  jnp: "import jax.numpy as jnp",
  np: "import numpy as np",
  page_positions: "from paritylab.report.live.runs import page_positions",
};

/** The imports that a call needs, and the call. */
export function program(call) {
  const uses = (name) => new RegExp(`\\b${name}\\b`).test(call);
  const lines = Object.keys(IMPORTS)
    .filter(uses)
    .map((name) => IMPORTS[name]);
  lines.push(`from paritylab import ${OURS.filter(uses).join(", ")}`);
  return `${lines.join("\n")}\nruns = ${call}`;
}

/** A place for the program, with a button that copies it; `show(call)` fills it. */
export function pythonPlace() {
  const code = el("code", { class: "python" });
  const copy = copyButton("Copy as Python", () => code.textContent);
  const node = el("div", { class: "small" }, "The same run in Python: ", copy, el("br"), code);
  return { node, show: (call) => (code.textContent = program(call)) };
}
