/** Optimisers: a state of their own, one step at a time. */

/** Plain gradient descent with step size eta. */
export function sgd(eta) {
  return (gradient) => gradient.map((each) => -eta * each);
}

/** Adam without its step size: moments m and v, corrected for their start at 0. */
export function adamDirection(size, b1 = 0.9, b2 = 0.999, eps = 1e-8) {
  const first = new Float64Array(size);
  const second = new Float64Array(size);
  let count = 0;
  return (gradient) => {
    count += 1;
    const [missing1, missing2] = [1 - b1 ** count, 1 - b2 ** count];
    const moved = new Float64Array(size);
    for (let i = 0; i < size; i++) {
      first[i] = b1 * first[i] + (1 - b1) * gradient[i];
      second[i] = b2 * second[i] + (1 - b2) * gradient[i] * gradient[i];
      moved[i] = first[i] / missing1 / (Math.sqrt(second[i] / missing2) + eps);
    }
    return moved;
  };
}

/** Adam with step size eta, as optax.adam. */
export function adam(eta, size) {
  const direction = adamDirection(size);
  return (gradient) => direction(gradient).map((each) => -eta * each);
}
