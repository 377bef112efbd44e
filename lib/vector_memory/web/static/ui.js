// What all pages have in common: rows of memories, undo, questions to the user, work that goes on, keys.

import { ask, run } from './api.js';
import { button, day, el, facts, number, often, put, short } from './dom.js';

/** How long what is forgotten can be brought back: as long as the user needs to read. */
export const grace = { get s() { return Number(localStorage.getItem('grace_s')) || 8; }, set s(seconds) { localStorage.setItem('grace_s', seconds); } };
const undos = [];
let pending = [];
let pageKeys = {};
let meant = () => chosen();

// -- telling ---------------------------------------------------------------------------------------

export function toast(words, undo) {
  const shown = el('div', { class: 'toast' }, el('span', {}, words), undo && button('Undo (u)', () => undoLast(undo)));
  document.getElementById('toasts').append(shown);
  setTimeout(() => shown.remove(), undo ? grace.s * 1000 + 2000 : 6000);
  return shown;
}

/** Tells that something was done, and how it is undone. */
export function undoable(words, act) {
  const undo = { act };
  undos.push(undo);
  undo.shown = toast(words, undo);
  return undo;
}

/** Takes an undo away: it was used, or there is nothing to undo any more. */
function spent(undo) {
  if (undos.includes(undo)) undos.splice(undos.indexOf(undo), 1);
  undo.shown.remove();
}

const ITS_OWN = ['stored', 'linked', 'proposed'];

/** Tells that words were remembered. Undone, they are forgotten, where they became a memory of their own: what was there
 *  before stays, and what gave way to them would be gone with them for good. */
export function remembered(made, words, after) {
  if (made.action === 'superseded') return toast(`${words} Another memory gave way to that, and stays in its history.`);
  if (!ITS_OWN.includes(made.action)) return toast(`${words} It was there already: ${made.action}.`);
  return undoable(words, async () => {
    const { memories: going } = await ask('forget', { ids: [made.id], dry_run: true });
    if (going.length > 1) throw new Error('Another memory gave way to it since, and would go with it.');
    await ask('forget', { ids: [made.id] });
    after?.();
  });
}

export async function undoLast(one = undos[undos.length - 1]) {
  if (!one) return toast('There is nothing to undo.');
  spent(one);
  try {
    await one.act();
    toast('Undone.');
  } catch (error) {
    fail(error);
  }
}

export function fail(error) {
  if (error?.name !== 'AbortError') toast(`${error.message} ${error.hint || ''}`);
}

/** Returns an error as a page shows it. */
export function trouble(error) {
  return el('div', { class: 'error', role: 'alert' }, el('strong', {}, error.message), ' ', error.hint || '');
}

/** Wraps an act: while it goes on its button rests, or its form sends nothing, and what goes wrong is told. */
export function doing(act) {
  let isGoing = false;
  return async (event) => {
    const pressed = event?.currentTarget;
    if (isGoing) { event?.preventDefault(); return; }
    isGoing = true;
    if (pressed) pressed.disabled = true;
    try {
      await act(event);
    } catch (error) {
      fail(error);
    } finally {
      isGoing = false;
      if (pressed) pressed.disabled = false;
    }
  };
}

/** Asks before something is done; `word` has to be typed where nothing brings it back. Returns whether to go on. */
export function confirmed(title, body, { yes = 'Go on', word = '' } = {}) {
  return new Promise((done) => {
    const typed = el('input', { 'aria-label': `Type ${word}`, autocomplete: 'off', on: { input: () => { go.disabled = typed.value !== word; } } });
    const go = button(yes, () => dialog.close('yes'), { class: 'main', disabled: Boolean(word) });
    const dialog = el('dialog', { 'aria-label': title, on: { close: () => { done(dialog.returnValue === 'yes'); dialog.remove(); } } },
      el('h2', {}, title), body, word && el('p', {}, 'Nothing brings it back. Type ', el('code', {}, word), ' to go on: ', typed),
      el('p', { class: 'bar' }, go, button('Leave it', () => dialog.close('no'))));
    document.body.append(dialog);
    dialog.showModal();
  });
}

// -- memories --------------------------------------------------------------------------------------

/** Returns a project's name; of two of one name each comes with its folder. */
export function called(one, projects) {
  return projects.filter((other) => other.name === one.name).length < 2 ? one.name : `${one.name} – ${one.root || one.id}`;
}

/** Returns projects as options of a choice. */
export const named = (projects) => projects.filter((one) => one.id).map((one) => [one.id, `${called(one, projects)} (${number(one.memories)})`]);

export const link = (memory, words) => el('a', { href: `#/memory/${memory.id}` }, words ?? short(memory.text));

