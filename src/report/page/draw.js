// What every figure needs: elements, numbers as people say them, scales, axes.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const page = document.querySelector('main');
const palette = ['--one', '--two', '--three', '--four', '--five', '--six'];
const colour = (i) => `var(${palette[i % palette.length]})`;

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === 'on') for (const [event, action] of Object.entries(value)) node.addEventListener(event, action);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}
const html = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

// ---- numbers ----

const known = (x) => typeof x === 'number' && isFinite(x);
function digits(x) {
  const size = Math.abs(x);
  return size >= 100 ? x.toFixed(0) : size >= 10 ? x.toFixed(1) : x.toFixed(2);
}
function time(us, say = digits) {
  if (!known(us)) return '';
  if (us < 1) return say(us * 1e3) + '\u00a0ns';
  if (us < 999.5) return say(us) + '\u00a0us';
  if (us < 999.5e3) return say(us / 1e3) + '\u00a0ms';
  return say(us / 1e6) + '\u00a0s';
}
const plain = (x) => String(Number(x.toPrecision(2)));
const whole = (x) => (Number.isInteger(x) ? String(x) : ''); // of what is counted
const tickTime = (us) => time(us, plain);
function count(x, unit = '') {
  if (!known(x)) return '';
  const steps = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
  for (const [size, letter] of steps) if (x >= size * 0.9995) return `${digits(x / size)}\u00a0${letter}${unit}`;
  return `${Number.isInteger(x) ? x : digits(x)}${unit ? ' ' + unit : ''}`;
}
const bytes = (x) => (known(x) && x > 0 ? (x >= 1 << 20 ? `${x / (1 << 20)} MB` : `${x / 1024} KB`) : '');
// 100 % is all, and 0 % none.
const percent = (x) => (known(x) ? `${(x > 0 && x < 1 ? Math.min(99, Math.max(1, 100 * x)) : 100 * x).toFixed(0)}\u00a0%` : '');
const factor = (x) => (known(x) ? `${x < 10 ? x.toFixed(2) : x.toFixed(1)}x` : '');
// Inside the noise there is no factor.
const gain = (x, low, high) => (known(low) && known(high) && low <= 1.0025 && high >= 0.9975 ? 'same' : factor(x));
const money = (x) => (known(x) ? `${x.toFixed(x < 1 ? 3 : 2)} USD` : '');
function clock(seconds) {
  if (!known(seconds)) return '';
  const s = Math.round(seconds), two = (n) => String(n).padStart(2, '0');
  return s >= 3600 ? `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`
    : `${Math.floor(s / 60)}:${two(s % 60)}`;
}

// ---- the page ----

function section(title, ...children) {
  page.append(html('h2', {}, title), ...children.flat(Infinity).filter(Boolean));
}
const caption = (text) => html('p', { class: 'caption' }, text);
const repeat = (command) => html('p', { class: 'repeat' }, 'Repeat: ', html('code', {}, command));
const card = (...children) => html('div', { class: 'card' }, ...children);
const tile = (value, words) => html('div', { class: 'tile' }, html('b', {}, value), html('span', {}, words));

// columns: [heading, aligned to the left, with long text]; cells are text or elements.
function table(columns, rows) {
  const side = (i) => (columns[i][1] ? (columns[i][2] ? 'l wrap' : 'l') : null);
  return html('div', { class: 'scroll' }, html('table', {},
    html('thead', {}, html('tr', {}, columns.map(([name], i) => html('th', { class: side(i), scope: 'col' }, name)))),
    html('tbody', {}, rows.map((row) => html('tr', {}, row.map((cell, i) => html('td', { class: side(i) }, cell)))))));
}
const key = (entries) => html('div', { class: 'key' },
  entries.map(([paint, words]) => html('span', {}, html('i', { style: `background:${paint}` }), words)));

// A drawing that is made anew when its width changes. All are made first when the page is whole: a
// browser without a window may never say that a width changed.
const drawings = [];
function figure(draw) {
  const holder = html('div', {});
  let width = 0;
  const update = () => {
    const now = Math.floor(holder.clientWidth);
    if (now === width || now < 40) return;
    width = now;
    holder.replaceChildren(draw(width));
  };
  holder.redraw = () => { width = 0; update(); };
  // In the next frame: drawing inside the observer would tell it of its own change.
  drawings.push(update);
  new ResizeObserver(() => requestAnimationFrame(update)).observe(holder);
  return holder;
}

// ---- scales ----

function linear([low, high], [from, to]) {
  const scale = (x) => from + ((x - low) / (high - low || 1)) * (to - from);
  scale.ticks = (wanted) => {
    const raw = (high - low) / Math.max(1, wanted), size = 10 ** Math.floor(Math.log10(raw || 1));
    const step = [1, 2, 5, 10].map((m) => m * size).find((s) => s >= raw) || size;
    const ticks = [];
    for (let x = Math.ceil(low / step) * step; x <= high * (1 + 1e-9); x += step) ticks.push(Number(x.toPrecision(12)));
    return ticks;
  };
  return scale;
}
function logarithmic([low, high], [from, to]) {
  const inner = linear([Math.log10(low), Math.log10(high)], [from, to]);
  const scale = (x) => inner(Math.log10(x));
  const ticksOf = (steps) => {
    const ticks = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e++) {
      for (const s of steps) if (s * 10 ** e >= low * 0.999 && s * 10 ** e <= high * 1.001) ticks.push(s * 10 ** e);
    }
    return ticks;
  };
  // The most that have room: steps lie closest at 1.5 and 2, an eighth of a decade. Two at least.
  scale.ticks = (wanted) => {
    const room = wanted / Math.log10(high / low), least = [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]];
    const fits = least.findIndex((steps) => steps.length <= room);
    const from = fits < 0 ? least.length - 1 : fits;
    for (let i = from; i > 0; i--) if (ticksOf(least[i]).length > 1) return ticksOf(least[i]);
    return ticksOf(least[0]);
  };
  return scale;
}
// Room around values of a logarithmic axis.
function spread(values, least = 1.15) {
  const low = values.reduce((a, b) => Math.min(a, b)), high = values.reduce((a, b) => Math.max(a, b));
  const room = Math.max(least, (high / low) ** 0.06);
  return [low / room, high * room];
}

