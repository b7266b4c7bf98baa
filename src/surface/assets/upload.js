// For the forms that bring files: drop them, see how far each is, and look at what was found before it is kept. A
// connection that breaks is gone on with. Without it the forms send as forms do.

const size = (bytes) => {
  const units = ['B', 'kB', 'MB', 'GB'];
  let at = 0;
  while (bytes >= 1000 && at < units.length - 1) { bytes /= 1000; at += 1; }
  return `${at === 0 || bytes >= 100 ? Math.round(bytes) : bytes.toFixed(1)} ${units[at]}`;
};
const count = (number, noun) => `${number} ${noun}${number === 1 ? '' : 's'}`;
const element = (name, text, className) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
};

// What is typed of a dataset and not saved yet is kept when it is published.
document.querySelector('form.switch')?.addEventListener('formdata', ({ formData }) => {
  const words = document.querySelector('form.words');
  for (const [name, value] of words ? new FormData(words) : []) if (!formData.has(name)) formData.append(name, value);
});

// What else is on the page and speaks of what there is, as it is now.
const renew = async () => {
  const answer = await fetch(location.href).catch(() => null);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  for (const shown of document.querySelectorAll('section[data-renewed]')) {
    const now = page.querySelector(`section[aria-labelledby="${shown.getAttribute('aria-labelledby')}"]`);
    if (now) shown.replaceWith(document.importNode(now, true));
  }
};

// The demo's data, with how far they are: a line of JSON each time, and one in the end.
for (const form of document.querySelectorAll('form[data-taken]')) {
  const button = form.querySelector('button');
  const bar = element('progress');
  bar.setAttribute('aria-label', button.textContent);
  const state = element('p');
  state.setAttribute('role', 'status');
  const show = ({ fraction, message, done, problem }) => {
    if (done) location.reload();
    if (typeof fraction === 'number') bar.value = fraction;
    state.textContent = message ?? problem ?? 'All of it is here.';
    state.className = problem ? 'wrong' : 'quiet';
    if (!problem) return;
    bar.remove();
    button.disabled = false;
  };
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    button.disabled = true;
    bar.removeAttribute('value');
    form.append(bar, state);
    show({ message: 'It begins' });
    try {
      const body = new URLSearchParams(new FormData(form));
      const answer = await fetch(form.action, { method: 'POST', headers: { Accept: 'application/json' }, body });
      if (!answer.ok) throw new Error(String(answer.status));
      let text = '';
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        const lines = (text + part.value).split('\n');
        text = lines.pop();
        for (const line of lines) show(JSON.parse(line));
      }
    } catch {
      show({ problem: 'The connection broke. Load this page again: what has come by then stays, and the rest goes on.' });
    }
  });
}

