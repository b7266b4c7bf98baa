// What a chart draws into its picture. Each kind gives the height that it took, and its stops: what can be pointed at,
// with the place of its tip, what the tip says, how far a pointer is from it, and what marks it.
const HUES = 12;
const MOST_BARS = 600;
const MOST_POINTS = 3000;
const hue = (at, label) => (label === 'Other' ? 'other' : `s${at % HUES}`);

function label(at, text, more) {
  const [x, y] = at;
  return drawn('text', { x: x.toFixed(1), y: y.toFixed(1), class: 'soft', ...more }, text);
}

function line(from, to, className) {
  const [x1, y1, x2, y2] = [...from, ...to].map((value) => value.toFixed(1));
  return drawn('line', { x1, y1, x2, y2, class: className });
}

// A bar with its far end rounded.
function bar(x, y, width, height, end, className) {
  const r = Math.min(3, Math.abs(width) / 2, Math.abs(height) / 2);
  const [l, t, w, h] = [x, y, Math.max(width, 0), Math.max(height, 0)];
  const corners = { top: [r, r, 0, 0], bottom: [0, 0, r, r], right: [0, r, r, 0], left: [r, 0, 0, r] }[end];
  const [a, b, c, d] = corners;
  const path = `M${l + a} ${t}H${l + w - b}q${b} 0 ${b} ${b}V${t + h - c}q0 ${c} ${-c} ${c}H${l + d}q${-d} 0 ${-d} ${-d}V${t + a}q0 ${-a} ${a} ${-a}Z`;
  return drawn('path', { d: path, class: className });
}

// The rows of a tip: each series' value at a category.
function rowsAt(model, category) {
  return model.series.map(({ label, data, at }) => ({
    hue: hue(at, label), label, text: isNone(data[category]) ? 'no value' : full(data[category]),
  }));
}

function uprightAxis(to, scale, area, name) {
  if (name) to.append(label([0, 12], fitted(name, area.right)));
  ticksOf(scale).forEach((text, at) => {
    const y = area.bottom - scale.place(scale.ticks[at]) * (area.bottom - area.top);
    to.append(line([area.left, y], [area.right, y], 'grid'), label([area.left - 8, y + 4], text, { 'text-anchor': 'end' }));
  });
}

function levelAxis(to, scale, area) {
  const texts = ticksOf(scale);
  const room = (area.right - area.left) / Math.max(texts.length - 1, 1);
  const every = Math.ceil((Math.max(...texts.map((text) => wide(text))) + 10) / room);
  texts.forEach((text, at) => {
    const x = area.left + scale.place(scale.ticks[at]) * (area.right - area.left);
    to.append(line([x, area.top], [x, area.bottom], 'grid'));
    const half = wide(text) / 2;
    const held = Math.min(Math.max(x, half), area.edge - half);
    if (at % every === 0) to.append(label([held, area.bottom + 17], text, { 'text-anchor': 'middle' }));
  });
}

// Names of categories below the axis: all, in up to two lines where two are given, or else as many as have room.
function namesBelow(to, names, xs, room, area, two) {
  const held = (at, half) => Math.min(Math.max(xs[at], half), area.edge - half);
  const lines = two ? names.map((name) => wrapped(name, room - 6)) : [undefined];
  if (lines.every(Boolean)) {
    lines.forEach((parts, at) => parts.forEach((text, of) => {
      to.append(label([held(at, wide(text) / 2), area.bottom + 17 + 14 * of], text, { 'text-anchor': 'middle' }));
    }));
    return area.bottom + 17 + 14 * (Math.max(...lines.map((parts) => parts.length)) - 1);
  }
  const cut = names.map((name) => fitted(name, 110));
  const widest = Math.max(...cut.map((name) => wide(name))) + 14;
  const every = [1, 2, 3, 4, 6, 12, 24, 36, 60, 120, 240, 600].find((count) => count * room >= widest) || Math.ceil(widest / room);
  cut.forEach((name, at) => {
    if (at % every !== 0) return;
    to.append(line([xs[at], area.bottom], [xs[at], area.bottom + 4], 'axis'));
    to.append(label([held(at, wide(name) / 2), area.bottom + 18], name, { 'text-anchor': 'middle' }));
  });
  return area.bottom + 18;
}

function underAxis(to, name, area, y) {
  if (!name) return y + 8;
  const text = fitted(name, area.edge);
  const half = wide(text) / 2;
  const middle = Math.min(Math.max((area.left + area.right) / 2, half), area.edge - half);
  to.append(label([middle, y + 20], text, { 'text-anchor': 'middle' }));
  return y + 28;
}

function valuesOf(model) {
  return model.series.flatMap(({ data }) => model.order.map((at) => data[at])).filter((value) => !isNone(value));
}