/** Returns the marks that say whose words it is, and whether to trust it. */
export function marks(memory) {
  const held = memory.suspicious?.held_back;
  return [
    held && el('span', { class: 'badge bad' }, 'held back'),
    memory.suspicious && !held && el('span', { class: 'badge warn' }, 'suspicious'),
    (memory.author || memory.foreign) && el('span', { class: 'badge warn' }, memory.author ? `shared by ${memory.author.name}` : `foreign: ${memory.origin}`),
    memory.state && el('span', { class: 'badge' }, memory.state),
    memory.proposed && el('span', { class: 'badge warn' }, 'waits for you'),
    ['CORE', 'HIGH'].includes(memory.priority) && el('span', { class: 'badge good' }, memory.priority),
    memory.status && memory.status !== 'active' && el('span', { class: 'badge' }, memory.status),
    ['confidential', 'restricted'].includes(memory.sensitivity) && el('span', { class: 'badge warn' }, memory.sensitivity),
  ];
}

export function meta(memory, ...more) {
  return el('div', { class: 'meta' }, el('span', {}, memory.kind), el('span', {}, day(memory.created_at)), memory.due_on && el('span', {}, `due ${memory.due_on}`),
    el('span', {}, memory.project || ''), memory.uses > 0 && el('span', {}, `used ${often(memory.uses)}`), marks(memory), more);
}

/** Returns a row of a list: `j` and `k` go from one to the next. */
export function row(memory, ...more) {
  const node = el('li', { class: `row ${waits(memory.id) ? 'gone' : ''}`, 'data-id': memory.id },
    el('input', { type: 'checkbox', 'aria-label': `Select: ${short(memory.text, 60)}`, tabindex: -1 }),
    el('a', { class: 'words', href: `#/memory/${memory.id}`, on: { focus: () => setNow(node) } }, short(memory.text, 400) || '(no words)'),
    meta(memory, more));
  node.memory = memory;
  return node;
}

export function rows(memories, more = () => []) {
  return memories.length ? el('ul', { class: 'rows' }, memories.map((one) => row(one, more(one)))) : el('p', { class: 'hint' }, 'Nothing.');
}

export const allRows = () => [...document.querySelectorAll('#main .row')];
export const rowNow = () => document.querySelector('#main .row.now');

function setNow(node) {
  rowNow()?.classList.remove('now');
  node.classList.add('now');
}

export function step(by) {
  const all = allRows();
  const next = all[Math.max(0, Math.min(all.length - 1, all.indexOf(rowNow()) + by))];
  if (!next) return;
  setNow(next);
  (next.querySelector('.words') || next).focus({ preventScroll: true });
  next.scrollIntoView({ block: 'nearest' });
}

/** Returns the memories that are ticked, else the one that the page is at. */
export function chosen() {
  const ticked = allRows().filter((one) => one.querySelector(':scope > input')?.checked);
  return (ticked.length ? ticked : [rowNow()].filter(Boolean)).map((one) => one.memory).filter(Boolean);
}

const strike = (ids, isGone) => { for (const one of allRows()) if (ids.includes(one.dataset.id)) one.classList.toggle('gone', isGone); };
export const waits = (id) => pending.some((one) => one.ids.includes(id));

/** Does something after a moment in which it can be undone, at the latest when the page is left. Meanwhile `ids` are
 *  struck out. `after` is called once it is done, `undone` when it is not to be, or has failed. */
export function later(words, act, { ids = [], after, undone } = {}) {
  const one = { ids, act, after, undone, timer: setTimeout(() => flush(one).catch(fail), grace.s * 1000) };
  pending.push(one);
  strike(ids, true);
  one.undo = undoable(words, () => {
    if (one.isBegun) throw new Error('It is too late: it is done.');
    clearTimeout(one.timer);
    left(one);
  });
}

/** Lets things stand as they did: what waited is not done. */
function left(one) {
  pending = pending.filter((other) => other !== one);
  strike(one.ids, false);
  one.undone?.();
}

async function flush(one) {
  clearTimeout(one.timer);
  if (one.isBegun) return;
  one.isBegun = true;
  try {
    await one.act({ keepalive: true });
  } catch (error) {
    spent(one.undo);
    left(one);
    throw error;
  }
  pending = pending.filter((other) => other !== one);
  one.after?.();
}

/** Does at once what waits to be done: the page goes. */
export const flushAll = () => Promise.all(pending.map(flush));

/** Forgets memories after a moment in which that can be undone: their words are gone for good then. Returns whether
 *  the user would go on. */
