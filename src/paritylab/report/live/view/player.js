/** Play, step and scrub through the moments of a run. */

import { button, el, wantsStillness } from "./dom.js";

/**
 * show(index): draws a moment. glide(position): draws a place between two of them while it plays.
 * seconds: how long a whole run plays.
 *
 * Returns a row of controls with `length(count, jump)`, `go(index)`, `at()` and `playing()`. Who
 * asked for less motion sees the end at once when pressing play; step and scrub stay.
 */
export function player({ show, glide = null, seconds = 6, name }) {
  let [count, index, timer] = [1, 0, 0];
  const range = { type: "range", min: 0, max: 0, value: 0 };
  const scrub = el("input", { ...range, "aria-label": `${name}: moment` });
  const play = button("Play", () => (timer ? stop() : start()), { class: "play" });
  const step = button("Step", () => node.go(index + 1));
  const back = button("Back", () => node.go(index - 1));
  const rewind = button("Rewind", () => node.go(0));
  scrub.addEventListener("input", () => {
    stop();
    go(Number(scrub.value));
  });

  function go(next) {
    index = next;
    scrub.value = index;
    show(index);
  }

  function stop() {
    if (!timer) return;
    cancelAnimationFrame(timer);
    timer = 0;
    play.textContent = "Play";
    show(index);
  }

  function start() {
    if (wantsStillness()) return go(count - 1);
    if (index >= count - 1) go(0);
    play.textContent = "Pause";
    const [begin, first] = [performance.now(), index];
    const speed = count / (1000 * seconds);
    const tickOnce = (now) => {
      const position = Math.min(count - 1, first + Math.max(0, now - begin) * speed);
      const next = Math.floor(position);
      if (next !== index) go(next);
      if (glide && position > next) glide(position);
      if (next < count - 1) timer = requestAnimationFrame(tickOnce);
      else stop();
    };
    timer = requestAnimationFrame(tickOnce);
    return undefined;
  }

  const node = el("div", { class: "player" }, play, rewind, back, step, scrub);
  node.length = (moments) => {
    count = Math.max(1, moments);
    scrub.max = count - 1;
  };
  node.go = (next) => {
    stop();
    go(Math.max(0, Math.min(next, count - 1)));
  };
  node.at = () => index;
  node.playing = () => timer !== 0;
  node.toggle = () => play.click();
  return node;
}
