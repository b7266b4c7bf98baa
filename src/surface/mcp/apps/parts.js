// Elements with text only: nothing of a result is ever read as markup.
function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

const SVG = 'http://www.w3.org/2000/svg';

function drawn(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const ICONS = {
  copy: 'M6 6h8v8H6zM4 10H2V2h8v2',
  done: 'M2.5 8.5l3.5 3.5 7.5-8',
  save: 'M8 2v8M4.5 7L8 10.5 11.5 7M2.5 13.5h11',
  fill: 'M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4',
  leave: 'M6 2v4H2M14 6h-4V2M10 14v-4h4M2 10h4v4',
  chart: 'M2 14h12M4 11V8M8 11V3M12 11V6',
  table: 'M2 3h12v10H2zM2 6.5h12M6.5 6.5V13',
};

function icon(name) {
  const svg = drawn('svg', { viewBox: '0 0 16 16', width: 16, height: 16, class: 'icon', 'aria-hidden': 'true' });
  svg.append(drawn('path', { d: ICONS[name] }));
  return svg;
}

// A button with an icon and a word; in narrow places the word is for those who do not see the icon.
function button(name, word, act) {
  const made = element('button', undefined, 'plain');
  made.type = 'button';
  made.set = (name, word) => {
    made.replaceChildren(icon(name), element('span', word, 'word'));
    made.title = word;
  };
  made.set(name, word);
  made.addEventListener('click', act);
  return made;
}

const view = document.getElementById('view');
const spoken = document.getElementById('spoken');

// What has happened, for those who do not see it.
function announce(text) {
  spoken.textContent = text;
}

function say(text) {
  view.replaceChildren(element('p', text, 'soft'));
  announce(text);
}

// Copying without the right to write to the clipboard: what is selected in an answer to a click may always be copied.
function copySelected(text) {
  const box = element('textarea', text, 'away');
  box.readOnly = true;
  box.setAttribute('aria-hidden', 'true');
  const focused = document.activeElement;
  document.body.append(box);
  box.select();
  let copied = false;
  try {
    copied = document.execCommand('copy');
  } finally {
    box.remove();
    if (focused) focused.focus({ preventScroll: true });
  }
  return copied;
}

// The last resort: the text itself, selected, to be copied by hand.
function offer(text, beside) {
  const box = element('textarea', text, 'offered');
  box.readOnly = true;
  box.rows = 6;
  box.setAttribute('aria-label', 'CSV: copy it from here');
  beside.after(box);
  box.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    box.remove();
  });
  box.select();
  box.focus();
  announce('The host does not let this page copy. The CSV is selected: copy it with the keyboard.');
}

// Buttons that give what `csv` makes: to the clipboard, and as a file where the host takes one. Brief ones are icons.
function csvButtons(csv, name, beside, brief) {
  const copy = button('copy', 'Copy CSV', async () => {
    const text = csv();
    const written = async () => navigator.clipboard.writeText(text).then(() => true);
    const copied = copySelected(text) || await written().catch(() => false);
    if (!copied) return offer(text, beside());
    copy.set('done', 'Copied');
    announce('Copied as CSV.');
    setTimeout(() => copy.set('copy', 'Copy CSV'), 2000);
  });
  copy.classList.toggle('brief', Boolean(brief));
  if (!host.capabilities.downloadFile) return [copy];
  const save = button('save', 'Save CSV', () => {
    const resource = { uri: `file:///${name}.csv`, mimeType: 'text/csv', text: csv() };
    request('ui/download-file', { contents: [{ type: 'resource', resource }] })
      .then(() => announce('Saved.'), () => announce('The host did not save the file.'));
  });
  save.classList.toggle('brief', Boolean(brief));
  return [copy, save];
}
