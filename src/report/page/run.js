// The report of one run.

const run = data.run;
const byId = new Map(data.points.map((point, i) => [run.candidates[i].id, { ...run.candidates[i], ...point }]));
const all = [...byId.values()];
const best = byId.get(run.best);
const shortName = (id) => id.slice(id.indexOf('.'));
const caseColour = new Map(data.cases.map((one, i) => [one.name, colour(i)]));
const timedIn = (candidate, name) => candidate.cases.find((row) => row.name === name && known(row.us));

// ---- the head ----

function head() {
  const who = run.model ? `recipe ${run.recipe}, ${run.model}` : `recipe ${run.recipe}`;
  const words = [who, data.machine && data.machine.threads ? `${data.machine.threads} threads` : '', `seed ${data.seed}`,
    `${run.state}${run.stopped_by && run.state !== 'done' ? ' (' + run.stopped_by + ')' : ''} after ${clock(run.seconds)}`,
    data.started].filter(Boolean).join(' · ');
  page.append(html('h1', {}, `${run.task}`), html('p', { class: 'under' }, `Run ${run.run} · ${words}`));
  const first = data.cases[0] || {};
  const row = best && first.name ? timedIn(best, first.name) : null;
  const base = row && first.baselines[0];
  page.append(html('div', { class: 'tiles' },
    tile(row ? time(row.us) : 'none', row ? `best, case ${row.name}${interval(row)}` : 'no kernel is correct in every case'),
    row && known(row.light) && tile(percent(row.light), `of the speed of light (${first.limit || 'limit'})`),
    base && tile(gain(base.speedup, base.low, base.high), `against ${base.name}, which needs ${time(base.us)}`),
    tile(String(run.evaluations), `evaluations, ${run.candidates.length} candidates`),
    run.calls.length > 0 && spentTile()));
}
function spentTile() {
  const tokens = run.tokens.in + run.tokens.out, cost = known(run.cost_usd) ? `, ${money(run.cost_usd)}` : '';
  return tokens > 0 ? tile(count(tokens), `tokens in ${run.calls.length} calls${cost}`)
    : tile(String(run.calls.length), `calls of ${run.model}, no tokens`);
}
function interval(row) {
  return known(row.low) && known(row.high) ? `, [${time(row.low)}, ${time(row.high)}]` : '';
}

function cases() {
  if (!best) return;
  const baselines = [...new Set(data.cases.flatMap((one) => one.baselines.map((b) => b.name)))];
  section('The best kernel, case by case',
    table([['case', true], ['sizes', true], ['time', false], ['95 % interval', false], ['light', false], ['limited by', true],
      ...baselines.flatMap((name) => [[name, false], ['gain', false]])],
    data.cases.map((one) => {
      const row = timedIn(best, one.name) || { speedups: [] };
      return [one.name, one.sizes, time(row.us) || 'not timed', known(row.low) ? `${time(row.low)} to ${time(row.high)}` : '', percent(row.light),
        (known(row.us) && one.limit) || '', ...baselines.flatMap((name) => {
          const base = one.baselines.find((b) => b.name === name);
          return base ? [time(base.us), gain(base.speedup, base.low, base.high)] : ['', ''];
        })];
    })),
    caption(`Medians of timed calls${baselines.length > 0 ? ', alternating with those of the baseline' : ''}; light is the share of the speed of light that is reached, where 100 % is the least time this machine can need.`),
    repeat(`hone show ${run.best} --verdict`));
}

// ---- best so far ----

const costs = [
  { name: 'evaluations', words: 'evaluations', of: (c, i) => i + 1, text: whole },
  { name: 'time', words: 'seconds since the start', of: (c) => c.seconds, text: (x) => `${digits(x).replace(/\.0+$/, '')}` },
  { name: 'tokens', words: 'tokens of models', of: (c) => c.tokens, text: (x) => count(x) },
  { name: 'money', words: 'USD', of: (c) => c.cost, text: (x) => x.toFixed(2) },
];

function stepsOf(one, cost) {
  const judged = all.filter((c) => c.status);
  return judged.map((c, i) => ({ c, x: cost.of(c, i), row: timedIn(c, one.name) })).filter((s) => known(s.x));
}
// Failures count for a case that they were tried in: drafts have one, others all.
const triedIn = (candidate, name) => !candidate.draft || candidate.phase === name;

