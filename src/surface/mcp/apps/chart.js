// A chart with its legend, its order, its tips and its numbers as CSV.
const KINDS = { bar: bars, line: lines, pie: ring, scatter: cloud };
const WORDS = { bar: 'Bar chart', line: 'Line chart', pie: 'Pie chart', scatter: 'Scatter chart' };
const ORDERS = { given: 'As answered', most: 'Largest first', least: 'Smallest first', name: 'A to Z' };

// Whether it is one that can be drawn.
function isChart(spec) {
  const numbers = (list) => Array.isArray(list) && list.every((one) => one === null || Number.isFinite(one));
  if (!spec || typeof spec !== 'object') return false;
  const { type, categories, series, slices, points } = spec;
  if (type === 'pie') return Array.isArray(slices) && slices.length > 0 && slices.every((slice) => slice && slice.value >= 0) && slices.some((slice) => slice.value > 0);
  if (type === 'scatter') return Array.isArray(points) && points.length > 0 && points.every((point) => point && Number.isFinite(point.x) && Number.isFinite(point.y));
  return (type === 'bar' || type === 'line') && Array.isArray(categories) && categories.length > 0 && Array.isArray(series) &&
    series.length > 0 && series.every((one) => one && numbers(one.data) && one.data.length === categories.length);
}

// What is drawn of a chart: the series that are not hidden, the categories in their order.
function modelOf(spec, hidden, order) {
  const names = (spec.categories || []).map(String);
  const model = { names, layout: spec.layout, xName: spec.xAxisLabel, yName: spec.yAxisLabel };
  if (spec.type === 'scatter') {
    const points = spec.points.map((point) => ({ ...point, label: isNone(point.label) ? undefined : String(point.label) }));
    const step = Math.ceil(points.length / MOST_POINTS);
    model.points = points.filter((_, at) => at % step === 0).sort((a, b) => a.x - b.x || a.y - b.y);
    if (step > 1) model.note = `${grouped(String(model.points.length))} of ${grouped(String(points.length))} points are drawn`;
    return model;
  }
  if (spec.type === 'pie') {
    model.total = spec.slices.reduce((sum, slice) => sum + slice.value, 0);
    const percent = Math.abs(model.total - 100) < 0.5;
    model.sum = percent ? undefined : short(model.total);
    model.slices = spec.slices.map(({ label, value }, at) => {
      const part = (value / model.total) * 100;
      const share = part > 0 && part < 0.05 ? '<0.1%' : `${full(Math.round(part * 10) / 10)}%`;
      return { at, label: String(label), value, hidden: hidden.has(at), share, worth: percent ? '' : full(value) };
    });
    const by = sorter(order, (slice) => slice.value, (slice) => slice.label);
    if (by) model.slices.sort(by);
    return model;
  }
  model.series = spec.series.map(({ label, data }, at) => ({ label: String(label), data, at })).filter(({ at }) => !hidden.has(at));
  model.order = names.map((_, at) => at);
  if (spec.type === 'bar') {
    const first = model.series[0].data;
    const by = sorter(order, (at) => first[at], (at) => names[at]);
    if (by) model.order.sort(by);
    const most = Math.max(1, Math.floor(MOST_BARS / model.series.length));
    if (names.length > most) {
      model.order = model.order.slice(0, most);
      model.note = `The first ${grouped(String(most))} of ${grouped(String(names.length))} are drawn`;
    }
  }
  return model;
}

function sorter(order, value, name) {
  const compare = (turn) => (a, b) => isNone(value(a)) - isNone(value(b)) || (isNone(value(a)) ? 0 : turn * (value(a) - value(b)));
  return { most: compare(-1), least: compare(1), name: (a, b) => collator.compare(name(a), name(b)) }[order];
}

function chartCsv(spec, model) {
  if (spec.type === 'scatter') {
    const named = model.points.some((point) => point.label !== undefined);
    const names = [...(named ? ['Name'] : []), model.xName || 'x', model.yName || 'y'];
    return csvOf(names, spec.points.map(({ x, y, label }) => (named ? [label, x, y] : [x, y])));
  }
  if (spec.type === 'pie') {
    return csvOf(['Name', 'Value'], model.slices.filter((slice) => !slice.hidden).map(({ label, value }) => [label, value]));
  }
  const rows = model.order.map((at) => [model.names[at], ...model.series.map(({ data }) => data[at])]);
  return csvOf([model.xName || 'Category', ...model.series.map(({ label }) => label)], rows);
}

