/**
 * Formulas typed into the page: read, evaluated with their slope, and written as Python.
 *
 * The page's policy allows no code from text. A formula becomes a tree, and the tree becomes nested
 * functions; each returns its value at x and leaves its derivative in `slope`.
 */

/** The derivative of the function that was called last. */
let slope = 0;

/** Functions of one argument: value, derivative, name in Python's numpy. */
const FUNCTIONS = {
  sin: { at: Math.sin, slope: (x) => Math.cos(x), python: "sin" },
  cos: { at: Math.cos, slope: (x) => -Math.sin(x), python: "cos" },
  tanh: { at: Math.tanh, slope: (x) => 1 - Math.tanh(x) ** 2, python: "tanh" },
  exp: { at: Math.exp, slope: Math.exp, python: "exp" },
  log: { at: Math.log, slope: (x) => 1 / x, python: "log" },
  sqrt: { at: Math.sqrt, slope: (x) => 0.5 / Math.sqrt(x), python: "sqrt" },
  abs: { at: Math.abs, slope: Math.sign, python: "abs" },
  // At 0 both sides count half, as they do in jax.
  relu: { at: (x) => Math.max(x, 0), slope: (x) => (x === 0 ? 0.5 : Number(x > 0)), python: null },
};
const SIGNS = { "²": "^2", "³": "^3", "·": "*", "−": "-", π: "pi", "**": "^" };

/** A tree from text over the given variables; a text that is no formula throws a clear Error. */
export function parse(text, variables) {
  const plain = String(text).replace(/\*\*|[²³·−π]/g, (sign) => SIGNS[sign]);
  const words = plain.match(/\d+\.?\d*(?:e[+-]?\d+)?|\.\d+|[a-z]+|[-+*/^()]|\S/gi) ?? [];
  if (words.length > 200) throw new Error("the formula is too long");
  const state = { words, at: 0, variables };
  const tree = sum(state);
  if (state.at < words.length) throw new Error(`unexpected ${words[state.at]}`);
  return tree;
}

function sum(state) {
  let left = product(state);
  while (["+", "-"].includes(state.words[state.at])) {
    left = { sign: state.words[state.at++], parts: [left, product(state)] };
  }
  return left;
}

function product(state) {
  let left = signed(state);
  while (["*", "/"].includes(state.words[state.at])) {
    left = { sign: state.words[state.at++], parts: [left, signed(state)] };
  }
  return left;
}

/** -x^2 is -(x^2), as in Python. */
function signed(state) {
  if (state.words[state.at] !== "-") return power(state);
  state.at += 1;
  return { sign: "neg", parts: [signed(state)] };
}

function power(state) {
  const base = atom(state);
  if (state.words[state.at] !== "^") return base;
  state.at += 1;
  return { sign: "^", parts: [base, signed(state)] };
}

function atom(state) {
  const word = state.words[state.at++];
  if (word === undefined) throw new Error("the formula ends too early");
  if (/^[\d.]/.test(word)) return { number: Number(word) };
  if (word === "(") return closed(state, sum(state));
  if (word === "pi") return { number: Math.PI, python: "np.pi" };
  if (state.variables.includes(word)) return { variable: word };
  if (Object.hasOwn(FUNCTIONS, word)) {
    if (state.words[state.at++] !== "(") throw new Error(`${word} needs a bracket`);
    return { call: word, parts: [closed(state, sum(state))] };
  }
  const known = [...state.variables, "pi", ...Object.keys(FUNCTIONS)].join(", ");
  throw new Error(`unknown word ${word}; known: ${known}`);
}

function closed(state, tree) {
  if (state.words[state.at++] !== ")") throw new Error("a bracket is not closed");
  return tree;
}

/** The names of the variables that a tree uses. */
export function variablesOf(tree) {
  if (tree.variable) return [tree.variable];
  return [...new Set((tree.parts ?? []).flatMap(variablesOf))];
}

/** x => the value of a tree in one variable; `slopeNow()` is then its derivative at x. */
export function compiled(tree) {
  if (tree.number !== undefined) return () => ((slope = 0), tree.number);
  if (tree.variable) return (x) => ((slope = 1), x);
  const [left, right] = tree.parts.map(compiled);
  if (tree.call) {
    const { at, slope: bend } = FUNCTIONS[tree.call];
    return (x) => {
      const inner = left(x);
      slope *= bend(inner);
      return at(inner);
    };
  }
  if (tree.sign === "neg")
    return (x) => {
      const value = left(x);
      slope = -slope;
      return -value;
    };
  return binary(tree.sign, left, right, tree.parts[1].number);
}

/** a + b, a - b, a·b, a/b, a^b; exponent: a number where b is one. */
function binary(sign, left, right, exponent) {
  if (sign === "^" && exponent !== undefined) {
    return (x) => {
      const base = left(x);
      slope *= exponent === 0 ? 0 : exponent * base ** (exponent - 1);
      return base ** exponent;
    };
  }
  return (x) => {
    const a = left(x);
    const da = slope;
    const b = right(x);
    const db = slope;
    if (sign === "+") return ((slope = da + db), a + b);
    if (sign === "-") return ((slope = da - db), a - b);
    if (sign === "*") return ((slope = da * b + a * db), a * b);
    if (sign === "/") return ((slope = (da * b - a * db) / (b * b)), a / b);
    const value = a ** b;
    slope = db === 0 ? (b * da * value) / a : value * (db * Math.log(a) + (b * da) / a);
    return value;
  };
}

/** The derivative of the compiled function that was called last. */
export function slopeNow() {
  return slope;
}

/** A number: the tree with its variables given. */
export function valueAt(tree, given) {
  const put = (node) =>
    node.variable
      ? { number: given[node.variable] }
      : node.parts
        ? { ...node, parts: node.parts.map(put) }
        : node;
  return compiled(put(tree))(0);
}

const RANK = { "+": 1, "-": 1, "*": 2, "/": 2, neg: 3, "^": 4 };

/** The tree as Python. library: "np" or "jnp". names: what variables are called there. */
export function pythonOf(tree, library = "np", names = {}) {
  const of = (node) => pythonOf(node, library, names);
  if (tree.number !== undefined) return tree.python?.replace("np", library) ?? String(tree.number);
  if (tree.variable) return names[tree.variable] ?? tree.variable;
  if (tree.call === "relu") return `${library}.maximum(${of(tree.parts[0])}, 0)`;
  if (tree.call) return `${library}.${FUNCTIONS[tree.call].python}(${of(tree.parts[0])})`;
  const rank = RANK[tree.sign];
  const inside = (node, least) => ((RANK[node.sign] ?? 9) < least ? `(${of(node)})` : of(node));
  if (tree.sign === "neg") return `-${inside(tree.parts[0], rank)}`;
  const [left, right] = tree.parts;
  if (tree.sign === "^") return `${inside(left, rank + 1)} ** ${inside(right, rank - 1)}`;
  return `${inside(left, rank)} ${tree.sign} ${inside(right, rank + 1)}`;
}
