// For pages with documents: line numbers, jumps to problems, files into text fields, one box that ticks all, buttons that
// say that they work.
// Every page works without it.

for (const text of document.querySelectorAll('textarea[data-lines]')) {
  const gutter = document.createElement('div');
  gutter.className = 'gutter';
  gutter.setAttribute('aria-hidden', 'true');
  const severities = new Map();
  for (const link of document.querySelectorAll('a[data-line]')) {
    if (severities.get(link.dataset.line) !== 'bad') severities.set(link.dataset.line, link.dataset.severity);
  }
  const number = () => {
    const count = text.value.split('\n').length;
    while (gutter.childElementCount > count) gutter.lastElementChild.remove();
    for (let line = gutter.childElementCount + 1; line <= count; line += 1) {
      const cell = document.createElement('span');
      cell.textContent = line;
      cell.className = severities.get(String(line)) ?? '';
      gutter.append(cell);
    }
    gutter.scrollTop = text.scrollTop;
  };
  const jump = (line, column) => {
    const lines = text.value.split('\n');
    const start = lines.slice(0, line - 1).reduce((sum, before) => sum + before.length + 1, 0);
    text.focus({ preventScroll: true });
    text.setSelectionRange(start + Math.max(0, column - 1), start + (lines[line - 1] ?? '').length);
    text.scrollTop = Math.max(0, (line - 6) * parseFloat(getComputedStyle(text).lineHeight));
    text.scrollLeft = 0;
    text.scrollIntoView({ block: 'nearest' });
  };
  text.before(gutter);
  text.addEventListener('input', number);
  text.addEventListener('scroll', () => { gutter.scrollTop = text.scrollTop; });
  number();
  for (const link of document.querySelectorAll('a[data-line]')) {
    link.addEventListener('click', (event) => {
      event.preventDefault();
      jump(Number(link.dataset.line), Number(link.dataset.column ?? 1));
    });
  }
}

for (const field of document.querySelectorAll('input[data-into]')) {
  const into = document.getElementById(field.dataset.into);
  field.closest('[hidden]').hidden = false;
  field.addEventListener('change', async () => {
    const [file] = field.files;
    if (!file) return;
    into.value = file.size > 10 << 20 ? '' : await file.text();
    into.setCustomValidity(file.size > 10 << 20 ? 'A document has at most ten megabytes.' : '');
    into.reportValidity();
  });
  into.addEventListener('input', () => into.setCustomValidity(''));
}

for (const all of document.querySelectorAll('input[data-all]')) {
  const boxes = [...all.form.querySelectorAll(`input[name="${all.dataset.all}"]`)];
  const show = () => {
    all.checked = boxes.every((box) => box.checked);
    all.indeterminate = !all.checked && boxes.some((box) => box.checked);
  };
  all.closest('[hidden]').hidden = false;
  all.addEventListener('change', () => {
    for (const box of boxes) box.checked = all.checked;
  });
  for (const box of boxes) box.addEventListener('change', show);
  // Later, when the browser has put back what was ticked before.
  addEventListener('pageshow', show);
}

for (const form of document.querySelectorAll('form[data-guarded]')) {
  let changed = false;
  form.addEventListener('input', () => { changed = true; });
  form.addEventListener('submit', () => { changed = false; });
  addEventListener('beforeunload', (event) => { if (changed) event.preventDefault(); });
}

for (const text of document.querySelectorAll('textarea[data-sends]')) {
  text.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    text.form.requestSubmit();
  });
}

const waiting = [];
for (const form of document.querySelectorAll('form[data-busy]')) {
  form.addEventListener('submit', (event) => {
    const button = event.submitter ?? form.querySelector('button[type="submit"]');
    // Later, so that the button's own value is sent.
    setTimeout(() => {
      waiting.push([button, button.textContent]);
      button.textContent = form.dataset.busy;
      button.disabled = true;
    });
  });
}
// A page that comes back from the history works again.
addEventListener('pageshow', () => {
  for (const [button, text] of waiting.splice(0)) {
    button.textContent = text;
    button.disabled = false;
  }
});