// A chart in words, for those who do not see it.
function summaryOf(spec, model) {
  const kind = WORDS[spec.type];
  if (spec.type === 'scatter') return `${kind} of ${counted(model.points.length, 'point', 'points')}.`;
  if (spec.type === 'pie') return `${kind}. ${model.slices.map(({ label, share }) => `${label}: ${share}`).join(', ')}.`;
  const extremes = model.series.slice(0, 6).map(({ label, data }) => {
    const there = model.order.filter((at) => !isNone(data[at])).sort((a, b) => data[a] - data[b]);
    if (there.length === 0) return `${label}: no values.`;
    const [low, high] = [there[0], there[there.length - 1]];
    return `${label}: lowest ${full(data[low])} (${model.names[low]}), highest ${full(data[high])} (${model.names[high]}).`;
  });
  return `${kind} of ${counted(model.order.length, 'value', 'values')}. ${extremes.join(' ')}`;
}

function chartOf(spec, number) {
  const box = element('section', undefined, `chart ${spec.type}`);
  const heading = element('h2', String(spec.title || 'Chart'));
  heading.id = `chart-${number}`;
  box.setAttribute('aria-labelledby', heading.id);
  const strip = element('div', undefined, 'strip');
  const tools = element('div', undefined, 'tools');
  const plot = element('div', undefined, 'plot');
  const note = element('p', undefined, 'soft note');
  const hidden = new Set();
  let order = 'given';
  let model = modelOf(spec, hidden, order);

  const redraw = () => {
    model = modelOf(spec, hidden, order);
    draw(spec, model, plot);
    note.textContent = model.note || '';
    note.hidden = !model.note;
  };
  if (spec.type === 'pie' || (spec.type === 'bar' && spec.categories.length > 2)) {
    tools.append(orderOf((chosen) => { order = chosen; redraw(); announce(`Sorted: ${ORDERS[order]}.`); }));
  }
  tools.append(...csvButtons(() => chartCsv(spec, model), 'chart', () => strip, true));
  strip.append(heading, tools);
  box.append(strip);
  const legend = legendOf(spec, model, hidden, redraw);
  const around = element('div', undefined, 'around');
  if (legend) around.append(legend);
  around.append(plot);
  box.append(around, note);
  pointing(plot);
  let drawnAt = 0;
  new ResizeObserver(() => {
    if (plot.clientWidth === drawnAt || plot.clientWidth === 0) return;
    drawnAt = plot.clientWidth;
    redraw();
  }).observe(plot);
  let mode = root.dataset.mode;
  heeding.push(() => {
    if (mode === root.dataset.mode || !plot.isConnected) return;
    mode = root.dataset.mode;
    if (plot.clientWidth > 0) redraw();
  });
  return box;
}

function orderOf(choose) {
  const select = element('select', undefined, 'plain');
  select.setAttribute('aria-label', 'Order');
  select.append(...Object.entries(ORDERS).map(([value, text]) => {
    const option = element('option', text);
    option.value = value;
    return option;
  }));
  select.addEventListener('change', () => choose(select.value));
  return select;
}

// Names of series, or of slices: pressed, one goes and comes back.
function legendOf(spec, model, hidden, redraw) {
  const entries = spec.type === 'pie' ? model.slices : spec.series || [];
  if (entries.length < 2) return undefined;
  const box = element('div', undefined, 'legend');
  box.setAttribute('role', 'group');
  box.setAttribute('aria-label', spec.type === 'pie' ? 'Parts' : 'Series');
  const keys = entries.map((entry, at) => {
    const key = element('button', undefined, 'key');
    key.type = 'button';
    key.setAttribute('aria-pressed', 'true');
    key.title = 'Hide or show';
    const swatch = element('span', undefined, `swatch ${hue(at, String(entry.label))}${spec.type === 'line' ? ' thin' : ''}`);
    key.append(swatch, element('span', String(entry.label), 'name'));
    if (entry.share) key.append(element('span', entry.worth ? `${entry.share} · ${entry.worth}` : entry.share, 'share'));
    key.addEventListener('click', () => {
      hidden.has(at) ? hidden.delete(at) : hidden.add(at);
      const all = hidden.size === entries.length;
      if (all) hidden.clear();
      keys.forEach((other, of) => other.setAttribute('aria-pressed', String(!hidden.has(of))));
      redraw();
      announce(all ? 'All are shown.' : `${entry.label} is ${hidden.has(at) ? 'hidden' : 'shown'}.`);
    });
    return key;
  });
  box.append(...keys);
  return box;
}