export async function forget(memories) {
  const ids = memories.map((one) => one.id).filter((id) => !waits(id));
  if (!ids.length) return false;
  const shown = (await ask('forget', { ids, dry_run: true })).memories;
  if (shown.length > 1) {
    const list = el('div', {}, el('p', {}, `${shown.length} memories go, with what cannot be found without them:`),
      el('ul', {}, shown.slice(0, 12).map((one) => el('li', {}, short(one.text, 100)))), shown.length > 12 && el('p', {}, '…'));
    if (!await confirmed(`Forget ${shown.length} memories?`, list, { yes: 'Forget' })) return false;
  }
  const all = shown.map((one) => one.id);
  later(`Forgotten: ${shown.length}`, (more) => ask('forget', { ids }, more), { ids: all, after: () => removed(all) });
  return true;
}

/** Takes memories that are gone off the page. */
function removed(ids) {
  for (const node of allRows().filter((one) => ids.includes(one.dataset.id))) {
    if (node.contains(document.activeElement)) step(1);
    node.remove();
  }
  document.dispatchEvent(new CustomEvent('vm:gone', { detail: ids }));
}

/** Notes of memories that they are so (`confirmed`), not so (`refuted`) or so no more (`outdated`). */
export function verify(memories, verdict, after) {
  if (memories.length) later(`${verdict}: ${memories.length > 1 ? memories.length : short(memories[0].text, 60)}`, (more) => Promise.all(memories.map((one) => ask('verify', { id: one.id, verdict }, more))), { after });
}

// -- work that goes on -----------------------------------------------------------------------------

/** Starts long work, shows its rate and how long it will take, and lets it be stopped; it is stopped, too, once it is not
 *  wanted any more. Returns its answer. */
export async function work(title, verb, body = {}, isWanted = () => true) {
  const tray = document.getElementById('tray');
  const stop = new AbortController();
  const bar = el('progress', { 'aria-label': title });
  const told = el('span', {}, 'begins …');
  const shown = el('div', { class: 'work' }, el('strong', {}, title), bar, told, button('Stop', () => stop.abort()));
  tray.append(shown);
  tray.hidden = false;
  const began = performance.now();
  try {
    for await (const { kind, data } of run(verb, body, stop.signal)) {
      if (kind === 'error') throw Object.assign(new Error(data.error), { hint: data.hint });
      if (kind === 'answer') return data;
      if (!isWanted()) stop.abort();
      if (kind === 'progress') told.textContent = pace(bar, data, (performance.now() - began) / 1000);
    }
    throw new Error(`${title}: it ended without an answer.`);
  } catch (error) {
    if (error.name !== 'AbortError') throw error;
    if (isWanted()) toast(`${title}: stopped. What was done stays.`);
    return null;
  } finally {
    shown.remove();
    tray.hidden = !tray.children.length;
  }
}

/** Returns how far work is in words: of how many, so many a second, how long still. */
export function pace(bar, { done = 0, total = 0, doing: what = '' }, seconds) {
  if (total) Object.assign(bar, { max: total, value: done });
  const rate = done / Math.max(seconds, 0.001);
  const left = rate > 0 && total > done ? ` · about ${Math.ceil((total - done) / rate)} s left` : '';
  return `${what} ${number(done)}${total ? ` of ${number(total)}` : ''} · ${rate >= 10 ? number(Math.round(rate)) : rate.toFixed(1)} a second${left}`;
}

/** Starts work and shows what came of it. */
export const works = (title, verb, body, after) => doing(async () => {
  const answer = await work(title, verb, body);
  if (!answer) return;
  toast(`${title}: done.`);
  await after?.(answer);
});

/** Returns an answer's plain values. */
export function plainly(answer) {
  return facts(Object.entries(answer).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => [name.replace(/_/g, ' '), typeof value === 'number' ? number(value) : String(value)]));
}

// -- keys ------------------------------------------------------------------------------------------

/** Sets what keys mean on this page beside what they mean on all, and which memories they are about. */
export function keys(map, of = chosen) {
  pageKeys = map;
  meant = of;
}

export const singles = { get on() { return localStorage.getItem('singles') !== 'off'; }, set on(yes) { localStorage.setItem('singles', yes ? 'on' : 'off'); } };

const COMMON = {
  j: () => step(1),
  k: () => step(-1),
  e: () => { const [one] = meant(); if (one) location.hash = `#/memory/${one.id}?edit=1`; },
  c: () => verify(meant(), 'confirmed'),
  x: () => rowNow()?.querySelector(':scope > input')?.click(),
  '#': doing(() => forget(meant())),
  u: () => undoLast(),
};

/** Returns whether a key meant something. */
export function pressed(key) {
  const act = pageKeys[key] || COMMON[key];
  act?.();
  return Boolean(act);
}

export { put };
