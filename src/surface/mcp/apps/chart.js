// A picture is taken apart and built anew from what drawings are made of: shapes and texts, with plain values. Scripts,
// styles, links, images and everything else are left out.
const SVG = 'http://www.w3.org/2000/svg';
const PARTS = new Set(['svg', 'g', 'title', 'desc', 'rect', 'line', 'path', 'circle', 'text']);
const PLAIN = /^[\w\s.,%()+-]*$/;
const VALUES = {
  fill: /^(none|#[0-9a-f]{3,8})$/i,
  stroke: /^(none|#[0-9a-f]{3,8})$/i,
  class: /^(dg-[fk]-[a-z0-9]+ ?)+$/,
  role: /^img$/,
  'aria-label': /^[^]*$/,
  transform: /^rotate\([-\d. ]+\)$/,
};
for (const name of ['x', 'y', 'x1', 'y1', 'x2', 'y2', 'width', 'height', 'rx', 'cx', 'cy', 'r', 'd', 'viewBox',
  'stroke-width', 'stroke-linejoin', 'stroke-linecap', 'stroke-dasharray', 'fill-opacity', 'font-size', 'font-weight',
  'text-anchor']) VALUES[name] = PLAIN;

function rebuilt(node, depth = 0) {
  if (node.namespaceURI !== SVG || !PARTS.has(node.localName) || depth > 8) return undefined;
  const made = document.createElementNS(SVG, node.localName);
  for (const { name, value } of node.attributes) {
    if (VALUES[name] && VALUES[name].test(value)) made.setAttribute(name, value);
  }
  for (const child of node.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) made.append(child.data);
    if (child.nodeType === Node.ELEMENT_NODE) {
      const part = rebuilt(child, depth + 1);
      if (part) made.append(part);
    }
  }
  return made;
}

function picture(text) {
  const root = new DOMParser().parseFromString(String(text), 'image/svg+xml').documentElement;
  const svg = root.localName === 'svg' ? rebuilt(root) : undefined;
  if (!svg) return undefined;
  const box = element('div', undefined, 'picture');
  box.append(svg);
  return box;
}

function picturesOf(result) {
  const given = result.structuredContent || {};
  const beside = (result._meta || {})['dragoman/svg'];
  const charts = given.charts || (given.chartSpecs || {}).charts || [];
  const texts = Array.isArray(beside) ? beside : charts.map((chart) => chart && chart.svg).filter(Boolean);
  return texts.map(picture).filter(Boolean);
}

function asked(request) {
  const parts = request.questions.flatMap((question) => {
    const list = element('ul');
    list.append(...(question.suggestions || []).map((suggestion) => element('li', String(suggestion))));
    return [element('p', String(question.question)), list];
  });
  view.replaceChildren(...parts, element('p', 'Answer in the conversation.', 'soft'));
}

function show(result) {
  const given = result.structuredContent || {};
  if (given.clarificationRequest && Array.isArray(given.clarificationRequest.questions)) {
    asked(given.clarificationRequest);
    return;
  }
  const pictures = result.isError ? [] : picturesOf(result);
  const data = result.isError ? undefined : dataOf(result);
  if (pictures.length === 0 && data) {
    view.replaceChildren(tableOf(data));
  } else if (pictures.length === 0) {
    say(firstText(result) || 'There is nothing to show; the answer is in the text.');
  } else if (!data) {
    view.replaceChildren(...pictures);
  } else {
    const toggle = element('button', 'Show the table', 'plain');
    toggle.type = 'button';
    toggle.setAttribute('aria-expanded', 'false');
    const table = tableOf(data);
    table.hidden = true;
    table.style.marginTop = '8px';
    toggle.addEventListener('click', () => {
      table.hidden = !table.hidden;
      toggle.textContent = table.hidden ? 'Show the table' : 'Hide the table';
      toggle.setAttribute('aria-expanded', String(!table.hidden));
    });
    view.replaceChildren(...pictures, toggle, table);
  }
}

start('dragoman-chart');