// Draws a chart as wide as its place, and keeps what can be pointed at with it.
function draw(spec, model, plot) {
  const width = plot.clientWidth;
  const whole = root.dataset.mode === 'fullscreen';
  const alone = plot.closest('.charts').children.length === 1;
  const tall = whole && alone ? Math.min(Math.max(window.innerHeight - 340, 220), 560) : width < 420 ? 190 : 240;
  const marked = drawn('g', {});
  const marks = drawn('g', {});
  const { height, stops } = KINDS[spec.type](marks, model, width, tall);
  const svg = drawn('svg', { viewBox: `0 0 ${width} ${Math.ceil(height)}`, width, height: Math.ceil(height), 'aria-hidden': 'true' });
  svg.append(...(spec.type === 'bar' ? [marked, marks] : [marks, marked]));
  const tip = element('div', undefined, 'tip');
  tip.hidden = true;
  plot.replaceChildren(svg, tip);
  plot.setAttribute('aria-label', `${spec.title || 'Chart'}. ${summaryOf(spec, model)}`);
  plot.stops = { all: stops, at: -1, marked, tip };
}

// Tips for mouse, touch and keyboard. The picture is one stop of the tab key; the arrow keys go through what it shows.
function pointing(plot) {
  plot.tabIndex = 0;
  plot.setAttribute('role', 'application');
  plot.setAttribute('aria-roledescription', 'chart');
  plot.setAttribute('aria-describedby', 'keys');
  const near = (event) => {
    const { left, top } = plot.getBoundingClientRect();
    const far = plot.stops.all.map((stop) => stop.far(event.clientX - left, event.clientY - top));
    const least = far.reduce((best, value, at) => (value < far[best] ? at : best), 0);
    return far[least] < Infinity ? least : -1;
  };
  plot.addEventListener('pointermove', (event) => point(plot, near(event)));
  plot.addEventListener('pointerdown', (event) => point(plot, near(event)));
  plot.addEventListener('pointerleave', (event) => { if (event.pointerType === 'mouse') point(plot, -1); });
  plot.addEventListener('blur', () => point(plot, -1));
  document.addEventListener('pointerdown', (event) => {
    if (plot.isConnected && plot.stops && !plot.contains(event.target)) point(plot, -1);
  });
  plot.addEventListener('keydown', (event) => {
    const { all, at } = plot.stops;
    const last = all.length - 1;
    const next = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at < 0 ? last : at - 1, ArrowUp: at < 0 ? last : at - 1, Home: 0, End: last, Escape: -1 }[event.key];
    if (next === undefined || (event.key === 'Escape' && at < 0)) return;
    event.preventDefault();
    point(plot, event.key === 'Escape' ? -1 : Math.min(Math.max(next, 0), last));
    const stop = all[plot.stops.at];
    if (stop) announce(`${stop.title}${stop.title ? ': ' : ''}${stop.rows.map(({ label, text }) => `${label} ${text}`).join(', ')}`);
  });
}

const TOLD = 12;

// Marks one stop and shows its tip beside it, inside the chart.
function point(plot, at) {
  const { stops } = plot;
  if (!stops || stops.at === at) return;
  stops.at = at;
  const { tip, marked, all } = stops;
  const stop = all[at];
  marked.replaceChildren(...(stop ? [stop.mark()] : []));
  tip.hidden = !stop;
  if (!stop) return;
  const rows = stop.rows.slice(0, TOLD).map(({ hue, label, text }) => {
    const row = element('div', undefined, 'told');
    if (hue) row.append(element('span', undefined, `swatch ${hue}`));
    row.append(element('span', label, 'name'), element('strong', text));
    return row;
  });
  if (stop.rows.length > TOLD) rows.push(element('div', `and ${stop.rows.length - TOLD} more`, 'soft'));
  tip.replaceChildren(...(stop.title ? [element('div', stop.title, 'title')] : []), ...rows);
  const [x, y] = stop.at;
  const [room, size, tall] = [plot.clientWidth, tip.offsetWidth, tip.offsetHeight];
  const left = stop.below ? x - size / 2 : x + 14 + size <= room ? x + 14 : x - 14 - size;
  const top = stop.below ? (y + 16 + tall <= plot.clientHeight ? y + 16 : y - 16 - tall) : y - tall / 2;
  tip.style.left = `${Math.round(Math.min(Math.max(left, 0), Math.max(room - size, 0)))}px`;
  tip.style.top = `${Math.round(Math.min(Math.max(top, 0), Math.max(plot.clientHeight - tall, 0)))}px`;
}