function bestSoFar(one, cost, width) {
  const height = 250, box = { left: 58, right: width - 12, top: 30, bottom: height - 44 };
  const steps = stepsOf(one, cost), timed = steps.filter((s) => s.row);
  const plot = plotOf(width, height, `Best time so far in case ${one.name}`);
  if (timed.length === 0) {
    plot.append(svg('text', { x: 8, y: 30 }, 'Nothing was timed in this case.'));
    return plot;
  }
  const lines = one.baselines.map((b) => [b.name, b.us]).concat(known(one.light_us) ? [['speed of light', one.light_us]] : []);
  const most = steps.reduce((x, s) => Math.max(x, s.x), 0);
  const x = linear([0, most || 1], [box.left, box.right]);
  const y = logarithmic(spread(timed.map((s) => s.row.us).concat(lines.map(([, us]) => us))), [box.bottom - 12, box.top]);
  axes(plot, box, x, y, { xWords: cost.words, yWords: 'time', xText: cost.text, yText: tickTime });
  for (const [name, us] of lines) {
    plot.append(svg('line', { x1: box.left, x2: box.right, y1: y(us), y2: y(us), stroke: 'var(--faint)', 'stroke-dasharray': '5 4' }),
      label(box.right, y(us) + (us === one.light_us ? 13 : -4), `${name} ${time(us)}`, { 'text-anchor': 'end' }));
  }
  let least = Infinity, path = '';
  for (const s of timed) {
    if (s.row.us >= least) continue;
    path += path ? `H${x(s.x)}V${y(s.row.us)}` : `M${x(s.x)},${y(s.row.us)}`;
    least = s.row.us;
  }
  const paint = caseColour.get(one.name);
  for (const s of steps.filter((f) => !f.row && f.c.status !== 'correct' && triedIn(f.c, one.name))) {
    const words = `${s.c.id}: ${s.c.status}`;
    plot.append(svg('path', { d: `M${x(s.x) - 3},${box.bottom - 7}l6,6m0,-6l-6,6`, stroke: 'var(--bad)', 'stroke-width': 1.5 }, svg('title', {}, words)));
  }
  for (const s of timed) plot.append(mark(x(s.x), y(s.row.us), 3, `${s.c.id}: ${time(s.row.us)}${interval(s.row)}`, { fill: paint, opacity: 0.45 }));
  plot.append(svg('path', { d: path + `H${box.right}`, fill: 'none', stroke: paint, 'stroke-width': 2 }));
  const winner = best && timed.find((s) => s.c === best);
  if (winner) plot.append(mark(x(winner.x), y(winner.row.us), 5, `${run.best}, the best`, { fill: 'none', stroke: paint, 'stroke-width': 2 }));
  return plot;
}

function curves() {
  const offered = costs.filter((cost) => all.some((c, i) => cost.of(c, i) > 0));
  let chosen = offered[0];
  const timed = data.cases.filter((one) => all.some((c) => timedIn(c, one.name)));
  const drawn = timed.length > 0 ? timed : data.cases; // others are only checked
  const figures = drawn.map((one) => figure((width) => bestSoFar(one, chosen, width)));
  const choice = html('div', { class: 'choice', role: 'group', 'aria-label': 'cost' }, offered.map((cost) =>
    html('button', { type: 'button', 'aria-pressed': String(cost === chosen), on: { click: (event) => {
      chosen = cost;
      for (const button of choice.children) button.setAttribute('aria-pressed', String(button === event.target));
      for (const one of figures) one.redraw();
    } } }, cost.name)));
  section('Best so far', offered.length > 1 ? choice : null,
    html('div', { class: 'grid' }, drawn.map((one, i) => card(html('h3', {}, `case ${one.name}`), figures[i]))),
    caption('Each dot is a correct candidate with its median time, each cross one that failed; the line is the fastest so far, the ring what was given in the end. Dashed: baselines, and the speed of light. The time axis is logarithmic.'),
    data.area.length > 0 && caption(`Area under best-so-far (speed-up over ${data.area[0].baseline}, averaged over the evaluations in each case): ${data.area.map((a) => `${factor(a.value)} in case ${a.name}`).join(', ')}.`),
    repeat(`hone show ${run.run} --json`));
}