for (const form of document.querySelectorAll('form[data-upload]')) {
  const input = form.querySelector('input[type="file"]');
  const drop = form.querySelector('[data-drop]');
  const list = form.querySelector('[data-uploads]');
  const said = form.querySelector('[data-said]');
  const most = Number(form.dataset.most);
  const isDocument = (file) => new RegExp(`\\.(${form.dataset.documents})$`, 'i').test(file.name);
  let turn = Promise.resolve();
  let waiting = 0;

  const workspace = form.dataset.workspace;
  const csrf = form.querySelector('[data-check-csrf]').value;

  // What a file is known by, so that choosing it again goes on with its upload: also in another tab, or another day.
  const mark = (file) => `upload ${workspace} ${file.name} ${file.size} ${file.lastModified}`;
  const remember = (file, address) => { try { localStorage.setItem(mark(file), address); } catch { /* without */ } };
  const recall = (file) => { try { return localStorage.getItem(mark(file)); } catch { return null; } };
  const forget = (file) => { try { localStorage.removeItem(mark(file)); } catch { /* without */ } };

  // One request of tus 1.0; a broken connection is an answer too, with the status 0.
  const ask = (method, address, headers, body, tell) => new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open(method, address);
    const all = { 'Tus-Resumable': '1.0.0', 'X-CSRF-Token': csrf, ...headers };
    for (const [name, value] of Object.entries(all)) request.setRequestHeader(name, value);
    if (tell) request.upload.addEventListener('progress', (event) => tell(event.loaded));
    const done = () => resolve(request);
    for (const name of ['load', 'error', 'abort', 'timeout']) request.addEventListener(name, done);
    request.send(body);
  });

  const refusal = (answer) => {
    try {
      return JSON.parse(answer.responseText).error;
    } catch {
      const left = answer.status === 200 || answer.status === 403;
      return { message: left ? 'You are not signed in any more. Load this page again.' : 'The service did not take it.' };
    }
  };
  const isFull = (answer) => refusal(answer).details?.limit === 'disk';

  const SLICE = 8 << 20;
  const PATIENCE = 20;
  // A while, longer each time; at once when the machine has a network again.
  const pause = (turn) => new Promise((resolve) => {
    const timer = setTimeout(go, Math.min(500 * 2 ** turn, 30000));
    function go() { clearTimeout(timer); removeEventListener('online', go); resolve(); }
    addEventListener('online', go);
  });
  // A disk does not become free by waiting, and the service has removed what came by then.
  const passes = (answer) => ([0, 408, 409, 423, 429].includes(answer.status) || answer.status >= 500) && !isFull(answer);

  // Sends a file from wherever it ended, and goes on when a connection breaks. Gives the address of the whole upload.
  const transfer = async (file, tell) => {
    let address = recall(file);
    let offset = null;
    for (let turn = 0; turn < PATIENCE;) {
      let answer;
      if (address === null) {
        const name = btoa(String.fromCharCode(...new TextEncoder().encode(file.name)));
        answer = await ask('POST', `${workspace}/uploads`, { 'Upload-Length': String(file.size), 'Upload-Metadata': `filename ${name}` });
        if (answer.status === 201) {
          address = answer.getResponseHeader('Location');
          remember(file, address);
          offset = 0;
          continue;
        }
      } else if (offset === null) {
        answer = await ask('HEAD', address, {});
        if (answer.status === 200 && Number(answer.getResponseHeader('Upload-Length')) === file.size) {
          offset = Number(answer.getResponseHeader('Upload-Offset'));
          continue;
        }
        if (answer.status === 200 || answer.status === 404) {
          // It is over, or was another file's.
          forget(file);
          address = null;
          continue;
        }
      } else if (offset >= file.size) {
        return { address };
      } else {
        const from = offset;
        const slice = file.slice(from, from + SLICE);
        answer = await ask('PATCH', address, { 'Upload-Offset': String(from), 'Content-Type': 'application/offset+octet-stream' }, slice, (sent) => tell(from + Math.min(sent, slice.size), false));
        if (answer.status === 204) {
          offset = Number(answer.getResponseHeader('Upload-Offset'));
          tell(offset, false);
          turn = 0;
          continue;
        }
        offset = null;
      }
      if (!passes(answer)) {
        if (answer.status === 404 || isFull(answer)) forget(file);
        return { message: refusal(answer).message };
      }
      tell(null, true);
      await pause(turn);
      turn += 1;
    }
    return { broken: true };
  };

  // Looks at what came, or imports it.
  const settle = async (ids, more, act) => {
    const fields = new FormData(form);
    const body = new URLSearchParams({
      csrf,
      do: act,
      uploads: ids.join(','),
      name: more.name ?? fields.get('name') ?? '',
      if_exists: more.if_exists ?? fields.get('if_exists') ?? 'refuse',
    });
    try {
      const answer = await fetch(`${workspace}/check`, { method: 'POST', headers: { Accept: 'application/json' }, body });
      const text = await answer.text();
      try {
        return JSON.parse(text);
      } catch {
        const left = answer.status === 200 || answer.status === 403;
        return { problems: [{ message: left ? 'You are not signed in any more. Load this page again.' : 'The service did not take it.' }] };
      }
    } catch {
      return { settling: true };
    }
  };

  const add = (files, problem) => {
    const item = element('li');
    const others = files.length > 5 ? `, and ${files.length - 5} more` : '';
    const name = files.slice(0, 5).map((file) => file.name).join(', ') + others;
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
    // The uploads of the files that are whole.
    let ids = [];
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
    const at = (more) => new URLSearchParams({ uploads: ids.join(','), name: more.name ?? '', if_exists: more.if_exists ?? '' });
    const see = (more, text) => {
      const link = element('a', text, 'button');
      link.href = `${workspace}/check?${at(more)}`;
      choices.append(link);
    };
    const several = (made) => (made.type === 'table' ? `${count(made.rows, 'row')}, ${count(made.columns, 'column')}` : count(made.rows, 'passage'));
    const show = (outcome, more) => {
      bar.remove();
      choices.replaceChildren();
      state.className = '';
      if (outcome.broken || outcome.settling) {
        state.className = 'wrong';
        state.textContent = outcome.broken
          ? 'The connection is broken. What arrived is kept for a day: the file goes on from there.'
          : 'The connection broke while the file was read. All of it is here.';
        choice('Go on', () => start(more));
      } else if ((outcome.problems ?? []).length > 0) {
        const [problem] = outcome.problems;
        state.className = 'wrong';
        state.textContent = problem.message;
        if (problem.exists) {
          taken(problem.exists, more);
        } else if (ids.length > 0) {
          see(more, 'What is wrong');
        }
      } else if (outcome.found) {
        const { found } = outcome;
        const what = found.type === 'table' ? several(found) : count(found.rows, 'text');
        state.textContent = `${found.name}: ${what} found. Nothing is imported yet.`;
        for (const says of found.hints) state.textContent += ` ${says}`;
        if (outcome.same.length) state.textContent += ` This very file came into ${outcome.same.join(', ')} before.`;
        if (outcome.exists && !decided(more)) {
          state.textContent += ` There ${outcome.exists.includes(', ') ? 'are datasets' : 'is a dataset'} ${outcome.exists} already.`;
          taken(outcome.exists, more, found.name);
        } else {
          choice('Import it', () => finish(more)).className = 'primary';
          see(more, 'Look at it and correct it');
        }
      } else {
        for (const file of files) forget(file);
        state.replaceChildren();
        for (const made of outcome.datasets) {
          const link = element('a', made.published ? 'See it' : 'See it, and publish it');
          link.href = made.href;
          state.append(`${state.hasChildNodes() ? ' ' : ''}${made.name}: ${several(made)}. ${made.published ? 'AI clients see it. ' : ''}`, link);
        }
        renew();
      }
      said.textContent = `${name}: ${state.textContent}`;
    };
    const decided = (more) => (more.if_exists ?? new FormData(form).get('if_exists') ?? 'refuse') !== 'refuse';
    const taken = (exists, more, name = exists) => {
      const rows = files.some(isDocument) ? 'texts' : 'rows';
      choice(`Add to the ${rows} of ${exists}`, () => finish({ ...more, if_exists: 'append' }));
      choice(`Replace the ${rows} of ${exists}`, () => finish({ ...more, if_exists: 'replace' }));
      const other = `${name}_2`.slice(-63);
      choice(`Call it ${other}`, () => finish({ ...more, name: other }));
      see(more, 'Look at it and correct it');
    };
    const finish = (more) => work(more, 'import');
    const start = (more) => work(more, 'check');
    const work = (more, act) => {
      choices.replaceChildren();
      state.className = 'quiet';
      state.textContent = 'Waiting for its turn';
      head.after(bar);
      bar.removeAttribute('value');
      waiting += 1;
      turn = turn.then(async () => {
        let before = 0;
        for (const file of ids.length < files.length ? files : []) {
          state.textContent = 'On its way';
          const come = await transfer(file, (loaded, broken) => {
            if (broken) {
              state.textContent = 'The connection broke. It goes on by itself.';
              return;
            }
            bar.value = (before + loaded) / bytes;
            state.textContent = `${size(before + loaded)} of ${size(bytes)} are there`;
          });
          if (!come.address) {
            waiting -= 1;
            ids = [];
            show(come.broken ? come : { problems: [come] }, more);
            return;
          }
          before += file.size;
          ids = [...ids, come.address.split('/').pop()];
        }
        bar.removeAttribute('value');
        state.textContent = 'All of it is there, and is being read';
        const outcome = await settle(ids, more, act);
        waiting -= 1;
        show(outcome, more);
      });
    };
    const large = files.some((file) => file.size > most) && `An upload has at most ${size(most)}. Split it, or send Parquet.`;
    if (problem || large) {
      show({ problems: [{ message: problem || large }] }, {});
    } else {
      start({});
    }
  };

  const take = (files) => {
    const all = [...files];
    const several = input.multiple ? all : all.slice(0, 1);
    const documents = several.filter(isDocument);
    for (const file of several.filter((one) => !isDocument(one))) add([file]);
    if (documents.length > 0) add(documents);
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
    const files = [];
    for (const item of [...event.dataTransfer.items].filter(({ kind }) => kind === 'file')) {
      const file = item.getAsFile();
      if (item.webkitGetAsEntry?.()?.isDirectory) add([file], 'A folder cannot be taken: drop its files, or a ZIP of it.');
      else files.push(file);
    }
    take(files);
  });
  addEventListener('beforeunload', (event) => { if (waiting > 0) event.preventDefault(); });
}
