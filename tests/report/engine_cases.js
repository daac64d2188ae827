// Answers of the engine inside the page, case by case; a test runs this in the browser.
const {
  engine_random: random,
  engine_problem: problem,
  engine_models: models,
  engine_theory: theory,
  engine_heads: heads,
  engine_xor: xor,
  engine_chain: chain,
  engine_statistics: statistics,
  engine_landscape: landscape,
  engine_own: own,
} = globalThis.paritylab;
const plain = (array) => Array.from(array);

const answers = {
  draws: ([seed, run, count]) => {
    const key = random.runKey(seed, run);
    const list = [random.words, random.bytes, random.uniform, random.normal];
    return [key, ...list.map((draw) => plain(draw(key, count)))];
  },
  subset: ([seed, run, n, k]) => problem.randomSubset(random.runKey(seed, run), n, k),
  signs: ([seed, rows, n]) => plain(problem.drawSigns(random.keyOf(seed), rows, n)),
  positions: ([kind, seed, n, width]) => plain(xor.drawPositions(kind, seed, n, width)),
  interval: ([successes, trials]) => statistics.rateInterval(successes, trials),
  temperature: ([text, n]) => heads.temperature(text, n),
  laws: ([n, k, samples]) => [
    theory.usualStep(n, k),
    theory.levelStep(n, k, samples),
    theory.samplesToFindChildren(n, k),
    theory.defaultGain(n),
    theory.usualWidth(n),
    theory.medianWorstError(n, k, 20),
  ],
  run: ([settings]) => {
    const run = heads.finish(heads.startRun(settings));
    const { directions, found, recovered, solved, risk: value, error } = heads.lookAt(run);
    return {
      directions,
      found,
      recovered,
      solved,
      value,
      error,
    };
  },
  surface: ([settings, size]) => plain(landscape.surface({ ...landscape.PROVED, ...settings }, size)),
  traps: ([size, heights, tau]) => {
    const risks = landscape.surface({ ...landscape.PROVED, tau }, size);
    return plain(landscape.trapDepths(risks, size, heights));
  },
  trapped: ([heights, count]) =>
    Array.from({ length: count }, (_, run) => {
      const { PROVED, fall, anglesOf } = landscape;
      const made = fall(PROVED, { run });
      const riskNow = () => made.riskOf(models.weightsOf(heads.attentionOf(made))).value;
      const cell = anglesOf(made).map((angle) => Math.round((angle * PROVED.n) / (2 * Math.PI)) % PROVED.n);
      const depth = heights[cell[0]][cell[1]] - riskNow();
      heads.finish(made);
      return [depth, riskNow()];
    }),
  fall: ([settings, count]) => {
    const made = Array.from({ length: count }, (_, run) =>
      heads.finish(landscape.fall({ ...landscape.PROVED, ...settings }, { run })),
    );
    return { eta: landscape.etaOf({ ...landscape.PROVED, ...settings }), directions: made.map((run) => plain(run.directions)) };
  },
  own: ([settings, count]) => {
    const readout = own.readoutFrom(settings.readout, settings.subset.length);
    const [heat, loss] = [own.heatFrom(settings.tau, settings.n), own.lossFrom(settings.loss)];
    const texts = [readout.python, heat.python, loss.python];
    const ends = Array.from({ length: count }, (_, run) =>
      own.endOf(heads.finish(own.startOwn({ ...settings, readout, heat, loss, run })), readout),
    );
    return [texts, ends.map(({ directions, risk, recovered }) => [...directions, risk, Number(recovered)])];
  },
  xor: ([table, n, pair, gain, kind]) => {
    const { scores, weights, direction } = xor.xorStep(
      Float64Array.from(table),
      n,
      pair,
      gain,
      kind,
    );
    const parts = [scores, weights, direction].map(plain);
    return [...parts, xor.worstCase(weights, pair), xor.xorRisk(weights, pair)];
  },
  taught: ([n, leaves, seed, run, samples]) => {
    const tree = problem.parityTree(n, leaves);
    const rows = chain.trainingRows(tree, seed, run, samples);
    const scores = chain.teacherStep(tree, rows, theory.usualStep(n, leaves.length));
    return { ...chain.judgeChain(tree, scores, seed, run), scores: scores.map(plain) };
  },
  levels: ([n, leaves, seed, run, samples, eta]) => {
    const tree = problem.parityTree(n, leaves);
    const rows = chain.trainingRows(tree, seed, run, samples);
    const hints = chain.hintRows(tree, seed, run);
    const step = eta ?? theory.levelStep(n, leaves.length, samples);
    const states = chain.learnLevels(tree, rows, hints, { eta: step });
    const scores = states[states.length - 1].scores;
    return {
      levels: states.map((state) => state.levels),
      scores: scores.map(plain),
      solved: chain.judgeChain(tree, scores, seed, run).solved,
    };
  },
};