// ---- roofline ----

function roofs(machine) {
  if (!machine) return null;
  const threads = machine.threads || 1;
  const peak = known(machine.gflops) ? machine.gflops * threads : null;
  const memory = known(machine.memory_gbs_all) ? machine.memory_gbs_all : machine.memory_gbs;
  return known(peak) && known(memory) ? { peak, memory, threads } : null;
}

function roofLines(plot, box, x, y, roof, xs, ys) {
  const corner = roof.peak / roof.memory, low = Math.max(xs[0], ys[0] / roof.memory);
  plot.append(svg('path', { d: `M${x(low)},${y(low * roof.memory)}L${x(corner)},${y(roof.peak)}H${box.right}`, fill: 'none', stroke: 'var(--ink)', 'stroke-width': 1.5 }));
  plot.append(label(box.right, y(roof.peak) - 6, `${digits(roof.peak)} GFLOP/s, ${roof.threads} threads`, { 'text-anchor': 'end' }));
  const middle = Math.sqrt(low * corner), slope = (y(roof.peak) - y(low * roof.memory)) / (x(corner) - x(low));
  plot.append(label(0, -6, `${digits(roof.memory)} GB/s`, { 'text-anchor': 'middle',
    transform: `translate(${x(middle)},${y(middle * roof.memory)}) rotate(${(Math.atan(slope) * 180) / Math.PI})` }));
}

function roofline(points, roof, width) {
  const height = Math.min(420, Math.max(300, width * 0.45));
  const box = { left: 58, right: width - 14, top: 30, bottom: height - 44 };
  const plot = plotOf(width, height, 'Roofline');
  const lights = data.cases.filter((one) => one.flops > 0 && known(one.light_us)).map((one) => [one, one.flops / one.light_us / 1e3]);
  const xs = spread(points.map((p) => p.x).concat(roof ? [roof.peak / roof.memory] : []), 2.2);
  const ys = spread(points.map((p) => p.y).concat(roof ? [roof.peak] : [], lights.map(([, speed]) => speed)), 1.6);
  const x = logarithmic(xs, [box.left, box.right]), y = logarithmic(ys, [box.bottom, box.top]);
  axes(plot, box, x, y, { xWords: 'flop per byte of inputs and outputs', yWords: 'GFLOP/s', xText: plain, yText: plain });
  if (roof) roofLines(plot, box, x, y, roof, xs, ys);
  for (const [one, speed] of lights) {
    const at = x(one.flops / one.bytes);
    plot.append(svg('path', { d: `M${at - 9},${y(speed)}h18`, stroke: caseColour.get(one.name), 'stroke-width': 2.5 }, svg('title', {}, `speed of light of case ${one.name}: ${digits(speed)} GFLOP/s`)));
  }
  for (const p of points) {
    const isBest = p.c === best;
    plot.append(mark(x(p.x), y(p.y), isBest ? 6 : 3.5, `${p.c.id}, case ${p.row.name}: ${digits(p.y)} GFLOP/s, ${time(p.row.us)}`,
      isBest ? { fill: 'var(--card)', stroke: caseColour.get(p.row.name), 'stroke-width': 2.5 } : { fill: caseColour.get(p.row.name), opacity: 0.4 }));
  }
  return plot;
}

function roof() {
  const machine = roofs(data.machine);
  const points = all.flatMap((c) => c.cases.filter((row) => known(row.us)).map((row) => {
    const one = data.cases.find((o) => o.name === row.name);
    return one && known(one.flops) && one.flops > 0 && one.bytes > 0 ? { c, row, x: one.flops / one.bytes, y: one.flops / row.us / 1e3 } : null;
  })).filter(Boolean);
  if (points.length === 0) {
    const functions = data.cases.some((one) => one.flops === 0);
    section('Roofline', caption(functions ? 'Left out: what this program computes are functions such as exp, which have no place under a roof of multiplications and additions; the speed of light counts them.'
      : 'Left out: nothing was timed, or the operations of this program cannot be counted from the archive (it uses other files, or has a reference in C).'));
    return;
  }
  section('Roofline', card(figure((width) => roofline(points, machine, width)),
    key(data.cases.filter((one) => known(one.flops)).map((one) => [caseColour.get(one.name), `case ${one.name}: ${count(one.flops, 'flop')}, ${count(one.bytes, 'B')}`]))),
  caption(`${points.length} times of ${new Set(points.map((p) => p.c)).size} candidates. Operations and bytes are those of the program, so all candidates of a case stand in one column; the ring is the best. A bar is the speed of light of its case, which lies below the roof where functions such as exp set it, and above the slope where the data fit a cache.${machine ? '' : ' The roof itself is missing: the peaks of this machine had not been measured (hone machine).'}`),
  repeat(`hone show ${run.run} --json`));
}

