// For the page where SQL is written: names of tables and columns go into the statement at a click, and are offered while
// it is typed. The page works without it.

const text = document.querySelector('textarea[data-completes]');
const names = [...document.querySelectorAll('[data-name]')];
const known = [...new Set(names.map((name) => name.textContent))];

// A name that SQL would read as something else stands in quotes.
const written = (name) => (/^[a-z_][a-z0-9_]*$/i.test(name) ? name : `"${name.replaceAll('"', '""')}"`);
const insert = (name, from, to) => {
  text.setRangeText(written(name), from, to, 'end');
  text.focus();
};

for (const name of names) {
  if (name.closest('summary')) continue;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'plain small';
  button.title = 'Write it into the statement';
  name.replaceWith(button);
  button.append(name);
  button.addEventListener('click', () => insert(name.textContent, text.selectionStart, text.selectionEnd));
}

const list = document.createElement('ul');
list.className = 'offers';
list.id = 'offers';
list.hidden = true;
list.setAttribute('role', 'listbox');
list.setAttribute('aria-label', 'Names');
text.after(list);
text.setAttribute('aria-autocomplete', 'list');
text.setAttribute('aria-controls', 'offers');

let chosen = -1;
let word = '';
const close = () => {
  list.hidden = true;
  chosen = -1;
  text.removeAttribute('aria-activedescendant');
};
const mark = (at) => {
  chosen = at;
  [...list.children].forEach((offer, index) => offer.setAttribute('aria-selected', String(index === at)));
  text.setAttribute('aria-activedescendant', `offer-${at}`);
};
const accept = (name) => {
  insert(name, text.selectionStart - word.length, text.selectionStart);
  close();
};
const offer = () => {
  const before = text.value.slice(0, text.selectionStart);
  [word] = before.match(/[\p{L}_][\p{L}\p{N}_]*$/u) ?? [''];
  const low = word.toLowerCase();
  const fits = word.length < 2 ? [] : known.filter((name) => name.toLowerCase().startsWith(low) && name !== word);
  if (fits.length === 0) { close(); return; }
  list.replaceChildren(...fits.slice(0, 8).map((name, index) => {
    const item = document.createElement('li');
    item.id = `offer-${index}`;
    item.setAttribute('role', 'option');
    item.setAttribute('aria-selected', 'false');
    item.textContent = name;
    item.addEventListener('mousedown', (event) => { event.preventDefault(); accept(name); });
    return item;
  }));
  list.hidden = false;
  chosen = -1;
  text.removeAttribute('aria-activedescendant');
};

text.addEventListener('input', offer);
text.addEventListener('blur', close);
text.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    text.form.requestSubmit();
    return;
  }
  if (list.hidden) return;
  const count = list.childElementCount;
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    mark((chosen + (event.key === 'ArrowDown' ? 1 : count - (chosen < 0 ? 0 : 1))) % count);
  } else if (event.key === 'Enter' && chosen >= 0) {
    event.preventDefault();
    accept(list.children[chosen].textContent);
  } else if (event.key === 'Escape') {
    event.preventDefault();
    close();
  }
});
for (const hint of document.querySelectorAll('[data-keys]')) hint.hidden = false;
