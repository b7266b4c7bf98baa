// For the forms that bring files: drop them, see how far each is, and be asked before anything is replaced. Without it the
// forms send as forms do.

const isText = (file) => /\.(txt|md|markdown)$/i.test(file.name);
const size = (bytes) => {
  const units = ['B', 'kB', 'MB', 'GB'];
  let at = 0;
  while (bytes >= 1000 && at < units.length - 1) { bytes /= 1000; at += 1; }
  return `${at === 0 || bytes >= 100 ? Math.round(bytes) : bytes.toFixed(1)} ${units[at]}`;
};
const element = (name, text, className) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
};

for (const form of document.querySelectorAll('form[data-upload]')) {
  const input = form.querySelector('input[type="file"]');
  const drop = form.querySelector('[data-drop]');
  const list = form.querySelector('[data-uploads]');
  const said = form.querySelector('[data-said]');
  const most = Number(form.dataset.most);
  let turn = Promise.resolve();
  let waiting = 0;

  const send = (files, more, tell) => new Promise((resolve) => {
    const body = new FormData();
    const fields = new FormData(form);
    // The token comes before the files: without it none is read.
    body.append('csrf', fields.get('csrf'));
    body.append('name', more.name ?? fields.get('name') ?? '');
    body.append('if_exists', more.if_exists ?? fields.get('if_exists') ?? 'refuse');
    for (const file of files) body.append('file', file, file.name);
    const request = new XMLHttpRequest();
    request.open('POST', form.action);
    request.setRequestHeader('Accept', 'application/json');
    request.upload.addEventListener('progress', (event) => {
      if (event.lengthComputable) tell(event.loaded, event.total);
    });
    request.addEventListener('load', () => {
      try {
        resolve(JSON.parse(request.responseText));
      } catch {
        const again = request.status === 200 || request.status === 403;
        const message = again ? 'You are not signed in any more. Load this page again.' : 'The service did not take it.';
        resolve({ datasets: [], problems: [{ file: '', message, exists: null }] });
      }
    });
    const broken = () => resolve({ datasets: [], problems: [], broken: true });
    request.addEventListener('error', broken);
    request.addEventListener('abort', broken);
    request.send(body);
  });

  const add = (files) => {
    const item = element('li');
    const name = files.map((file) => file.name).join(', ');
    const bytes = files.reduce((sum, file) => sum + file.size, 0);
    const head = element('p', undefined, 'named');
    const title = element('strong');
    title.append(element('bdi', name));
    head.append(title, element('span', size(bytes), 'quiet'));
    const bar = element('progress');
    bar.max = 1;
    bar.setAttribute('aria-label', `Upload of ${name}`);
    const state = element('p', 'Waiting for its turn', 'quiet');
    const choices = element('div', undefined, 'choices-row');
    item.append(head, bar, state, choices);
    list.append(item);
    list.hidden = false;

    const choice = (text, act) => {
      const button = element('button', text);
      button.type = 'button';
      button.addEventListener('click', act);
      choices.append(button);
      return button;
    };
    const show = (outcome, more) => {
      bar.remove();
      choices.replaceChildren();
      state.className = '';
      if (outcome.broken) {
        state.className = 'wrong';
        state.textContent = 'The connection broke, and nothing of it was kept.';
        choice('Send it again', () => start(more));
      } else if (outcome.problems.length > 0) {
        const [problem] = outcome.problems;
        state.className = 'wrong';
        state.textContent = problem.message;
        if (problem.exists) {
          if (!files.some(isText)) {
            choice(`Add to the rows of ${problem.exists}`, () => start({ ...more, if_exists: 'append' }));
          }
          choice(`Replace the rows of ${problem.exists}`, () => start({ ...more, if_exists: 'replace' }));
          const other = `${problem.exists}_2`.slice(-63);
          choice(`Call it ${other}`, () => start({ ...more, name: other }));
        }
      } else {
        const [made] = outcome.datasets;
        const what = made.type === 'table' ? `${made.rows} rows, ${made.columns} columns` : `${made.rows} passages`;
        state.textContent = `${made.name}: ${what}. `;
        const link = element('a', 'See what was found, and publish it');
        link.href = made.href;
        state.append(link);
      }
      said.textContent = `${name}: ${state.textContent}`;
    };
    const start = (more) => {
      choices.replaceChildren();
      state.className = 'quiet';
      state.textContent = 'Waiting for its turn';
      head.after(bar);
      bar.removeAttribute('value');
      waiting += 1;
      turn = turn.then(async () => {
        state.textContent = 'On its way';
        const outcome = await send(files, more, (loaded, total) => {
          if (loaded < total) {
            bar.value = loaded / total;
            state.textContent = `${size(loaded)} of ${size(total)} are there`;
          } else {
            bar.removeAttribute('value');
            state.textContent = 'All of it is there, and is being read';
          }
        });
        waiting -= 1;
        show(outcome, more);
      });
    };
    if (bytes > most) {
      show({ datasets: [], problems: [{ message: `An upload has at most ${size(most)}. Split it, or send Parquet.` }] }, {});
    } else {
      start({});
    }
  };

  const take = (files) => {
    const all = [...files];
    const several = input.multiple ? all : all.slice(0, 1);
    const texts = several.filter(isText);
    for (const file of several.filter((one) => !isText(one))) add([file]);
    if (texts.length > 0) add(texts);
    input.value = '';
  };

  for (const hint of form.querySelectorAll('[data-hint]')) hint.hidden = false;
  form.querySelector('button[type="submit"]').hidden = true;
  input.addEventListener('change', () => { if (form.reportValidity()) take(input.files); });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (input.files.length > 0) take(input.files);
  });
  for (const name of ['dragenter', 'dragover']) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.add('over');
    });
  }
  for (const name of ['dragleave', 'drop']) drop.addEventListener(name, () => drop.classList.remove('over'));
  drop.addEventListener('drop', (event) => {
    event.preventDefault();
    take(event.dataTransfer.files);
  });
  addEventListener('beforeunload', (event) => { if (waiting > 0) event.preventDefault(); });
}