// ---- the tree ----

function nodeRow(c, words) {
  const row = c.cases.find((r) => known(r.us));
  const wrong = c.status && c.status !== 'correct';
  return html('div', { class: c === best ? 'node best' : 'node', title: c.reason || c.schedule || '' },
    html('span', { class: wrong ? 'time bad' : 'time' }, row ? time(row.us) : c.status || 'not judged'),
    html('span', { class: 'name' }, shortName(c.id)),
    html('span', { class: 'who' }, c.who),
    html('span', { class: 'why' }, words || c.why || c.reason || c.main),
    html('span', { class: 'came' }, [c.against, c === best ? 'best' : c.decision].filter(Boolean).join(', ')));
}
const fastest = (list) => list.reduce((a, b) => ((known(b.time_us) ? b.time_us : Infinity) < (a && known(a.time_us) ? a.time_us : Infinity) ? b : a), null);

// Drafts of a case are one row that opens; what was made from any of them hangs below it.
function branch(list, childrenOf) {
  const groups = new Map(), items = [];
  for (const c of list) {
    if (!c.draft) items.push(c);
    else if (groups.has(c.phase)) groups.get(c.phase).push(c);
    else { groups.set(c.phase, [c]); items.push(groups.get(c.phase)); }
  }
  return html('ul', {}, items.map((item) => {
    if (!Array.isArray(item)) return html('li', {}, nodeRow(item), below(childrenOf(item), childrenOf));
    const top = fastest(item) || item[0], children = item.flatMap(childrenOf);
    return html('li', {},
      nodeRow(top, `case ${top.phase}: ${item.length === 1 ? top.main : `${item.length} schedules, the best ${top.main}`}`),
      item.length > 1 && html('details', {}, html('summary', {}, `all ${item.length}`), html('ul', {}, item.map((c) => html('li', {}, nodeRow(c))))),
      below(children, childrenOf));
  }));
}
const below = (list, childrenOf) => (list.length > 0 ? branch(list, childrenOf) : null);

function tree() {
  const children = new Map(all.map((c) => [c.id, []]));
  const roots = [];
  for (const c of all) (c.parent && children.has(c.parent) ? children.get(c.parent) : roots).push(c);
  const nested = branch(roots, (c) => children.get(c.id));
  nested.className = 'tree';
  section('Candidates', card(html('div', { class: 'scroll' }, nested)),
    caption('A line is a candidate below its first parent: time in its first case, name, who proposed it, why, how it compares with its parent, what the search made of it.'),
    repeat(`hone show ${run.run}`));
}

// ---- verdicts ----

const statusColour = { correct: 'var(--good)', wrong: 'var(--bad)', build_failed: 'var(--two)', rejected: 'var(--four)',
  crashed: 'var(--five)', timed_out: 'var(--one)', cheated: 'var(--ink)', harness_fault: 'var(--faint)' };

