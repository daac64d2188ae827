/** Starts the page: the landscape, four demos and the replay, each in its place. */

import { chainDemo } from "./chain_demo.js";
import { headsDemo } from "./heads_demo.js";
import { landscape } from "./landscape.js";
import { ownDemo } from "./own_demo.js";
import { replay } from "./replay.js";
import { xorDemo } from "./xor_demo.js";

/** Fills a place that this page has; what goes wrong is said there and leaves the rest alone. */
function fillPlace(id, build) {
  const place = document.getElementById(id);
  if (!place) return;
  try {
    build(place);
  } catch (error) {
    place.textContent = `This demo could not start: ${error.message}`;
    throw error;
  }
}

const heights = document.getElementById("heights")?.textContent;
fillPlace("landscape", (place) => landscape(place, heights && JSON.parse(heights)));
fillPlace("heads", headsDemo);
fillPlace("own", ownDemo);
fillPlace("xor", xorDemo);
fillPlace("chain", chainDemo);
fillPlace("replay", (place) => replay(place, document.getElementById("run")?.textContent));

// Links inside the page scroll; the address belongs to the settings.
for (const jump of document.querySelectorAll('nav a[href^="#"]')) {
  jump.addEventListener("click", (event) => {
    event.preventDefault();
    document.querySelector(jump.getAttribute("href")).scrollIntoView();
  });
}

// A link to another view of this page: start again with its settings.
addEventListener("hashchange", () => location.reload());
