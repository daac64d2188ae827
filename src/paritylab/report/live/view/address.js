/** Settings in the address: #heads.n=20&heads.hidden=2,7,12 … A link reproduces the view. */

/** What the address says about one demo: {name: text}. */
export function readAddress(demo) {
  const found = {};
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    if (name.startsWith(`${demo}.`)) found[name.slice(demo.length + 1)] = value;
  }
  return found;
}

/** Write one demo's settings into the address; those at their usual value are left out. */
export function writeAddress(demo, settings, usual) {
  const all = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of Object.entries(settings)) {
    const text = String(value);
    if (text === String(usual[name])) all.delete(`${demo}.${name}`);
    else all.set(`${demo}.${name}`, text);
  }
  const hash = all.toString().replaceAll("%2C", ",").replaceAll("%2F", "/").replaceAll("%5E", "^");
  try {
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  } catch {
    // Some viewers allow no change of the address; the demos do not need it.
  }
}

/** A whole number from text if it lies in [low, high], else the usual one. */
export function wholeNumber(text, low, high, usual) {
  const value = /^-?\d{1,10}$/.test(text ?? "") ? Number(text) : NaN;
  return value >= low && value <= high ? value : usual;
}

/** A number from text if it lies in [low, high], else the usual one. */
export function realNumber(text, low, high, usual) {
  const value = text === undefined || text === "" ? NaN : Number(text);
  return value >= low && value <= high ? value : usual;
}

/** The text if it is one of the names, else the usual one. */
export function oneOf(text, names, usual) {
  return names.includes(text) ? text : usual;
}

/** Positions such as 2,7,12: ascending, distinct, below n, at most `most` of them; else null. */
export function positions(text, n, most) {
  const parts = String(text)
    .split(/[\s,.;]+/)
    .filter(Boolean);
  const found = [...new Set(parts.map(Number))].sort((a, b) => a - b);
  const fine = parts.every((part) => /^\d{1,4}$/.test(part)) && found.every((j) => j < n);
  return fine && found.length >= 1 && found.length <= most ? found : null;
}
