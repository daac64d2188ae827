/**
 * The generator: threefry-2x32, the counter-based one of jax.random, word for word.
 *
 * A key is two 32-bit words. Nothing has a state: word number i of a key is a function of key and
 * i, so that run 17 of seed 0 is the same run here and in Python.
 */

/** Twenty rounds of threefry on the counter (hi, lo): two 32-bit words. */
export function threefry(key, hi, lo) {
  const a = key[0];
  const b = key[1];
  const c = a ^ b ^ 0x1bd11bda;
  const state = [(hi + a) | 0, (lo + b) | 0];
  fourRounds(state, 13, 15, 26, 6, b, c + 1);
  fourRounds(state, 17, 29, 16, 24, c, a + 2);
  fourRounds(state, 13, 15, 26, 6, a, b + 3);
  fourRounds(state, 17, 29, 16, 24, b, c + 4);
  fourRounds(state, 13, 15, 26, 6, c, a + 5);
  return [state[0] >>> 0, state[1] >>> 0];
}

/** Four rounds with their rotations, then two words of the key schedule are added. */
function fourRounds(state, r0, r1, r2, r3, first, second) {
  let x = state[0];
  let y = state[1];
  x = (x + y) | 0;
  y = ((y << r0) | (y >>> (32 - r0))) ^ x;
  x = (x + y) | 0;
  y = ((y << r1) | (y >>> (32 - r1))) ^ x;
  x = (x + y) | 0;
  y = ((y << r2) | (y >>> (32 - r2))) ^ x;
  x = (x + y) | 0;
  y = ((y << r3) | (y >>> (32 - r3))) ^ x;
  state[0] = (x + first) | 0;
  state[1] = (y + second) | 0;
}

/** The key of an integer seed, as jax.random.key. */
export function keyOf(seed) {
  return [0, seed >>> 0];
}

/** A new key from a key and a number, as jax.random.fold_in; split(key)[i] is the same. */
export function foldIn(key, number) {
  return threefry(key, 0, number >>> 0);
}

/** The key of run `run` of a seed: fold_in(key, run), as everywhere in the lab. */
export function runKey(seed, run) {
  return foldIn(keyOf(seed), run);
}

/** `count` 32-bit words, as jax.random.bits(key, (count,)). */
export function words(key, count) {
  const found = new Uint32Array(count);
  for (let index = 0; index < count; index++) {
    const [hi, lo] = threefry(key, 0, index);
    found[index] = hi ^ lo;
  }
  return found;
}

/** `count` bytes, as jax.random.bits(key, (count,), uint8). */
export function bytes(key, count) {
  const found = new Uint8Array(count);
  for (let index = 0; index < count; index++) {
    const [hi, lo] = threefry(key, 0, index);
    found[index] = hi ^ lo;
  }
  return found;
}

/** `count` numbers in [0, 1) with 52 random binary digits, as jax.random.uniform in float64. */
export function uniform(key, count) {
  const found = new Float64Array(count);
  for (let index = 0; index < count; index++) {
    const [hi, lo] = threefry(key, 0, index);
    found[index] = (hi * 2 ** 20 + (lo >>> 12)) * 2 ** -52;
  }
  return found;
}

/** `count` standard normal numbers, as jax.random.normal in float64. */
export function normal(key, count) {
  const lowest = -1 + 2 ** -53;
  const found = uniform(key, count);
  for (let index = 0; index < count; index++) {
    found[index] = Math.SQRT2 * inverseErf(Math.max(lowest, 2 * found[index] + lowest));
  }
  return found;
}

/** Giles' three polynomials for the inverse error function, highest power first. */
const INVERSE_ERF = [
  [
    -3.6444120640178196996e-21, -1.685059138182016589e-19, 1.2858480715256400167e-18,
    1.115787767802518096e-17, -1.333171662854620906e-16, 2.0972767875968561637e-17,
    6.6376381343583238325e-15, -4.0545662729752068639e-14, -8.1519341976054721522e-14,
    2.6335093153082322977e-12, -1.2975133253453532498e-11, -5.4154120542946279317e-11,
    1.051212273321532285e-9, -4.1126339803469836976e-9, -2.9070369957882005086e-8,
    4.2347877827932403518e-7, -1.3654692000834678645e-6, -1.3882523362786468719e-5,
    0.0001867342080340571352, -0.00074070253416626697512, -0.0060336708714301490533,
    0.24015818242558961693, 1.6536545626831027356,
  ],
  [
    2.2137376921775787049e-9, 9.0756561938885390979e-8, -2.7517406297064545428e-7,
    1.8239629214389227755e-8, 1.5027403968909827627e-6, -4.013867526981545969e-6,
    2.9234449089955446044e-6, 1.2475304481671778723e-5, -4.7318229009055733981e-5,
    6.8284851459573175448e-5, 2.4031110387097893999e-5, -0.0003550375203628474796,
    0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
    -0.0037512085075692412107, 0.005370914553590063617, 1.0052589676941592334,
    3.0838856104922207635,
  ],
  [
    -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-9,
    -3.7894654401267369937e-9, 7.6157012080783393804e-9, -1.4960026627149240478e-8,
    2.9147953450901080826e-8, -6.7711997758452339498e-8, 2.2900482228026654717e-7,
    -9.9298272942317002539e-7, 4.5260625972231537039e-6, -1.9681778105531670567e-5,
    7.5995277030017761139e-5, -0.00021503011930044477347, -0.00013871931833623122026,
    1.0103004648645343977, 4.8499064014085844221,
  ],
];

/** erf⁻¹(x) for |x| < 1, to rounding. */
export function inverseErf(x) {
  const w = -Math.log1p(-x * x);
  const [table, at] =
    w < 6.25
      ? [INVERSE_ERF[0], w - 3.125]
      : [INVERSE_ERF[w < 16 ? 1 : 2], Math.sqrt(w) - (w < 16 ? 3.25 : 5)];
  let value = 0;
  for (const coefficient of table) value = value * at + coefficient;
  return x * value;
}
