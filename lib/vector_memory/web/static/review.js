// Review: what waits for the user's word, one after the other, by keyboard.

import { ask } from './api.js';
import { button, day, el, filled, number, put, short } from './dom.js';
import { allRows, confirmed, doing, flushAll, forget, keys, later, link, marks, remembered, row, rowNow, step, toast, waits, works } from './ui.js';

const WHY = {
  proposed: 'An agent proposes it', suspicious: 'It looks like instructions, and is held back', contradiction: 'Two disagree', decision: 'Decided, and not confirmed',
  unanswered: 'Asked in several sessions: keep it as a preference?', core: 'Used often: does it matter always?', duplicate: 'Two say nearly the same', new: 'Captured of late',
};
const WORDS = { confirm: 'Confirm', keep: 'Keep', drop: 'Drop', raise: 'Matters more', edit: 'Edit' };
const PAIR = { confirm: 'The newer holds', drop: 'The older holds', keep: 'Both hold' };
const LETTER = { confirm: 'c', keep: 'p', drop: 'd', raise: 'r', edit: 'e' };
const PAGE = 25;

export async function review({ query, refresh }) {
  const most = Number(query.get('k')) || PAGE;
  const waiting = await ask('review', { k: most });
  const left = el('span', { role: 'status' }, `${number(waiting.total)} wait for you`);
  let count = waiting.total;
  const decide = (node, act) => doing(async () => {
    if (!node || node.classList.contains('gone')) return;
    const { id } = node.memory;
    if (act === 'edit') { location.hash = `#/memory/${id}?edit=1`; return; }
    if (!node.memory.actions.includes(act)) { toast(`That cannot be decided here: ${node.memory.actions.join(', ')}.`); return; }
    const decided = (is) => {
      node.querySelectorAll('button').forEach((one) => { one.disabled = is; });
      count += is ? -1 : 1;
      put(left, `${number(count)} wait for you`);
    };
    later(`${(node.memory.other ? PAIR : WORDS)[act] || WORDS[act]}: ${short(node.memory.text, 60)}`, (more) => ask('review', { [act]: [id] }, more), { ids: [id], undone: () => decided(false) });
    decided(true);
    step(1);
  });
  keys(Object.fromEntries(Object.entries(LETTER).map(([act, key]) => [key, () => decide(rowNow() || allRows()[0], act)()])));
  const shown = waiting.items.map((item) => shownItem(item, decide));
  const made = el('div', {}, el('h1', {}, 'Review'),
    el('p', { class: 'lead' }, 'What agents and sessions would have remembered counts fully when you say so. ', Object.entries(LETTER).map(([act, key]) => [el('kbd', {}, key), ` ${WORDS[act].toLowerCase()}  `])),
    el('div', { class: 'bar' }, left, button('All of this is seen', () => later('All of this is seen.', (more) => ask('review', { finish: true }, more), { after: refresh }))),
    waiting.total ? el('ul', { class: 'rows' }, shown) : el('p', { class: 'hint' }, 'Nothing waits for you.'),
    waiting.total > most && el('p', { class: 'bar' }, button('The next', doing(async () => { await flushAll(); refresh(); })), el('a', { href: `#/review?k=${most + 100}` }, 'More at once')), await held(refresh), await published(), merging(refresh));
  made.shown = () => step(1);
  return made;
}

function shownItem(item, decide) {
  const node = el('li', { class: `row ${waits(item.id) ? 'gone' : ''}`, 'data-id': item.id });
  node.memory = item;
  const words = item.other ? PAIR : WORDS;
  return filled(node, {}, [el('span', { 'aria-hidden': 'true' }, '•'), el('a', { class: 'words', href: `#/memory/${item.id}`, on: { focus: () => { rowNow()?.classList.remove('now'); node.classList.add('now'); } } }, short(item.text, 400) || '(its words are held back)'),
    el('div', { class: 'meta' }, el('strong', {}, WHY[item.reason] || item.reason), el('span', {}, item.kind), el('span', {}, day(item.created_at)), el('span', {}, item.project), item.sessions > 1 && el('span', {}, `${item.sessions} sessions`), marks(item)),
    item.other && el('p', { class: 'hint' }, `Before, ${day(item.other.created_at)}: `, link(item.other, short(item.other.text, 240))),
    el('div', { class: 'bar' }, item.actions.map((act) => button(words[act] || WORDS[act], decide(node, act))))]);
}

async function held(refresh) {
  const quarantine = await ask('quarantine', { k: 50 });
  return el('section', {}, el('h2', {}, `Held back: ${number(quarantine.total)}`), quarantine.memories.map((one) => el('div', { class: 'card' }, el('p', { class: 'text warned' }, link(one, short(one.text, 300))),
    el('div', { class: 'bar' }, button('Let it go', () => later('Hooks bring it again.', (more) => ask('release', { ids: [one.id] }, more), { after: refresh })), button('Forget', doing(() => forget([one])), { class: 'bad' })))));
}

/** What other members of a team published: it informs until somebody here makes it one's own, and goes if nobody wants it. */
async function published() {
  const { memories, total } = await ask('list', { shared: true, k: 50 });
  const own = (one) => doing(async () => {
    const made = await ask('remember', { text: one.text, title: one.title, kind: one.kind, tags: one.tags, ...(await where(one)) });
    remembered(made, `Yours now: ${short(one.text, 60)}`);
  });
  const reject = (one) => () => later(`Rejected: ${short(one.text, 60)}`, (more) => ask('share_reject', { ids: [one.id] }, more), { ids: [one.id] });
  return total > 0 && el('section', {}, el('h2', {}, `Published by others: ${number(total)}`), el('p', { class: 'lead' }, 'It is found, with its author’s name, weighs less than your own, and binds nobody.'),
    el('ul', { class: 'rows' }, memories.map((one) => filled(row(one), {}, [el('div', { class: 'bar' }, button('Make it mine', own(one)), button('Reject', reject(one), { class: 'bad' }))]))),
    total > memories.length && el('p', { class: 'hint' }, `The newest ${number(memories.length)} of ${number(total)}.`));
}

async function where({ project_id: id }) {
  const root = (await ask('facets')).projects.find((one) => one.id === id)?.root;
  return root ? { project: root, all_projects: false } : { global: true };
}

function merging(refresh) {
  const place = el('div', {});
  const look = works('Look for what says the same', 'consolidate', { dry_run: true }, (answer) => put(place, answer.groups.length
    ? [el('ul', {}, answer.groups.map((group) => el('li', {}, group.same ? 'The same: ' : 'Close: ', group.memories.map((one, i) => [i ? ' · ' : '', link(one, short(one.text, 90))])))),
      button('Merge those that say the same', async () => { if (await confirmed('Merge them?', el('p', {}, 'Of those that say the same one stays, with what the others add.'), { yes: 'Merge', word: 'merge' })) works('Merge', 'consolidate', { dry_run: false }, refresh)(); }, { class: 'main' })]
    : 'Nothing says the same twice.'));
  return el('section', {}, el('h2', {}, 'Duplicates'), button('Look for them', look), place);
}
