// The shell: who gets in, the pages and their addresses, keys, what changes meanwhile.

import { enter, leave, live, present } from './api.js';
import { button, choice, el, field, number, put } from './dom.js';
import { flushAll, grace, keys, pressed, singles, toast, trouble } from './ui.js';

const PAGES = [
  ['memories', 'Memories', 'm', './memories.js', 'memories'], ['search', 'Search', 's', './search.js', 'search'],
  ['review', 'Review', 'r', './review.js', 'review'], ['sessions', 'Sessions', 't', './talk.js', 'sessions'],
  ['flows', 'Flows', 'f', './flows.js', 'flows'],
  ['open', 'Open items', 'o', './talk.js', 'openItems'], ['evolution', 'Evolution', 'v', './talk.js', 'evolution'],
  ['entities', 'Entities', 'n', './talk.js', 'entities'], ['lessons', 'Lessons', 'l', './learned.js', 'lessons'],
  ['observer', 'Observer', 'b', './learned.js', 'observer'], ['statistics', 'Statistics', 'a', './figures.js', 'statistics'],
  ['health', 'Jobs and health', 'j', './upkeep.js', 'health'], ['cost', 'Cost', 'c', './figures.js', 'cost'],
  ['governance', 'Governance', 'w', './governance.js', 'governance'], ['settings', 'Settings', 'y', './upkeep.js', 'settings'],
];
const MEMORY = ['memory', 'Memory', '', './memory.js', 'memory'];
const HELP = [['/', 'search'], ['j, k', 'next, previous'], ['Enter', 'open'], ['e', 'edit'], ['c', 'confirm'], ['x', 'select'], ['#', 'forget'], ['u', 'undo'],
  ['g, then a letter', 'go to a page: the letters stand beside them'], ['?', 'this list']];
let going = false;
let isOutside = false;
let shownAt = '';

function parsed() {
  const [, path, query] = /^#?\/?([^?]*)\??(.*)$/.exec(location.hash);
  const [name, ...rest] = path.split('/').map(decodeURIComponent);
  return { name: name || 'memories', rest, query: new URLSearchParams(query || '') };
}

async function open() {
  const { name, rest, query } = parsed();
  const page = [...PAGES, MEMORY].find(([key]) => key === name);
  const main = document.getElementById('main');
  const here = location.hash;
  const isNew = here !== shownAt;
  shownAt = here;
  keys({});
  mark(name);
  if (!page) return put(main, el('h1', {}, 'There is no such page'));
  document.title = `${page[1]} – Vector Memory`;
  try {
    const made = await (await import(page[3]))[page[4]]({ rest, query, refresh: open });
    if (here !== shownAt) return undefined;
    made.dataset.page = name;
    put(main, made);
    // Who came by a key goes on by key: from the search field letters would be words.
    if (isNew) main.focus({ preventScroll: true });
    made.shown?.();
  } catch (error) {
    // Who is not let in sees the entrance already.
    if (error.status === 401) return undefined;
    put(main, el('h1', {}, page[1]), trouble(error), el('p', {}, button('Try again', open)));
  }
  return undefined;
}

function mark(name) {
  for (const one of document.querySelectorAll('#nav a')) {
    if (one.getAttribute('href') === `#/${name}`) { one.setAttribute('aria-current', 'page'); one.scrollIntoView({ block: 'nearest', inline: 'center' }); }
    else one.removeAttribute('aria-current');
  }
}

function shell() {
  const asked = el('input', { id: 'ask', type: 'search', 'aria-label': 'Search', placeholder: 'Search the memory  ( / )', autocomplete: 'off' });
  const form = el('form', { role: 'search', on: { submit: (event) => { event.preventDefault(); location.hash = `#/search?q=${encodeURIComponent(asked.value)}`; } } }, asked);
  put(document.getElementById('head'), el('strong', {}, 'Vector Memory'), form, el('span', { class: 'state', id: 'state' }), button('Keys', help, { 'aria-label': 'Keys (?)' }));
  put(document.getElementById('nav'), el('ul', {}, PAGES.map(([key, name, letter]) => el('li', {}, el('a', { href: `#/${key}` }, name, el('kbd', { 'aria-hidden': 'true' }, `g ${letter}`))))));
}

function help() {
  const box = el('input', { type: 'checkbox', checked: singles.on, on: { change: () => { singles.on = box.checked; } } });
  const dialog = el('dialog', { 'aria-label': 'Keys', on: { close: () => dialog.remove() } }, el('h2', {}, 'Keys'),
    el('table', {}, el('tbody', {}, HELP.map(([key, what]) => el('tr', {}, el('th', { scope: 'row' }, el('kbd', {}, key)), el('td', {}, what))))),
    el('p', {}, el('label', {}, box, ' Single letters do something')),
    el('p', {}, field('What is forgotten can be undone for', choice([[8, '8 seconds'], [30, '30 seconds'], [300, '5 minutes']], grace.s, { on: { change: (event) => { grace.s = event.target.value; } } }))), button('Close', () => dialog.close(), { class: 'main' }));
  document.body.append(dialog);
  dialog.showModal();
}

