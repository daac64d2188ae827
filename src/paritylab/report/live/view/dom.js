/** Small helpers to build the page: elements, controls, numbers for people. */

/** Milliseconds of computing between two looks of the browser at its reader. */
const SLICE = 24;
const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; text children are text, never markup. */
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same in SVG. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** An attribute in pixels, to a tenth, written only where it differs: most bars stay. */
export function setLength(node, name, value) {
  const text = value.toFixed(1);
  if (node.getAttribute(name) !== text) node.setAttribute(name, text);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** A picture: an SVG of a given size that scales with its box, with a label for screen readers. */
export function picture(width, height, label, ...children) {
  const box = { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label };
  return svg("svg", box, ...children);
}

/** A labelled control; `said` shows its value. */
function control(text, input, said = null) {
  return el("label", { class: "control" }, el("span", { class: "name" }, text), input, said);
}

/** A slider with its value beside it. show: from the slider's number to what is said. */
export function slider(text, { min, max, step = 1, value, show = String, onchange }) {
  const said = el("output", {}, show(value));
  const input = el("input", { type: "range", min, max, step, value });
  input.setAttribute("aria-valuetext", show(value));
  input.addEventListener("input", () => {
    said.textContent = show(Number(input.value));
    input.setAttribute("aria-valuetext", said.textContent);
    onchange(Number(input.value));
  });
  const node = control(text, input, said);
  node.set = (next) => {
    input.value = next;
    said.textContent = show(Number(next));
    input.setAttribute("aria-valuetext", said.textContent);
  };
  node.limit = (least, most) => {
    input.min = least;
    input.max = most;
  };
  return node;
}

/** A choice among named options: {value: text}. */
export function choice(text, { options, value, onchange }) {
  const input = el(
    "select",
    { onchange: () => onchange(input.value) },
    Object.entries(options).map(([name, words]) => el("option", { value: name }, words)),
  );
  input.value = value;
  const node = control(text, input);
  node.set = (next) => (input.value = next);
  return node;
}

/** A line of text; onchange returns a complaint, or nothing if the text is fine. */
export function field(text, { value, onchange, size = 8, hint = "" }) {
  const said = el("output", { class: "complaint" });
  const input = el("input", { type: "text", value, size, title: hint, spellcheck: "false" });
  input.addEventListener("change", () => {
    said.textContent = onchange(input.value) ?? "";
    input.setAttribute("aria-invalid", String(said.textContent !== ""));
  });
  const node = control(text, input, said);
  node.set = (next) => {
    input.value = next;
    said.textContent = "";
    input.removeAttribute("aria-invalid");
  };
  return node;
}

/** A box to tick. */
export function tick(text, { value, onchange }) {
  const input = el("input", { type: "checkbox", onchange: () => onchange(input.checked) });
  input.checked = value;
  return el("label", { class: "control tick" }, input, el("span", {}, text));
}

/** A button. */
export function button(text, onclick, attributes = {}) {
  return el("button", { type: "button", onclick, ...attributes }, text);
}

/** At most three digits that matter. */
export function digits(value) {
  if (!Number.isFinite(value)) return "not a number";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e5) return String(Number(value.toPrecision(3)));
  const [front, power] = value.toExponential(1).split("e");
  const raised = String(Number(power)).replace(
    /[-\d]/g,
    (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)],
  );
  return `${Number(front) === 1 ? "" : `${Number(front)}·`}10${raised}`;
}

/** "97 of 100 runs, 97 % [92, 99]". */
export function share(successes, trials, [low, high]) {
  const percent = (value) => Number((100 * value).toPrecision(2));
  const middle = Math.round((100 * successes) / trials);
  return `${successes} of ${trials}: ${middle} % [${percent(low)}, ${percent(high)}]`;
}

/** Offers an object as a JSON file. */
export function download(name, content) {
  const text = JSON.stringify(content);
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** Units across for a picture that spans the page: fewer on a phone, so that text stays legible. */
export function wholeWidth() {
  return innerWidth < 760 ? 420 : 900;
}

/** Whether the reader asked for less motion. */
export function wantsStillness() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Lets the browser draw, then goes on. */
export function breathe() {
  return new Promise((resolve) => setTimeout(resolve));
}

/** await rest() in a long computation: now and then it lets the browser draw, and says so. */
export function pace() {
  let pause = performance.now() + SLICE;
  return async () => {
    if (performance.now() < pause) return false;
    await breathe();
    pause = performance.now() + SLICE;
    return true;
  };
}

/** Calls a function once things have been quiet for a moment. */
export function whenQuiet(action, wait = 120) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, wait);
  };
}

/** A button that copies the address of the view on screen; where that is refused, it says how. */
export function copyLink() {
  return copyButton("Copy link", () => location.href, "Copy it from the address bar");
}

/** A button that copies a text, which is asked for when it is pressed. */
export function copyButton(name, text, refused = "Select and copy it") {
  const node = button(name, async () => {
    node.textContent = await navigator.clipboard.writeText(text()).then(
      () => "Copied",
      () => refused,
    );
    setTimeout(() => (node.textContent = name), 2000);
  });
  if (!navigator.clipboard) node.disabled = true;
  return node;
}