function shareBar(counts, total, width) {
  const plot = plotOf(width, 22, 'shares');
  let at = 0;
  for (const [status, n] of counts) {
    const wide = (n / total) * width;
    plot.append(svg('rect', { x: at, y: 2, width: Math.max(1, wide - 1), height: 18, fill: statusColour[status] || 'var(--faint)' }, svg('title', {}, `${status}: ${n}`)));
    at += wide;
  }
  return plot;
}
function verdicts() {
  const judged = all.filter((c) => c.status);
  if (judged.length === 0) return;
  const groups = new Map([['all', judged]]);
  for (const c of judged) groups.set(c.who, [...(groups.get(c.who) || []), c]);
  const tally = (list) => Object.keys(statusColour).map((s) => [s, list.filter((c) => c.status === s).length]).filter(([, n]) => n > 0);
  const rows = groups.size > 2 && tally(judged).length > 1 ? [...groups] : [...groups].slice(0, 1);
  section('Verdicts', card(
    rows.map(([who, list]) => [html('div', { class: 'caption' }, `${who}: ${tally(list).map(([s, n]) => `${n} ${s}`).join(', ')}`), figure((width) => shareBar(tally(list), list.length, width))]),
    key(tally(judged).map(([s, n]) => [statusColour[s], `${s} ${percent(n / judged.length)}`]))),
  caption(`What the judge said of ${judged.length} candidates. Compile rate ${percent(run.figures.compile_rate)}, correctness rate ${percent(run.figures.correct_rate)}.`),
  repeat(`hone show ${run.run} --json`));
}

function figures() {
  if (run.figures.attempts > 0) section('Figures', figureTables([[`case ${data.cases[0].name}`, run.figures]]), repeat(`hone show ${run.run} -v`));
}

// ---- cost ----

function costTable() {
  if (run.calls.length === 0) {
    section('Cost and tokens', caption(`No model was asked: ${run.evaluations} evaluations in ${clock(run.seconds)}, no tokens, no cost.`));
    return;
  }
  const groups = new Map();
  for (const call of run.calls) {
    const name = `${call.role}\n${call.model}`;
    const sum = groups.get(name) || { role: call.role, model: call.model, calls: 0, in: 0, cached: 0, out: 0, cost: null, seconds: 0, failed: 0 };
    sum.calls++;
    sum.in += call.tokens.in || 0;
    sum.cached += call.tokens.cached || 0;
    sum.out += call.tokens.out || 0;
    sum.seconds += call.seconds || 0;
    if (known(call.cost_usd)) sum.cost = (sum.cost || 0) + call.cost_usd;
    groups.set(name, sum);
  }
  const cells = (sum) => [sum.role, sum.model, String(sum.calls), count(sum.in), count(sum.cached), count(sum.out), known(sum.cost) ? sum.cost.toFixed(3) : ''];
  const total = { role: 'all', model: '', calls: run.calls.length, in: run.tokens.in, cached: run.tokens.cached, out: run.tokens.out, cost: run.cost_usd };
  section('Cost and tokens',
    table([['role', true], ['model', true], ['calls', false], ['tokens in', false], ['of them cached', false], ['out', false], ['USD', false]],
      [...groups.values(), total].map(cells)),
    caption('Prices are those of the table that was in force when the call was made; a model without a price has none.'),
    repeat(`hone show ${run.run} --prompts`));
}

// ---- the kernel ----

function kernel() {
  if (!data.winner) return;
  const { winner, start } = data;
  section('The winning kernel',
    winner.schedule && codeBlock(winner.schedule.trim()),
    winner.schedule && caption('Its schedule (doc/schedule.md).'),
    html('details', { open: winner.kernel.length < 6000 ? '' : null }, html('summary', {}, `${winner.id}: ${winner.kernel.split('\n').length} lines of C`), codeBlock(winner.kernel)),
    start && html('details', {}, html('summary', {}, `Diff from the start, ${start.id}: ${start.removed} lines removed, ${start.added} added`), diffBlock(start.diff)),
    start && caption(`Likeness to ${start.id} (CodeBLEU): ${start.code_bleu.score.toFixed(2)}; n-grams ${start.code_bleu.ngram.toFixed(2)}, weighted ${start.code_bleu.weighted.toFixed(2)}, syntax ${start.code_bleu.syntax.toFixed(2)}, data flow ${start.code_bleu.flow.toFixed(2)}.`),
    repeat(start ? `hone diff ${start.id} ${winner.id}` : `hone show ${winner.id} --code`));
}

// ---- the rest ----

function closing() {
  section('The program', codeBlock(data.source.trim()), repeat(`hone task ${run.task}.op`));
  const sheet = machineSheet(data.machine);
  if (sheet) section('The machine', sheet, caption('As it was when the run began.'), repeat('hone machine'));
  repeats();
}

head();
cases();
curves();
roof();
tree();
verdicts();
figures();
costTable();
kernel();
closing();
footer();