function outside() {
  leave();
  following?.abort();
  following = null;
  // What is typed there stays.
  if (isOutside) return;
  isOutside = true;
  const token = el('input', { type: 'password', autocomplete: 'off' });
  const told = el('div', {});
  put(document.getElementById('nav'));
  put(document.getElementById('head'), el('strong', {}, 'Vector Memory'));
  put(document.getElementById('main'), el('h1', {}, 'Who is there?'),
    el('p', {}, 'Run ', el('code', {}, 'vector-memory dashboard'), ' in a terminal: it opens this page for you. Its address lets in once, for a minute.'),
    el('form', { class: 'bar', on: { submit: async (event) => {
      event.preventDefault();
      try { await present(token.value.trim()); start(); } catch (error) { put(told, trouble(error)); }
    } } }, el('label', { class: 'field' }, el('span', {}, 'Or a token with all rights (vector-memory token new --right admin)'), token), el('button', { class: 'main' }, 'Enter')), told);
}

document.addEventListener('keydown', (event) => {
  const at = event.target;
  const isTyping = at.matches?.('textarea, select, input:not([type=checkbox])') || at.isContentEditable;
  if (event.key === 'Escape' && isTyping) at.blur();
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !singles.on || document.querySelector('dialog[open]')) return;
  if (going) {
    going = false;
    const page = PAGES.find((one) => one[2] === event.key);
    if (page) { event.preventDefault(); location.hash = `#/${page[0]}`; document.getElementById('main').focus(); return; }
  }
  if (event.key === 'g') { going = true; setTimeout(() => { going = false; }, 2000); return; }
  if (event.key === '/') { event.preventDefault(); document.getElementById('ask')?.focus(); return; }
  if (event.key === '?') { help(); return; }
  if (pressed(event.key)) event.preventDefault();
});

// A browser keeps six connections to one place: one of its tabs, the one that was opened or asked last, is told what changes,
// and tells the others numbers. Where tabs cannot agree on that, each is told by itself while it is looked at.
const isShared = Boolean(navigator.locks && window.BroadcastChannel);
const news = isShared ? new BroadcastChannel('vm:live') : null;
let following = null;
let known = null;
let hasEnded = false;

function state(...shown) {
  const place = document.getElementById('state');
  if (place) put(place, ...shown);
}

function tell({ total, newest }) {
  state(`${number(total)} memories`);
  if (known !== null && newest !== known) document.dispatchEvent(new Event('vm:change'));
  known = newest;
}

/** The dashboard has ended: whatever listens there by now is not given this tab's bearer until somebody clicks here, whatever
 *  other tabs say. */
function ended() {
  hasEnded = true;
  state('The dashboard has ended. ', button('Try again', follow));
}

// Any page of this place may speak here: nobody is answered, no words are shown, and who was not let in does not listen.
news?.addEventListener('message', ({ data }) => {
  if (!following || hasEnded) return;
  if (data?.ended === true) ended();
  else if (Number.isInteger(data?.total) && typeof data.newest === 'string') tell(data);
});

async function lead(signal) {
  try {
    for await (const { data } of live(signal)) {
      if (signal.aborted) return;
      if (data.error) state(`No answer: ${data.error}`);
      else { tell(data); news?.postMessage({ total: data.total, newest: data.newest }); }
    }
  } catch (error) {
    if (error.status === 401) return;
  }
  if (signal.aborted) return;
  ended();
  news?.postMessage({ ended: true });
}

/** Follows what changes in the place of the tab that did; once another has taken that over, when no other does. */
async function follow() {
  if (isOutside) return;
  following?.abort();
  const mine = new AbortController();
  following = mine;
  hasEnded = false;
  if (!isShared) { alone(mine); return; }
  for (let steal = true; following === mine; steal = false) {
    const turn = new AbortController();
    const stop = () => turn.abort();
    mine.signal.addEventListener('abort', stop);
    const held = async () => {
      if (!hasEnded && following === mine) await lead(turn.signal);
      if (!hasEnded || following !== mine) return;
      // Were it free, the next tab would ask what listens there now.
      await new Promise((done) => { mine.signal.addEventListener('abort', done); });
    };
    try {
      await navigator.locks.request('vm:live', { steal }, held);
    } catch (error) {
      if (error.name !== 'AbortError') throw error;
    }
    stop();
  }
}

function alone(mine) {
  let turn = new AbortController();
  const look = () => {
    turn.abort();
    turn = new AbortController();
    if (!document.hidden && !hasEnded && following === mine) lead(turn.signal);
  };
  mine.signal.addEventListener('abort', () => turn.abort());
  document.addEventListener('visibilitychange', look, { signal: mine.signal });
  look();
}

function start() {
  isOutside = false;
  shell();
  open().then(follow);
}

window.addEventListener('hashchange', () => { if (/^#\/|^#?$/.test(location.hash)) open(); });
// A tab that a page opens has its bearer; one that the browser opens by itself would be a stranger.
for (const kind of ['click', 'auxclick']) {
  document.addEventListener(kind, (event) => {
    const at = event.target.closest?.('a[href^="#"]');
    if (!at || !(event.button === 1 || (event.button === 0 && (event.ctrlKey || event.metaKey)))) return;
    event.preventDefault();
    window.open(at.href);
  });
}
document.querySelector('.skip').addEventListener('click', (event) => { event.preventDefault(); document.getElementById('main').focus(); });
window.addEventListener('pagehide', () => { flushAll(); });
document.addEventListener('vm:outside', outside);
window.addEventListener('unhandledrejection', (event) => { if (event.reason?.status !== 401) toast(String(event.reason?.message || 'Something went wrong.')); });

if (await enter()) start(); else outside();
