// The report of a benchmark.

const bench = data.bench;
const recipes = bench.metrics.map((one) => one.recipe);
const lines = bench.metrics.flatMap((one) => one.against);
const measured = new Set(bench.tasks.flatMap((task) => task.baselines.map((b) => b.name)));
const shown = [...new Set(lines.map((line) => line.baseline))].filter((name) => measured.has(name));
const baselines = bench.against.split(',').filter((name) => measured.has(name)); // that are claimed against
const taskName = (task) => (task.number > 0 ? `${task.number} ${task.name}` : task.name);
const against = (task, name) => task.baselines.find((b) => b.name === name);
// What the kernel took in turns with a baseline; the plain C is timed with the verdict.
const raced = (name) => name !== 'naive';
const beside = (task, name) => (raced(name) && against(task, 'hone') ? against(task, 'hone').time_us : task.time_us);
const isCorrect = (task) => task.status === 'correct';
const done = bench.tasks.filter((task) => task.status);
const isWasteful = (task) => /wasteful|constant/.test(task.marks);
const partWords = { all: 'all tasks', headline: 'without those whose reference wastes work', above_100_us: 'of these, above 100 us' };
// Two suites may have tasks of the same number and name.
const taskKey = (task) => `${task.suite}/${taskName(task)}`;
const mean = (values) => Math.exp(values.reduce((sum, x) => sum + Math.log(x), 0) / values.length);

// A column that says the same everywhere is none.
const several = recipes.length > 1;
const ofRecipe = (recipe) => (several ? [recipe] : []);
const recipeColumn = ofRecipe(['recipe', true]);

// ---- the head ----

function head() {
  const threads = bench.machine && bench.machine.threads ? `${bench.machine.threads} threads` : '';
  const words = [`Benchmark ${bench.run}`, `recipe ${recipes.join(', ')}`, threads, `against ${bench.against}`,
    bench.state === 'done' ? '' : `${bench.state}: ${done.length} of ${bench.tasks.length} tasks`, data.started].filter(Boolean);
  page.append(html('h1', {}, bench.title), html('p', { class: 'under' }, words.join(' · ')));
  if (bench.label) page.append(html('p', { class: 'under' }, bench.label));
  const first = bench.metrics[0], line = first.against[0];
  if (several) page.append(html('p', { class: 'caption' }, `The figures of recipe ${first.recipe}:`));
  page.append(html('div', { class: 'tiles' },
    line && tile(factor(line.geomean) || 'none', `geometric mean against ${line.baseline}, ${line.tasks} tasks`),
    line && tile(percent(line.fast_1), `fast_1: correct and faster than ${line.baseline}`),
    known(first.light_median) && tile(percent(first.light_median), `of the speed of light, median; lowest tenth ${percent(first.light_lowest_tenth)}`),
    tile(`${first.correct} of ${first.done}`, line ? `correct (fast_0: ${percent(line.fast_0)})` : 'correct'),
    tile(clock(first.seconds), `${first.evaluations} evaluations`)));
}

// A part is told where it is another than the one before it.
const isNews = (line, i, all) => line.part === 'all' || (line.tasks > 0 && line.tasks !== all[i - 1].tasks);

const lineName = (line) => (line.builds > 1 ? `${line.baseline}, best of ${line.builds}` : line.baseline);
const lineTasks = (line) => `${partWords[line.part] || line.part}${line.fewer > 0 ? ` (${line.fewer} with fewer builds)` : ''}${line.claimed ? '' : '; never claimed against'}`;
const shownOnly = {
  'torch.as shipped': 'PyTorch as shipped writes large results into fresh pages, whose faults are most of its time then: it is shown beside the warm one, and never claimed against. ',
  'onednn.blocked': 'oneDNN’s own layouts, without the reorders, are shown and never claimed against. ',
};

function summary() {
  const speeds = ['fast_0', 'fast_1', 'fast_1.5', 'fast_2'];
  section('Summary', table([...recipeColumn, ['against', true], ['geometric mean', false], ...speeds.map((name) => [name, false]), ['tasks', false], ['which', true]],
    bench.metrics.flatMap((one) => one.against.filter(isNews).map((line) => [...ofRecipe(one.recipe), lineName(line), factor(line.geomean),
      ...speeds.map((name) => percent(line[name])), String(line.tasks), lineTasks(line)]))),
  caption('Geometric mean of baseline time / kernel time over correct kernels; fast_p: share of all tasks that are correct and more than p times as fast, for p = 0 correct at all (doc/metrics.md).'),
  shown.length > baselines.length && caption(shown.map((name) => shownOnly[name] || '').join('')),
  absent(),
  versus(),
  repeat(`hone bench --resume ${bench.run} --json`));
}