// Bars. Upright ones whose names have no room are laid down.
function bars(to, model, width, tall) {
  const names = model.order.map((at) => model.names[at]);
  const upright = model.layout !== 'horizontal';
  const fits = names.every((name) => wrapped(name, (width - 50) / names.length - 6));
  return upright && (fits || names.length > 30) ? standing(to, model, names, width, tall) : lying(to, model, names, width, tall);
}

function standing(to, model, names, width, tall) {
  const scale = scaleOf(valuesOf(model), true, 5);
  const many = model.series.length;
  const left = Math.max(...ticksOf(scale).map((text) => wide(text))) + 8;
  const band = (width - left) / names.length;
  const shorts = many === 1 ? model.order.map((at) => (isNone(model.series[0].data[at]) ? '–' : short(model.series[0].data[at]))) : [];
  const valued = many === 1 && shorts.every((text) => wide(text, 11) < band - 2);
  const top = (model.yName ? 22 : 4) + (valued ? 14 : 4);
  const area = { left, right: width, edge: width, top, bottom: top + tall };
  uprightAxis(to, scale, area, model.yName);
  const level = (value) => area.bottom - scale.place(value) * tall;
  const gap = Math.min(Math.max(band * 0.24, 1), 40);
  const thick = Math.min((band - gap) / Math.max(many, 1), 64);
  const xs = names.map((_, at) => left + band * (at + 0.5));
  const stops = names.map((name, place) => {
    const at = model.order[place];
    const start = xs[place] - (thick * many) / 2;
    let highest = level(0);
    model.series.forEach((one, of) => {
      const value = one.data[at];
      if (isNone(value)) return;
      const y = level(value);
      highest = Math.min(highest, y);
      const size = Math.max(Math.abs(y - level(0)), value === 0 ? 0 : 1);
      to.append(bar(start + thick * of, Math.min(y, level(0)), Math.max(many > 1 ? thick - 1 : thick, 0.8), size,
        value < 0 ? 'bottom' : 'top', `mark ${hue(one.at, one.label)}`));
    });
    if (valued) {
      const below = model.series[0].data[at] < 0;
      to.append(label([xs[place], below ? level(model.series[0].data[at]) + 14 : highest - 6], shorts[place],
        { 'text-anchor': 'middle', class: 'value' }));
    }
    return {
      title: name, get rows() { return rowsAt(model, at); }, at: [xs[place], highest], far: (x, y) => (y > area.bottom + 40 ? Infinity : Math.abs(x - xs[place])),
      mark: () => drawn('rect', { x: xs[place] - band / 2, y: area.top, width: band, height: tall, class: 'band' }),
    };
  });
  to.append(line([left, level(0)], [width, level(0)], 'axis'));
  const bottom = namesBelow(to, names, xs, band, { ...area, bottom: area.bottom + (valued && scale.from < 0 ? 8 : 0) }, true);
  return { height: underAxis(to, model.xName, area, bottom), stops };
}

function lying(to, model, names, width, tall) {
  const many = model.series.length;
  const scale = scaleOf(valuesOf(model), true, width < 420 ? 3 : 6);
  const room = Math.min(Math.max(...names.map((name) => wide(name))), width * 0.36, 230);
  const shorts = many === 1 ? model.order.map((at) => (isNone(model.series[0].data[at]) ? '–' : short(model.series[0].data[at]))) : [];
  const longest = Math.max(0, ...shorts.map((text) => wide(text, 11) + 10));
  const thick = many > 1 ? Math.min(Math.max(34 / many, 8), 14) : Math.min(Math.max((tall / names.length) * 0.6, 18), 28);
  const pitch = thick * many + (many > 1 ? 12 : 9);
  const top = model.xName ? 22 : 2;
  const before = scale.from < 0 ? longest : 0;
  const area = { left: room + 10 + before, right: width - longest - 2, edge: width, top, bottom: top + pitch * names.length + 4 };
  if (model.xName) to.append(label([0, 12], fitted(model.xName, width)));
  levelAxis(to, scale, area);
  const across = (value) => area.left + scale.place(value) * (area.right - area.left);
  const stops = names.map((name, place) => {
    const at = model.order[place];
    const y = top + 5 + pitch * place;
    const middle = y + (thick * many) / 2;
    to.append(label([room, middle + 4], fitted(name, room), { 'text-anchor': 'end', class: 'ink' }));
    let end = across(0);
    model.series.forEach((one, of) => {
      const value = one.data[at];
      if (isNone(value)) return;
      const x = across(value);
      end = Math.max(end, x);
      const size = Math.max(Math.abs(x - across(0)), value === 0 ? 0 : 1);
      to.append(bar(Math.min(x, across(0)), y + thick * of, size, many > 1 ? thick - 1 : thick,
        value < 0 ? 'left' : 'right', `mark ${hue(one.at, one.label)}`));
    });
    if (many === 1) {
      const value = model.series[0].data[at];
      const beside = value < 0 ? [across(value) - 6, 'end'] : [end + 6, 'start'];
      to.append(label([beside[0], middle + 4], shorts[place], { 'text-anchor': beside[1], class: 'value' }));
    }
    return {
      title: name, get rows() { return rowsAt(model, at); }, at: [end, middle], below: true, far: (_, y) => Math.abs(y - middle),
      mark: () => drawn('rect', { x: 0, y: middle - pitch / 2, width, height: pitch, class: 'band' }),
    };
  });
  to.append(line([across(0), area.top], [across(0), area.bottom], 'axis'));
  return { height: underAxis(to, model.yName, area, area.bottom + 17), stops };
}

