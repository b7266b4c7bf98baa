// A result, as charts, rows and words.
function textsOf(result) {
  return (result.content || []).filter((block) => block && block.type === 'text').map((block) => String(block.text));
}

// The structure of a result; where a host keeps it back, what the texts hold of it.
function givenOf(result) {
  if (result.structuredContent) return result.structuredContent;
  const given = {};
  for (const text of textsOf(result)) {
    let block;
    try {
      block = JSON.parse(text);
    } catch {
      given.narrative ??= text;
      continue;
    }
    const place = { chart_specs: 'chartSpecs', data_lineage: 'dataLineage', clarification_request: 'clarificationRequest', table: 'table' };
    if (block && place[block._type]) given[place[block._type]] = block;
    else if (block && typeof block === 'object') Object.assign(given, block);
  }
  return given;
}

function dataOf(given) {
  const is = (data) => data && Array.isArray(data.columns) && Array.isArray(data.rows) && data.rows.every(Array.isArray);
  // What an answer's columns are called says what they are; those of a query have their types too.
  if (is(given.table)) return { ...given.table, told: true };
  return is(given) ? given : undefined;
}

function chartsOf(given) {
  const charts = (given.chartSpecs || {}).charts;
  return Array.isArray(charts) ? charts.filter(isChart).slice(0, 3) : [];
}

// What went wrong, in its own words.
function errorOf(result) {
  const text = textsOf(result)[0] || 'The call failed.';
  try {
    return String(JSON.parse(text).error.message);
  } catch {
    return text;
  }
}

function failed(text) {
  const box = element('section', undefined, 'caveats failed');
  box.append(element('h2', 'There is no answer'), element('p', text));
  view.replaceChildren(box);
  announce(text);
}

// Questions back: they are answered in the conversation.
function asked(questions) {
  const parts = questions.filter(Boolean).map((question) => {
    const box = element('section', undefined, 'asked');
    const list = element('ul');
    list.append(...(question.suggestions || []).map((suggestion) => {
      const item = element('li', String(suggestion));
      if (suggestion === question.assumption) item.append(element('span', ' · assumed if nobody says', 'soft'));
      return item;
    }));
    box.append(element('h2', String(question.question)), list);
    return box;
  });
  view.replaceChildren(...parts, element('p', 'Answer in the conversation.', 'soft'));
}

// The next rows of a result that one reply could not hold, where the host lets views call tools.
function moreOf(given, redo) {
  if (!given.next_cursor || !host.capabilities.serverTools || !host.asked.sql) return undefined;
  const more = button('table', 'Load more rows', () => {
    more.disabled = true;
    request('tools/call', { name: 'dragoman_sql', arguments: { ...host.asked, cursor: given.next_cursor } }).then((result) => {
      const next = givenOf(result || {});
      if (!result || result.isError || !dataOf(next)) throw new Error(errorOf(result || {}));
      redo({ ...given, ...next, rows: [...given.rows, ...next.rows], next_cursor: next.next_cursor });
      announce(`${counted(next.rows.length, 'row', 'rows')} more.`);
    }).catch((error) => {
      more.disabled = false;
      more.after(element('span', String(error.message || 'The rows could not be loaded.'), 'warn'));
      announce('The rows could not be loaded.');
    });
  });
  return more;
}

// Chart or table: which of the two is there, and what leads to the other.
function switchOf(panels) {
  const box = element('div', undefined, 'switch');
  box.setAttribute('role', 'group');
  box.setAttribute('aria-label', 'Shown as');
  const keys = Object.entries(panels).map(([name, panel]) => {
    const key = button(name, name === 'chart' ? 'Chart' : 'Table', () => {
      for (const [other, at] of keys) {
        at.setAttribute('aria-pressed', String(other === name));
        panels[other].hidden = other !== name;
      }
    });
    key.setAttribute('aria-pressed', String(!panel.hidden));
    return [name, key];
  });
  box.append(...keys.map(([, key]) => key));
  return box;
}

function fillButton() {
  const whole = () => root.dataset.mode === 'fullscreen';
  const key = button('fill', 'Full screen', () => fill(!whole()));
  const heed = () => {
    key.hidden = !canFill();
    key.set(whole() ? 'leave' : 'fill', whole() ? 'Leave full screen' : 'Full screen');
  };
  heeding.push(heed);
  heed();
  return key;
}

function show(result) {
  heeding.length = 0;
  if (result.isError) return failed(errorOf(result));
  const given = givenOf(result);
  const questions = (given.clarificationRequest || {}).questions;
  if (Array.isArray(questions)) return asked(questions);
  return lay(given, textsOf(result)[0]);
}

function lay(given, text) {
  heeding.length = 0;
  const data = dataOf(given);
  const charts = chartsOf(given);
  const lines = linesOf(isNone(given.narrative) ? '' : given.narrative);
  if (!data && charts.length === 0 && lines.answer.length === 0) return say(text || 'There is nothing to show; the answer is in the text.');

  const panels = {};
  if (charts.length > 0) {
    panels.chart = element('div', undefined, 'charts');
    panels.chart.append(...charts.map(chartOf));
  }
  if (data) panels.table = gridOf(data, 'result', moreOf(given, (grown) => lay(grown, text)));
  const both = panels.chart && panels.table;
  if (both) panels[document.body.dataset.first === 'table' ? 'chart' : 'table'].hidden = true;

  const notes = element('div', undefined, 'notes');
  notes.append(...notesOf(given, lines));
  view.replaceChildren(...headOf(lines.answer, panels, both), ...Object.values(panels), notes);
}

// The answer's first sentence with what changes all below it. Without one the buttons stand in the panel's own row.
function headOf(answer, panels, both) {
  const [panel] = Object.values(panels);
  if (answer.length === 0 && panel && !both) {
    panel.querySelector('.tools').append(fillButton());
    return [];
  }
  const head = element('div', undefined, 'strip head');
  const leads = element('div', undefined, 'leads');
  leads.append(...answer.map((line) => said(line, 'answer')));
  const tools = element('div', undefined, 'tools');
  if (both) tools.append(switchOf(panels));
  if (panel) tools.append(fillButton());
  head.append(leads, tools);
  return [head];
}
