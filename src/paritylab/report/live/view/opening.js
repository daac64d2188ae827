/** What the page opens with: three heads on their way to three hidden bits, run after run. */

import { lookAt, startRun } from "../engine/heads.js";
import { indicator } from "../engine/problem.js";
import { circlePicture } from "./circle.js";
import { button, el, pace, wantsStillness } from "./dom.js";

const SHOWN = { n: 20, subset: [2, 7, 12], procedure: "annealed", start: "random", seed: 0 };
const WORDS = `Three heads look for the ${SHOWN.subset.length} hidden bits among ${SHOWN.n}.`;
/** Moments kept of a run, seconds it plays, and seconds its end stays. */
const [MOMENTS, SECONDS, REST] = [240, 5, 2];

/** Builds the picture into its place and sets it going, unless who reads asked for less motion. */
export function opening(place) {
  const { n, subset } = SHOWN;
  const circle = circlePicture({ n, flags: indicator(n, subset) });
  circle.setAttribute("aria-label", WORDS);
  const said = el("p", { class: "said" }, WORDS);
  const film = { circle, said, run: 0, playing: !wantsStillness(), frames: [] };
  const names = { true: "Pause", false: "Play" };
  const pause = button(names[film.playing], () => {
    film.playing = !film.playing;
    pause.textContent = names[film.playing];
    if (film.playing) play(film);
  });
  const caption = el("div", { class: "caption" }, said, pause);
  place.append(el("div", { class: "panel opening" }, circle, caption));
  play(film);
}

/** A run in moments, computed a slice of time after the other. */
async function filmed(number) {
  const run = startRun({ ...SHOWN, run: number });
  const stride = Math.ceil(run.steps / MOMENTS);
  const rest = pace();
  const frames = [lookAt(run)];
  while (run.count < run.steps) {
    run.step();
    if (run.count % stride === 0 || run.count === run.steps) frames.push(lookAt(run));
    await rest();
  }
  return frames;
}

/** Run after run while it plays; otherwise the end of the first one. */
async function play(film) {
  do {
    film.frames = await filmed(film.run);
    const last = film.frames[film.frames.length - 1];
    film.circle.paths(film.frames);
    if (film.playing) await roll(film);
    draw(film, film.frames.length - 1);
    const end = last.recovered ? "all of them were found" : "not every head found its bit";
    film.said.textContent = `${WORDS} Run ${film.run}: ${end}.`;
    film.circle.setAttribute("aria-label", film.said.textContent);
    if (film.playing) await new Promise((done) => setTimeout(done, 1000 * REST));
    film.run += film.playing ? 1 : 0;
  } while (film.playing);
}

/** From the first moment to the last, one look per frame of the screen. */
function roll(film) {
  const begin = performance.now();
  return new Promise((done) => {
    const tick = (now) => {
      const at = Math.floor((film.frames.length * Math.max(0, now - begin)) / (1000 * SECONDS));
      if (!film.playing || at >= film.frames.length) return done();
      draw(film, at);
      return requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
}

function draw({ circle, frames }, at) {
  circle.show(frames[at], frames[at].step / frames[frames.length - 1].step);
}