// Builds that did not work: what these tasks are held against was chosen without them.
function absent() {
  const rows = bench.tasks.flatMap((task) => task.absent.map((build) => [taskName(task), build.name, build.reason]));
  if (rows.length === 0) return null;
  return html('details', {}, html('summary', {}, `Builds that took no part: ${rows.length}`),
    table([['task', true], ['build', true], ['because', true, true]], rows));
}

// Recipes side by side: each had the same budget on every task.
function versus() {
  if (!several) return null;
  const timesOf = (recipe) => new Map(done.filter((t) => t.recipe === recipe && isCorrect(t)).map((t) => [taskKey(t), t.time_us]));
  const base = timesOf(recipes[0]);
  return caption(recipes.slice(1).map((recipe) => {
    const ratios = [...timesOf(recipe)].filter(([name]) => base.has(name)).map(([name, us]) => base.get(name) / us);
    return ratios.length > 0 ? `${recipe} is ${factor(mean(ratios))} as fast as ${recipes[0]} with the same limits (${ratios.length} tasks). ` : '';
  }).join(''));
}

// ---- figures that others publish ----

function figures() {
  const equal = bench.metrics.flatMap((one) => one.equal_cost.map((e) => [one.recipe, e.over, e.cost, factor(e.speedup), String(e.tasks)]));
  section('Figures', figureTables(bench.metrics.map((one) => [one.recipe, one.figures])),
    equal.length > 0 && table([['recipe', true], ['over', true], ['at equal', true], ['speed-up', false], ['tasks', false]], equal),
    repeat(`hone bench --resume ${bench.run} -v`));
}

// ---- choices ----

function choose(names, words, action) {
  if (names.length < 2) return null;
  const group = html('div', { class: 'choice', role: 'group', 'aria-label': words }, names.map((name, i) =>
    html('button', { type: 'button', 'aria-pressed': String(i === 0), on: { click: (event) => {
      for (const button of group.children) button.setAttribute('aria-pressed', String(button === event.target));
      action(name);
    } } }, name)));
  return group;
}

// ---- speed-ups ----

function whisker(plot, box, low, high, y) {
  const from = Math.max(low, box.left), to = Math.min(high, box.right);
  const ends = (low >= box.left ? `M${from},${y - 3}v6` : '') + (high <= box.right ? `M${to},${y - 3}v6` : '');
  plot.append(svg('path', { d: `M${from},${y}H${to}${ends}`, stroke: 'var(--ink)', fill: 'none' }));
}

