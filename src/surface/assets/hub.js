// For the pages that connect clients: buttons that copy, and checkpoints that turn green by themselves. Every page works
// without it.

const copied = async (text, box) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Browsers keep the clipboard for https and this machine: elsewhere the text is selected, and copied the old way.
    const range = document.createRange();
    range.selectNodeContents(box.querySelector('code'));
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return document.execCommand('copy');
  }
};

for (const box of document.querySelectorAll('[data-copy]')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'small copy';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', `Copy ${box.dataset.copy}`);
  button.addEventListener('click', async () => {
    button.textContent = (await copied(box.querySelector('code').textContent, box)) ? 'Copied' : 'Selected';
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
  box.append(button);
}

const seen = document.querySelector('[data-seen]');
if (seen) {
  // Every look is on the record: often while somebody is likely to wait, then rarely, then only when asked.
  const SOON = 3000, LATER = 10000, OFTEN = 40, MOST = 120;
  const said = document.querySelector('[data-looks]');
  let looks = 0;
  let timer;
  const say = (text, again) => {
    said.hidden = false;
    said.textContent = text;
    if (!again) return;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'small';
    button.textContent = 'Look again';
    button.addEventListener('click', () => { looks = 0; look(); });
    said.append(' ', button);
  };
  const isComplete = () => seen.querySelector('[data-complete]') !== null;
  const next = () => {
    clearTimeout(timer);
    if (isComplete()) return say('');
    if (looks >= MOST) return say('Nothing has come for a while.', true);
    say('This page looks by itself.');
    if (!document.hidden) timer = setTimeout(look, looks < OFTEN ? SOON : LATER);
  };
  const look = async () => {
    looks += 1;
    try {
      const answer = await fetch(seen.dataset.seen, { headers: { accept: 'text/html' }, redirect: 'error' });
      if (!answer.ok) return say('The page can no longer look: load it again.');
      const part = new DOMParser().parseFromString(await answer.text(), 'text/html').body;
      // What has not changed is not said again by a screen reader.
      if (part.textContent.trim() !== seen.textContent.trim()) seen.replaceChildren(...part.childNodes);
    } catch {
      return say('The service does not answer at the moment.', true);
    }
    next();
  };
  document.addEventListener('visibilitychange', next);
  next();
}
