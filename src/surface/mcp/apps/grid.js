// The rows of a result: sorted by the head of a column, drawn as far as somebody scrolls.
const STEP = 100;
const WIDEST = 40;

function gridOf(data, name, more) {
  const columns = columnsOf(data);
  const box = element('div', undefined, 'scroll');
  box.tabIndex = 0;
  box.setAttribute('role', 'region');
  box.setAttribute('aria-label', 'Rows of the result');
  const table = element('table');
  const body = element('tbody');
  const end = element('div', undefined, 'end');
  let rows = data.rows;
  let order;

  function line(row, at) {
    const made = element('tr');
    made.setAttribute('aria-rowindex', at + 2);
    made.append(...columns.map((column, at) => cell(column, row[at])));
    return made;
  }

  function grow(to) {
    const from = body.children.length;
    body.append(...rows.slice(from, to).map((row, at) => line(row, from + at)));
  }

  function refill() {
    body.replaceChildren();
    grow(STEP);
    box.scrollTop = 0;
  }

  function sort(at, head) {
    const column = columns[at];
    const was = order && order.at === at ? order : undefined;
    order = was && was.descending ? undefined : { at, descending: Boolean(was) };
    for (const other of head.parentNode.children) other.removeAttribute('aria-sort');
    if (order) head.setAttribute('aria-sort', order.descending ? 'descending' : 'ascending');
    rows = order ? sorted(data.rows, at, column.compare, order.descending) : data.rows;
    refill();
    announce(order ? `Sorted by ${column.name}, ${order.descending ? 'descending' : 'ascending'}.` : 'In the order of the result.');
  }

  const heads = element('tr');
  heads.append(...columns.map((column, at) => {
    const head = element('th', undefined, column.kind);
    const press = element('button');
    press.type = 'button';
    press.append(element('span', column.name, 'name'));
    if (column.type && !data.told) press.append(element('span', column.type, 'type'));
    press.addEventListener('click', () => sort(at, head));
    // As wide as its longest value, so that no column moves when rows are drawn later.
    const longest = data.rows.reduce((most, row) => Math.max(most, isNone(row[at]) ? 4 : column.write(row[at]).length), 0);
    head.style.minWidth = `min(${Math.min(longest, WIDEST) + 3}ch, 45vw)`;
    head.scope = 'col';
    head.append(press);
    return head;
  }));
  const top = element('thead');
  top.append(heads);
  table.append(top, body);
  table.setAttribute('aria-rowcount', data.rows.length + 1);
  box.append(table, end);
  if (data.rows.length === 0) box.append(element('p', 'No rows.', 'soft nothing'));
  new IntersectionObserver((seen) => {
    if (seen.some((one) => one.isIntersecting)) grow(body.children.length + STEP);
  }, { root: box, rootMargin: '0px 0px 600px 0px' }).observe(end);
  grow(STEP);
  const edge = () => { box.dataset.more = String(box.scrollWidth - box.clientWidth - box.scrollLeft > 2); };
  box.addEventListener('scroll', edge, { passive: true });
  new ResizeObserver(edge).observe(box);

  const whole = element('section', undefined, 'rows');
  whole.setAttribute('aria-label', 'Table');
  const strip = element('div', undefined, 'strip');
  const tools = element('div', undefined, 'tools');
  tools.append(...csvButtons(() => csvOf(columns.map((column) => column.name), rows), name, () => strip));
  if (more) tools.prepend(more);
  strip.append(countOf(data), tools);
  whole.append(strip, box);
  return whole;
}

function cell(column, value) {
  const made = element('td', undefined, column.kind);
  if (isNone(value)) {
    made.append(element('span', 'NULL', 'null'));
    return made;
  }
  const text = column.write(value);
  const exact = plain(value);
  if (column.kind === 'text' || column.kind === 'json') {
    made.append(element('div', text, 'clip'));
    if (exact.length > WIDEST) made.title = exact;
  } else {
    made.textContent = text;
    if (text.replaceAll(',', '') !== exact && column.kind === 'number') made.title = exact;
  }
  return made;
}

// How many rows there are, and whether these are all.
function countOf(data) {
  const here = data.rows.length;
  const all = data.total_rows ?? data.rowCount ?? data.row_count ?? here;
  const size = counted(data.columns.length, 'column', 'columns');
  const part = data.truncated && all <= here;
  const rows = all > here ? `${grouped(String(here))} of ${counted(all, 'row', 'rows')}` : counted(here, 'row', 'rows');
  const made = element('p', undefined, 'count');
  made.append(element('strong', part ? `First ${rows}` : rows), element('span', ` · ${size}`));
  if (part) made.append(element('span', ' · there are more', 'warn'));
  return made;
}