function bars(state, width) {
  const rows = done.filter((task) => task.recipe === state.recipe).map((task) => ({ task, base: against(task, state.baseline) }));
  if (state.order === 'by speed-up') rows.sort((a, b) => (isCorrect(b.task) && b.base ? b.base.speedup : 0) - (isCorrect(a.task) && a.base ? a.base.speedup : 0));
  const names = Math.min(200, Math.max(110, width * 0.3)), step = 18, top = 28;
  const box = { left: names, right: width - 52, top, bottom: top + step * rows.length };
  const plot = plotOf(width, box.bottom + 24, `Speed-ups over ${state.baseline}`);
  const near = (x, centre) => Math.min(centre * 3, Math.max(centre / 3, x)); // a wild interval is cut at the edge
  const values = rows.filter((r) => r.base && isCorrect(r.task)).flatMap(({ base: b }) => [b.speedup, near(b.speedup_low, b.speedup), near(b.speedup_high, b.speedup)]).filter((v) => known(v) && v > 0);
  const x = logarithmic(spread(values.concat([0.8, 1.5])), [box.left, box.right]);
  for (const tick of x.ticks((box.right - box.left) / 70)) {
    plot.append(svg('line', { class: 'gridline', x1: x(tick), x2: x(tick), y1: top - 4, y2: box.bottom }),
      svg('text', { x: x(tick), y: box.bottom + 16, 'text-anchor': 'middle' }, `${plain(tick)}x`));
  }
  rows.forEach((row, i) => {
    const y = top + i * step, short = Math.floor(names / 6.6), name = taskName(row.task);
    plot.append(svg('text', { x: names - 8, y: y + 12, 'text-anchor': 'end' }, name.length > short ? name.slice(0, short - 1) + '…' : name, svg('title', {}, name)));
    if (!isCorrect(row.task) || !row.base || !(row.base.speedup > 0)) {
      plot.append(svg('text', { x: x(1) + 6, y: y + 12, style: 'fill:var(--bad)' }, isCorrect(row.task) ? `${state.baseline} has no time` : row.task.status, svg('title', {}, row.task.reason || '')));
      return;
    }
    const { speedup, speedup_low: low, speedup_high: high, time_us: us } = row.base, from = Math.min(x(1), x(speedup));
    const words = `${name}: ${factor(speedup)} [${factor(low)}, ${factor(high)}]; ${time(beside(row.task, state.baseline))} against ${time(us)}${row.task.marks ? '; ' + row.task.marks : ''}`;
    plot.append(svg('rect', { x: from, y: y + 3, width: Math.max(1, Math.abs(x(speedup) - x(1))), height: step - 6, rx: 2,
      fill: gain(speedup, low, high) === 'same' ? 'var(--faint)' : speedup > 1 ? 'var(--one)' : 'var(--two)', opacity: isWasteful(row.task) ? 0.35 : 0.85 }, svg('title', {}, words)));
    if (known(low) && known(high) && low > 0) whisker(plot, box, x(low), x(high), y + step / 2);
    plot.append(svg('text', { x: width - 2, y: y + 12, 'text-anchor': 'end' }, gain(speedup, low, high)));
  });
  plot.append(svg('line', { x1: x(1), x2: x(1), y1: top - 6, y2: box.bottom, stroke: 'var(--ink)' }),
    svg('text', { x: x(1), y: top - 10, 'text-anchor': 'middle' }, `as fast as ${state.baseline}`));
  return plot;
}

function speedups() {
  const state = { baseline: baselines[0], recipe: recipes[0], order: 'in order' };
  if (!state.baseline) return;
  const drawing = figure((width) => bars(state, width));
  const set = (name) => (value) => { state[name] = value; drawing.redraw(); };
  section('Speed-up of each task', choose(shown, 'baseline', set('baseline')), ' ', choose(recipes, 'recipe', set('recipe')), ' ',
    choose(['in order', 'by speed-up'], 'order', set('order')), card(drawing),
    caption('Baseline time / kernel time on a logarithmic scale, with the interval of the paired measurement; where that holds 1, the two are the same (grey). Blue is faster than the baseline, orange slower; pale bars are tasks whose reference wastes work, which the headline leaves out.'),
    repeat(`hone bench --resume ${bench.run} --csv`));
}

// ---- fast_p ----

function fastCurve(width) {
  const height = 260, box = { left: 46, right: width - 12, top: 30, bottom: height - 44 };
  const plot = plotOf(width, height, 'fast_p for every p');
  const rows = done.filter((task) => task.recipe === recipes[0]);
  const lists = shown.map((name) => rows.filter((t) => isCorrect(t) && against(t, name)).map((t) => against(t, name).speedup).filter((s) => s > 0).sort((a, b) => a - b));
  const x = logarithmic(spread(lists.flat().concat([0.5, 2])), [box.left, box.right]), y = linear([0, 1], [box.bottom, box.top]);
  axes(plot, box, x, y, { xWords: 'p', yWords: 'fast_p', xText: (t) => plain(t), yText: percent, yTicks: [0, 0.25, 0.5, 0.75, 1] });
  plot.append(svg('line', { x1: x(1), x2: x(1), y1: box.top, y2: box.bottom, stroke: 'var(--faint)', 'stroke-dasharray': '5 4' }));
  lists.forEach((list, i) => {
    const tasks = bench.metrics[0].against.find((line) => line.baseline === shown[i] && line.part === 'all').tasks; // libraries have few
    if (!(tasks > 0)) return;
    let path = `M${box.left},${y(list.length / tasks)}`;
    list.forEach((s, k) => { path += `H${x(s)}V${y((list.length - k - 1) / tasks)}`; });
    plot.append(svg('path', { d: path, fill: 'none', stroke: colour(i), 'stroke-width': 2 }));
  });
  return plot;
}

