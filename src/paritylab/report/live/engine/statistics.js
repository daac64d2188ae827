/** Shares with their interval. */

/** Wilson's 95 % interval of `successes` among `trials`, in [0, 1]. */
export function rateInterval(successes, trials) {
  if (!trials) return [0, 1];
  const z = 1.959963984540054;
  const share = successes / trials;
  const centre = (share + (z * z) / (2 * trials)) / (1 + (z * z) / trials);
  const half =
    (z / (1 + (z * z) / trials) / trials) * Math.sqrt(trials * share * (1 - share) + (z * z) / 4);
  return [
    successes === 0 ? 0 : Math.max(0, centre - half),
    successes === trials ? 1 : Math.min(1, centre + half),
  ];
}
