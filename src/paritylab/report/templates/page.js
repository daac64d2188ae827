(() => {
"use strict";
const find = id => document.getElementById("ui-" + id);
const list = find("list"), cards = [...list.querySelectorAll("details.claim")];
const tabs = [...document.querySelectorAll(".tabs a")];
const filters = ["paper", "status", "evidence"];
const ranks = { status: ["refuted", "corrected", "undecided", "failed", "holds"], evidence: ["proved", "exact", "numerical", "sampled", "extrapolated"] };
const fresh = () => ({ q: "", paper: "", status: "", evidence: "", sort: "", open: "", tab: "" });
let state = fresh();
const texts = new Map();
const plainly = text => text.replace(/[\u00a0-]/g, " ").toLowerCase();
// "thm5" in an id is asked for as "theorem 5".
const spelled = { thm: "theorem", prop: "proposition", cor: "corollary", lemma: "lemma", fig: "figure" };
const named = id => plainly(id) + " " + plainly(id).replace(/(thm|prop|cor|lemma|fig)(\d)/g, (_, word, number) => spelled[word] + " " + number);
const textOf = card => {
  if (!texts.has(card)) {
    const { id, source, name } = card.dataset;
    texts.set(card, {
      id: named(id), place: plainly(source), title: plainly(card.querySelector(".what strong").textContent),
      all: plainly([id, source, name, card.textContent].join(" ")),
    });
  }
  return texts.get(card);
};
const asked = () => plainly(state.q).split(/\s+/).filter(Boolean);
// "convergence" is looked for as "converg", where the word itself is not there.
const stem = word => word.length > 6 ? word.slice(0, Math.max(6, word.length - 4)) : word;
const within = (text, word) => text.includes(word) || text.includes(stem(word));
// A phrase at the ends of words: "theorem 1" is not in "theorem 11".
const phrase = (text, words) => (" " + text.replace(/[^\p{L}\p{N}]+/gu, " ") + " ").includes(" " + words + " ");

// How well a card answers: id, then place, then title, then the phrase, then all words.
function rank(card) {
  const words = asked(), whole = words.join(" "), text = textOf(card);
  const tests = [
    phrase(text.id, whole), text.place === whole, phrase(text.title, whole), phrase(text.place, whole),
    words.every(word => text.id.includes(word)), words.every(word => text.title.includes(word)),
    phrase(text.all, whole), words.every(word => text.all.includes(word)),
  ];
  const at = tests.indexOf(true);
  return at < 0 ? tests.length : at;
}
const byId = id => cards.find(card => card.dataset.id === id);
const visible = () => [...list.children].filter(card => !card.hidden);

function fits(card) {
  return filters.every(key => !state[key] || card.dataset[key] === state[key])
    && asked().every(word => within(textOf(card).all, word));
}

function keyOf(card, name) {
  if (name === "order") return state.sort || !asked().length ? cards.indexOf(card) : rank(card);
  if (name === "id") return card.dataset.id;
  if (ranks[name]) { const at = ranks[name].indexOf(card.dataset[name]); return at < 0 ? 99 : at; }
  return card.dataset[name] === "" ? Infinity : Number(card.dataset[name]);
}

function sorted() {
  const name = state.sort.replace("-", "") || "order", turn = state.sort.startsWith("-") ? -1 : 1;
  return [...cards].sort((a, b) => {
    const x = keyOf(a, name), y = keyOf(b, name);
    return x === y ? cards.indexOf(a) - cards.indexOf(b) : (x < y ? -1 : 1) * turn;
  });
}

function show() {
  const ordered = sorted();
  if (ordered.some((card, at) => list.children[at] !== card)) list.append(...ordered);
  for (const card of cards) card.hidden = !fits(card);
  const count = visible().length;
  find("count").textContent = count + " of " + cards.length + " claims";
  find("none").hidden = count > 0;
  find("search").value = state.q;
  document.documentElement.classList.toggle("searching", asked().length > 0);
  for (const key of filters) find(key).value = state[key];
  for (const button of document.querySelectorAll("[data-sort]")) {
    const name = button.dataset.sort, used = state.sort.replace("-", "") === name;
    button.setAttribute("aria-pressed", used);
    button.textContent = button.textContent.replace(/ [↑↓]$/, "") + (used ? (state.sort.startsWith("-") ? " ↓" : " ↑") : "");
  }
  for (const link of tabs) {
    const here = link.dataset.tab === (state.tab || "claims");
    if (here) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    find(link.dataset.tab).hidden = !here;
  }
  const order = visible();
  order.forEach((card, at) => {
    for (const link of card.querySelectorAll("a[data-step]")) {
      const by = Number(link.dataset.step);
      link.hidden = by !== 0 && !order[at + by];
    }
  });
  labelAll();
}

function labelAll() {
  find("all").textContent = visible().some(card => !card.open) ? "Open all" : "Close all";
}

function keep() {
  const parts = new URLSearchParams(Object.entries(state).filter(([, value]) => value));
  const text = parts.toString();
  history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
}

function reveal(card, focus) {
  if (!fits(card)) state = { ...fresh(), sort: state.sort };
  state.tab = "";
  state.open = card.dataset.id;
  show();
  card.open = true;
  card.scrollIntoView({ block: "start" });
  if (focus) card.querySelector("summary").focus({ preventScroll: true });
}

function read() {
  const text = location.hash.slice(1);
  let plain;
  try { plain = decodeURIComponent(text); } catch { plain = text; }
  const link = tabs.find(each => "ui-" + each.dataset.tab === plain);
  if (byId(plain)) reveal(byId(plain), true);
  else if (link) { state.tab = link.dataset.tab === "claims" ? "" : link.dataset.tab; show(); }
  else if (text.includes("=")) {
    const given = new URLSearchParams(text);
    state = fresh();
    for (const key of Object.keys(state)) state[key] = given.get(key) || "";
    for (const key of filters) if (![...find(key).options].some(option => option.value === state[key])) state[key] = "";
    if (!tabs.some(each => each.dataset.tab === state.tab)) state.tab = "";
    const card = byId(state.open);
    show();
    if (card && !card.hidden && !state.tab) reveal(card, false);
  } else { close(state.open); state = fresh(); show(); }
  keep();
}

function close(id) {
  const card = byId(id);
  if (card) card.open = false;
}

function step(card, by) {
  const order = visible(), next = order[order.indexOf(card) + by];
  if (!next) return;
  card.open = false;
  reveal(next, true);
  keep();
}

function copy(button) {
  const code = button.closest(".code").querySelector("code"), old = button.textContent;
  const done = words => { button.textContent = words; setTimeout(() => { button.textContent = old; }, 1500); };
  const select = () => { getSelection().selectAllChildren(code); done(document.execCommand("copy") ? "Copied" : "Press Ctrl+C"); };
  if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(() => done("Copied"), select);
  else select();
}

function save(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  link.download = name.replace(/[^\w.-]+/g, "-");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// A panel's colours are variables of this page; in a file of its own it brings them along.
function saveFigure(button) {
  const panels = [...button.closest("figure").querySelectorAll("svg.fig")];
  const names = [...new Set(panels.flatMap(panel => panel.outerHTML.match(/var\(--\w+\)/g) || []))];
  const theme = getComputedStyle(document.documentElement);
  const value = name => theme.getPropertyValue(name.slice(4, -1)).trim();
  panels.forEach((panel, at) => {
    const text = names.reduce((svg, name) => svg.replaceAll(name, value(name)), new XMLSerializer().serializeToString(panel));
    save(button.dataset.svg + (panels.length > 1 ? "-" + (at + 1) : "") + ".svg", text);
  });
}

document.documentElement.classList.add("js");
find("search").addEventListener("input", event => { state.q = event.target.value; state.tab = ""; show(); keep(); });
for (const key of filters) find(key).addEventListener("change", event => { state[key] = event.target.value; show(); keep(); });
find("clear").addEventListener("click", () => { state = { ...fresh(), sort: state.sort }; show(); keep(); find("search").focus(); });
find("all").addEventListener("click", () => {
  const open = visible().some(card => !card.open);
  for (const card of visible()) card.open = open;
  state.open = "";
  keep();
});
for (const button of document.querySelectorAll("[data-sort]")) button.addEventListener("click", () => {
  const name = button.dataset.sort;
  state.sort = state.sort === name ? "-" + name : state.sort === "-" + name ? "" : name;
  show();
  keep();
});
for (const card of cards) card.addEventListener("toggle", () => {
  if (card.open) state.open = card.dataset.id;
  else if (state.open === card.dataset.id) state.open = "";
  labelAll();
  keep();
});
document.addEventListener("click", event => {
  const link = event.target.closest("a[data-step]"), button = event.target.closest("button.copy");
  if (button) copy(button);
  const figure = event.target.closest("button[data-svg]");
  if (figure) saveFigure(figure);
  if (!link) return;
  event.preventDefault();
  const card = link.closest("details.claim"), by = Number(link.dataset.step);
  if (by) step(card, by);
  else { card.open = false; card.querySelector("summary").focus(); }
});
document.addEventListener("keydown", event => {
  if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) { event.preventDefault(); find("search").focus(); }
});
addEventListener("hashchange", read);
read();
})();