// Of equal stretches the lowest and the highest point, which keeps every spike.
function thinned(points, most) {
  if (points.length <= most) return points;
  const size = Math.ceil((points.length * 2) / most);
  const kept = [];
  for (let at = 0; at < points.length; at += size) {
    const stretch = points.slice(at, at + size);
    const by = (better) => stretch.reduce((best, point) => (better(point[1], best[1]) ? point : best));
    const [low, high] = [by((a, b) => a < b), by((a, b) => a > b)];
    kept.push(...(low === high ? [low] : [low, high].sort((a, b) => a[0] - b[0])));
  }
  return kept;
}

function lines(to, model, width, tall) {
  const scale = scaleOf(valuesOf(model), false, 5);
  const cut = scale.from > 0 ? `axis begins at ${ticksOf(scale)[0]}` : undefined;
  const name = [model.yName, cut].filter(Boolean).join(' · ');
  const left = Math.max(...ticksOf(scale).map((text) => wide(text))) + 8;
  const top = name ? 26 : 8;
  const area = { left, right: width, edge: width, top, bottom: top + tall };
  uprightAxis(to, scale, area, name && name[0].toUpperCase() + name.slice(1));
  const count = model.names.length;
  const inner = Math.min(10, (width - left) / 4);
  const step = count > 1 ? (width - left - 2 * inner) / (count - 1) : 0;
  const xs = model.names.map((_, at) => (count > 1 ? left + inner + step * at : (left + width) / 2));
  const level = (value) => area.bottom - scale.place(value) * tall;
  if (scale.from < 0 && scale.to > 0) to.append(line([left, level(0)], [width, level(0)], 'axis'));
  for (const one of model.series.slice().reverse()) {
    const className = hue(one.at, one.label);
    const runs = [[]];
    one.data.forEach((value, at) => {
      if (isNone(value)) runs.push([]);
      else runs[runs.length - 1].push([xs[at], level(value)]);
    });
    for (const run of runs.filter((run) => run.length > 0)) {
      const points = thinned(run, Math.max(200, Math.round(width * 2)));
      const path = `M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L')}`;
      if (points.length > 1) {
        if (model.series.length === 1) {
          const ground = level(Math.min(Math.max(0, scale.from), scale.to)).toFixed(1);
          to.append(drawn('path', { d: `${path}V${ground}H${points[0][0].toFixed(1)}Z`, class: `under ${className}` }));
        }
        to.append(drawn('path', { d: path, class: `way ${className}${one.at < HUES ? '' : ' dashed'}` }));
      }
      if (step > 14 || points.length === 1) {
        for (const [x, y] of points) to.append(drawn('circle', { cx: x.toFixed(1), cy: y.toFixed(1), r: 3, class: `mark ${className}` }));
      }
    }
  }
  to.append(line([left, area.bottom], [width, area.bottom], 'axis'));
  const bottom = namesBelow(to, model.names, xs, step || width - left, area, false);
  const stops = model.names.map((name, at) => {
    const places = () => model.series.filter(({ data }) => !isNone(data[at])).map((one) => [level(one.data[at]), hue(one.at, one.label)]);
    return {
      title: name,
      get rows() { return rowsAt(model, at); },
      get at() { return [xs[at], Math.min(area.top + tall / 2, ...places().map(([y]) => y))]; },
      far: (x, y) => (y > area.bottom + 40 ? Infinity : Math.abs(x - xs[at])),
      mark: () => {
        const group = drawn('g', {});
        group.append(line([xs[at], area.top], [xs[at], area.bottom], 'cross'));
        for (const [y, className] of places()) group.append(drawn('circle', { cx: xs[at], cy: y, r: 5, class: `dot ${className}` }));
        return group;
      },
    };
  });
  return { height: underAxis(to, model.xName, area, bottom), stops };
}