// The frame of a plot: grid, ticks, names of the axes. `box` has left, right, top, bottom.
function axes(plot, box, x, y, { xWords, yWords, xText, yText, xTicks, yTicks }) {
  const wide = box.right - box.left, high = box.bottom - box.top;
  for (const tick of yTicks || y.ticks(high / 45)) {
    plot.append(svg('line', { class: 'gridline', x1: box.left, x2: box.right, y1: y(tick), y2: y(tick) }),
      svg('text', { x: box.left - 6, y: y(tick) + 4, 'text-anchor': 'end' }, yText(tick)));
  }
  for (const tick of xTicks || x.ticks(wide / 75)) {
    plot.append(svg('line', { class: 'axis', x1: x(tick), x2: x(tick), y1: box.bottom, y2: box.bottom + 4 }),
      svg('text', { x: x(tick), y: box.bottom + 17, 'text-anchor': 'middle' }, xText(tick)));
  }
  plot.append(svg('line', { class: 'axis', x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }),
    svg('text', { x: box.right, y: box.bottom + 34, 'text-anchor': 'end' }, xWords),
    svg('text', { x: 2, y: box.top - 13 }, yWords));
}
const label = (x, y, text, attributes = {}) => svg('text', { class: 'halo', x, y, ...attributes }, text);
const mark = (x, y, r, words, attributes = {}) => svg('circle', { cx: x, cy: y, r, ...attributes }, svg('title', {}, words));
function plotOf(width, height, words) {
  return svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': words });
}

// ---- what runs and benchmarks share ----

function machineSheet(machine) {
  if (!machine) return null;
  const rows = [
    ['processor', [machine.cpu, machine.family].filter(Boolean).join(', ')],
    ['threads', machine.threads],
    ['vectors', known(machine.vector_bits) ? `${machine.vector_bits} bits, ${machine.vector_registers} registers` : ''],
    ['caches', ['l1', 'l2', 'l3'].filter((l) => bytes(machine[l])).map((l) => `${l.toUpperCase()} ${bytes(machine[l])}`).join(', ')],
    ['peak, one core', known(machine.gflops) ? `${digits(machine.gflops)} GFLOP/s (f32)` : ''],
    ['memory, one core', known(machine.memory_gbs) ? `${digits(machine.memory_gbs)} GB/s` : ''],
    ['memory, all threads', known(machine.memory_gbs_all) ? `${digits(machine.memory_gbs_all)} GB/s` : ''],
    ['compiler', machine.compiler],
    ['flags', machine.flags],
  ].filter(([, value]) => value);
  return card(html('dl', {}, rows.map(([name, value]) => [html('dt', {}, name), html('dd', {}, String(value))])));
}
// Figures that others publish: rows of [whose, figures of doc/metrics.md].
function figureTables(rows) {
  const two = (value) => (known(value) ? value.toFixed(2) : '');
  const best = rows.flatMap(([name, f]) => f.best_of.filter((at) => known(at.build)).map((at) => [name, String(at.k), percent(at.build), percent(at.pass),
    known(at.speedup) ? factor(at.speedup) : '', two(at.efficiency), two(at.perf)]));
  return [table([['', true], ['kernels judged', false], ['compile rate', false], ['correctness rate', false], ['SOL score', false], ['area under best-so-far', false], ['CodeBLEU to the start', false]],
    rows.map(([name, f]) => [name, String(f.attempts), percent(f.compile_rate), percent(f.correct_rate), two(f.sol_score), known(f.area) ? factor(f.area) : '', two(f.code_bleu)])),
  best.length > 0 && table([['', true], ['k', false], ['build@k', false], ['pass@k', false], ['speedup@k', false], ['efficiency@k', false], ['Perf@k', false]], best),
  caption(`Over the kernels that were judged, against ${rows[0][1].baseline || 'no baseline'}; what is not defined is left out. Each definition: doc/metrics.md.`)];
}
function codeBlock(text) {
  return html('pre', { tabindex: 0 }, text);
}
function diffBlock(text) {
  const kind = (line) => (line.startsWith('@@') || line.startsWith('---') || line.startsWith('+++') ? 'hunk'
    : line.startsWith('+') ? 'add' : line.startsWith('-') ? 'del' : null);
  return html('pre', { tabindex: 0 }, text.replace(/\n$/, '').split('\n').map((line) => html('span', { class: kind(line) }, line)));
}
function repeats() {
  section('How to repeat', card(html('dl', {}, data.commands.map(([what, command]) =>
    [html('dt', {}, what), html('dd', {}, html('code', {}, command))]))));
}
function footer() {
  page.append(html('footer', {},
    `Made by hone ${data.hone} on ${data.made}. One file, no network. The data of every figure stands in this page as JSON (element `,
    html('code', {}, '#data'), ').'));
  for (const update of drawings) update();
}
