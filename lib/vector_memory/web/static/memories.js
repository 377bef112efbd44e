// Memories: a list of any length of which only what is seen is drawn, with facets and acts on what is ticked.

import { ask } from './api.js';
import { button, choice, el, field, number, put } from './dom.js';
import { allRows, chosen, doing, forget, keys, named, row, step, undoable, verify } from './ui.js';

const ROW_PX = 88;
const PAGE = 60;
const AROUND = 6;

/** A list of which the rows in sight are drawn, and what is further down is asked for when one comes near. */
class Windowed {
  constructor(filter, told) {
    this.filter = filter;
    this.told = told;
    this.items = [];
    this.ticked = new Set();
    this.next = '';
    this.now = -1;
    this.space = el('ul', { class: 'rows window', 'aria-label': 'Memories, newest first' });
    this.space.addEventListener('change', (event) => {
      const id = event.target.closest('.row')?.dataset.id;
      if (id) this.ticked[event.target.checked ? 'add' : 'delete'](id);
    });
  }

  async more() {
    if (this.isAsking || (this.items.length && !this.next)) return;
    this.isAsking = true;
    try {
      const page = await ask('memories', { ...this.filter, limit: PAGE, ...(this.next ? { cursor: this.next } : {}) });
      this.items.push(...page.memories);
      this.next = page.next;
      this.total = page.total;
      put(this.told, `${number(page.total)} memories`);
      this.space.style.height = `${this.items.length * ROW_PX}px`;
    } finally {
      this.isAsking = false;
    }
    this.draw();
  }

  draw() {
    const top = -this.space.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(top / ROW_PX) - AROUND);
    const last = Math.min(this.items.length, first + Math.ceil(window.innerHeight / ROW_PX) + 2 * AROUND);
    const known = new Map(allRows().map((one) => [one.dataset.id, one]));
    const wanted = this.items.slice(first, last).map((memory, i) => {
      const node = known.get(memory.id) || row(memory);
      node.style.transform = `translateY(${(first + i) * ROW_PX}px)`;
      node.setAttribute('aria-setsize', this.total);
      node.setAttribute('aria-posinset', first + i + 1);
      node.querySelector('input').checked = this.ticked.has(memory.id);
      return node;
    });
    const kept = new Set(wanted);
    for (const one of known.values()) if (!kept.has(one) && !one.contains(document.activeElement)) one.remove();
    wanted.forEach((one) => { if (!one.isConnected) this.space.append(one); });
    if (last > this.items.length - 20 && this.next) this.more();
  }

  chosen() {
    return this.ticked.size ? this.items.filter((one) => this.ticked.has(one.id)) : chosen();
  }
}

export async function memories({ query, refresh }) {
  const facets = await ask('growth', { k: 1 });
  const kinds = Object.keys((await ask('stats')).by_kind);
  const filter = {};
  for (const name of ['since', 'until']) if (query.get(name)) filter[name] = query.get(name);
  if (query.get('kind')) filter.kinds = [query.get('kind')];
  if (query.get('tag')) filter.tags = [query.get('tag')];
  if (query.get('entity')) filter.entities = [query.get('entity')];
  if (query.get('project') !== null && query.get('project') !== '*') filter.project_ids = [query.get('project')];
  const told = el('p', { class: 'hint', role: 'status' });
  const list = new Windowed(filter, told);
  const set = (name, value) => {
    if (value === '' || value === '*') query.delete(name); else query.set(name, value);
    location.hash = `#/memories?${query}`;
  };
  const picked = (name) => ({ on: { change: (event) => set(name, event.target.value) } });
  const dated = (name) => el('input', { type: 'date', value: query.get(name) || '', ...picked(name) });
  const bar = el('div', { class: 'bar' },
    field('Kind', choice([['', 'all'], ...kinds.map((one) => [one, one])], query.get('kind'), picked('kind'))),
    field('Project', choice([['*', 'all'], ...named(facets.projects)], query.get('project') ?? '*', picked('project'))),
    field('Since', dated('since')), field('Before', dated('until')),
    field('Tag', el('input', { type: 'text', value: query.get('tag') || '', ...picked('tag') })));
  const acts = el('div', { class: 'bar' },
    button('Confirm (c)', doing(async () => { for (const one of list.chosen()) await verify(one, 'confirmed'); })),
    button('Tag …', doing(() => tag(list.chosen()))),
    button('Forget (#)', doing(() => forget(list.chosen())), { class: 'bad' }),
    el('span', { class: 'hint' }, 'of what is ticked, or of the row that is marked'));
  const fresh = el('p', { class: 'hint' });
  const made = el('div', {}, el('h1', {}, 'Memories'), bar, acts, told, fresh, list.space);
  const scrolled = () => { if (made.isConnected) list.draw(); else stop(); };
  const changed = () => { if (made.isConnected) put(fresh, 'There is something new. ', button('Show it', refresh)); };
  const stop = () => { window.removeEventListener('scroll', scrolled); window.removeEventListener('resize', scrolled); document.removeEventListener('vm:change', changed); };
  window.addEventListener('scroll', scrolled, { passive: true });
  window.addEventListener('resize', scrolled);
  document.addEventListener('vm:change', changed);
  keys({ j: () => { step(1); list.draw(); }, k: () => { step(-1); list.draw(); }, '#': doing(() => forget(list.chosen())) });
  await list.more();
  made.shown = () => { list.draw(); if (!list.items.length) put(told, 'Nothing is remembered here yet.'); };
  return made;
}

/** Adds a tag to memories; undone, they have those that they had. */
async function tag(memories) {
  const word = memories.length && window.prompt(`A tag for ${memories.length} memories:`);
  if (!word) return;
  for (const one of memories) await ask('edit', { id: one.id, tags: [...new Set([...one.tags, word.trim()])] });
  undoable(`Tagged: ${memories.length}`, async () => {
    for (const one of memories) await ask('edit', { id: one.id, tags: one.tags });
  });
}