// Parts of a whole. What is hidden keeps its place as an outline: the parts are of the whole all the same.
function ring(to, model, width, tall) {
  const size = Math.min(width, tall + 20, 300);
  const [x, y, outer, inner] = [width / 2, size / 2, size / 2 - 6, size / 2 * 0.6];
  const around = (radius, part) => {
    const angle = 2 * Math.PI * (part - 0.25);
    return `${(x + radius * Math.cos(angle)).toFixed(2)} ${(y + radius * Math.sin(angle)).toFixed(2)}`;
  };
  let done = 0;
  const stops = [];
  for (const slice of model.slices) {
    const part = slice.value / model.total;
    const [from, until] = [done, Math.min(done + part, done + 0.99999)];
    const large = until - from > 0.5 ? 1 : 0;
    const wedge = (more) => `M${around(outer + more, from)}A${outer + more} ${outer + more} 0 ${large} 1 ${around(outer + more, until)}`
      + `L${around(inner, until)}A${inner} ${inner} 0 ${large} 0 ${around(inner, from)}Z`;
    const className = slice.hidden ? 'ghost' : `slice ${hue(slice.at, slice.label)}`;
    if (part > 0) to.append(drawn('path', { d: wedge(0), class: className }));
    if (!slice.hidden) {
      const middle = 2 * Math.PI * ((from + until) / 2 - 0.25);
      stops.push({
        title: slice.label, rows: [['Share', slice.share], ['Value', slice.worth]].filter(([, text]) => text).map(([label, text]) => ({ label, text })),
        at: [x + outer * 0.8 * Math.cos(middle), y + outer * 0.8 * Math.sin(middle)],
        far: (px, py) => {
          const away = Math.hypot(px - x, py - y);
          const turn = ((Math.atan2(py - y, px - x) / (2 * Math.PI) + 1.25) % 1);
          return away < inner * 0.9 || away > outer + 6 || turn < from || turn > until ? Infinity : 0;
        },
        mark: () => drawn('path', { d: wedge(5), class: className }),
      });
    }
    done += part;
  }
  if (model.sum) {
    to.append(label([x, y - 2], model.sum, { 'text-anchor': 'middle', class: 'figure' }), label([x, y + 16], 'in all', { 'text-anchor': 'middle' }));
  }
  return { height: size, stops };
}

function cloud(to, model, width, tall) {
  const [upright, level] = [scaleOf(model.points.map(({ y }) => y), false, 5), scaleOf(model.points.map(({ x }) => x), false, width < 420 ? 4 : 7)];
  const left = Math.max(...ticksOf(upright).map((text) => wide(text))) + 8;
  const top = model.yName ? 26 : 8;
  const area = { left, right: width - 10, edge: width, top, bottom: top + tall };
  uprightAxis(to, upright, area, model.yName);
  levelAxis(to, level, area);
  to.append(line([left, area.bottom], [area.right, area.bottom], 'axis'), line([left, area.top], [left, area.bottom], 'axis'));
  const small = model.points.length > 400;
  const taken = [];
  const stops = model.points.map(({ x, y, label: name }) => {
    const at = [left + level.place(x) * (area.right - left), area.bottom - upright.place(y) * tall];
    const [cx, cy] = at.map((value) => value.toFixed(1));
    to.append(drawn('circle', { cx, cy, r: small ? 3 : 5, class: `point s0${small ? ' many' : ''}` }));
    const rows = [[model.xName || 'Across', x], [model.yName || 'Upright', y]].map(([label, value]) => ({ label, text: full(value) }));
    return {
      title: name || '', rows, at, far: (x, y) => { const far = Math.hypot(x - at[0], y - at[1]); return far > 28 ? Infinity : far; },
      mark: () => drawn('circle', { cx, cy, r: 7, class: 'dot s0' }),
    };
  });
  if (stops.length <= 25) {
    for (const { title, at: [x, y] } of stops) {
      const name = fitted(title, 110, 11);
      const room = wide(name, 11);
      const start = x + 8 + room <= width ? x + 8 : x - 8 - room;
      const box = [start - 2, start + room + 2, y];
      const covers = taken.some(([from, to, at]) => box[0] < to && box[1] > from && Math.abs(y - at) < 13)
        || stops.some(({ at }) => at[0] > box[0] - 4 && at[0] < box[1] + 4 && Math.abs(at[1] - y) < 9 && at[0] !== x);
      if (!name || covers) continue;
      taken.push(box);
      to.append(label([start, y + 4], name, { class: 'value' }));
    }
  }
  return { height: underAxis(to, model.xName, area, area.bottom + 17), stops };
}