// A task whose reference wastes work may be ten times above the limit: the others would be a line.
function lightPlot(width) {
  const most = 1.5, height = 260, box = { left: 46, right: width - 12, top: 30, bottom: height - 44 };
  const plot = plotOf(width, height, 'Share of the speed of light');
  const rows = done.filter((t) => t.recipe === recipes[0] && isCorrect(t) && known(t.light)).sort((a, b) => a.light - b.light);
  const x = linear([0, rows.length], [box.left, box.right]), y = linear([0, Math.min(most, Math.max(1, ...rows.map((t) => t.light)))], [box.bottom, box.top]);
  axes(plot, box, x, y, { xWords: 'tasks, in order of it', yWords: 'light', xText: whole, yText: percent });
  rows.forEach((task, i) => plot.append(mark(x(i + 0.5), y(Math.min(most, task.light)), 3.5, `${taskName(task)}: ${percent(task.light)}, ${time(task.time_us)}${task.limited_by ? '; ' + task.limited_by : ''}`, { fill: 'var(--one)', opacity: 0.7 })));
  return plot;
}

function distributions() {
  if (!done.some((task) => task.recipe === recipes[0] && isCorrect(task))) {
    section('How many, how far', caption('Left out: no task has a correct kernel yet.'));
    return;
  }
  section('How many, how far', html('div', { class: 'grid' },
    card(html('h3', {}, 'Share of tasks more than p times as fast'), figure(fastCurve), key(shown.map((name, i) => [colour(i), name]))),
    card(html('h3', {}, 'Share of the speed of light'), figure(lightPlot))),
  caption(`Left: fast_p for every p, recipe ${recipes[0]}; tasks without a correct kernel count as never fast. Right: each dot a task; 100 % is the least time this machine can need${bench.machine && known(bench.machine.gflops) ? '' : ', which was estimated and not measured (hone machine), so that a kernel may be above it'}; what is above 150 % is drawn there.`),
  repeat(`hone bench --resume ${bench.run} --json`));
}

// ---- tables ----

function taskRow(task) {
  return [taskName(task), ...ofRecipe(task.recipe), task.status, time(task.time_us), known(task.low_us) ? `${time(task.low_us)} to ${time(task.high_us)}` : '', percent(task.light),
    ...baselines.flatMap((name) => {
      const b = against(task, name), ours = raced(name) ? [b ? time(beside(task, name)) : ''] : [];
      return b ? [...ours, time(b.time_us), gain(b.speedup, b.speedup_low, b.speedup_high)] : [...ours, '', ''];
    }),
    task.limit || task.limited_by || task.reason || ''];
}
const taskColumns = () => [['task', true], ...recipeColumn, ['verdict', true], ['time', false], ['interval', false], ['light', false],
  ...baselines.flatMap((name) => [...(raced(name) ? [[`beside ${name}`, false]] : []), [name, false], ['gain', false]]), ['limited by', true, true]];

function tables() {
  const ranked = done.filter((t) => isCorrect(t) && against(t, baselines[0])).sort((a, b) => against(a, baselines[0]).speedup - against(b, baselines[0]).speedup);
  const failed = done.filter((t) => !isCorrect(t));
  section('The ten slowest', table(taskColumns(), failed.concat(ranked).slice(0, 10).map(taskRow)),
    caption(`Tasks without a correct kernel first, then by gain over ${baselines[0] || 'the baseline'}, with what limits them; every task below 70 % of the speed of light names its limit in the table of all.${baselines.some(raced) ? ' A verdict’s time is that of short samples in new processes, whose memory is colder; beside another library the kernel is timed in turns with it, and the gain is that of the turns.' : ''}`),
    html('details', {}, html('summary', {}, done.length === 1 ? 'the only task' : `all ${done.length} tasks`), table(taskColumns(), done.map(taskRow))),
    repeat(`hone bench --resume ${bench.run}`));
  const verdicts = [...new Set(done.map((t) => t.status))].map((s) => `${done.filter((t) => t.status === s).length} ${s}`);
  section('Verdicts and cost', caption(`${verdicts.join(', ')}${bench.tasks.length > done.length ? `, ${bench.tasks.length - done.length} not done yet` : ''}.`),
    table([['recipe', true], ['tasks', false], ['correct', false], ['evaluations', false], ['time', false], ['an evaluation', false]],
      bench.metrics.map((one) => [one.recipe, String(one.done), percent(one.correct / one.done), String(one.evaluations), clock(one.seconds), one.evaluations > 0 ? time((one.seconds / one.evaluations) * 1e6) : ''])));
}

head();
summary();
speedups();
distributions();
figures();
tables();
if (bench.machine) section('The machine', machineSheet(bench.machine), caption('As it was when the benchmark began.'), repeat('hone machine'));
repeats();
footer();
