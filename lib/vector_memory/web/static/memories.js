// Memories: a list of any length of which only what is seen is drawn, with facets and acts on what is ticked.

import { ask } from './api.js';
import { button, choice, el, field, number, put } from './dom.js';
import { allRows, chosen, confirmed, doing, fail, forget, keys, named, row, step, undoable, verify } from './ui.js';

const ROW_PX = 88;
const PAGE = 60;
const AROUND = 6;
const FACETS = [['kind', 'kinds', 'Kind'], ['from', 'origins', 'Whose words'], ['priority', 'priorities', 'Priority'], ['tier', 'tiers', 'Kept'], ['collection', 'collections', 'Collection'], ['tag', 'tags'], ['entity', 'entities']];
const WORDS = { user: 'yours', assistant: 'the assistant’s', tool: 'foreign: a tool’s', import: 'imported', job: 'the memory’s own' };

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
      const page = await ask('memories', { ...this.filter, limit: PAGE, counted: false, ...(this.next ? { cursor: this.next } : {}) });
      this.items.push(...page.memories);
      this.next = page.next;
      this.space.style.height = `${this.items.length * ROW_PX}px`;
    } finally {
      this.isAsking = false;
    }
    this.draw();
  }

  /** Says how many there are, after the rows: among very many counting takes longer. */
  async count() {
    this.total = this.next ? (await ask('memories', { ...this.filter, limit: 1 })).total : this.items.length;
    put(this.told, this.total ? `${number(this.total)} memories` : 'Nothing is remembered here yet.');
    this.draw();
  }

  /** Leaves out what is gone. */
  drop(ids) {
    this.items = this.items.filter((one) => !ids.includes(one.id));
    for (const id of ids) this.ticked.delete(id);
    this.space.style.height = `${this.items.length * ROW_PX}px`;
    this.draw();
    this.count().catch(fail);
  }

  draw() {
    const top = -this.space.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(top / ROW_PX) - AROUND);
    const last = Math.min(this.items.length, first + Math.ceil(window.innerHeight / ROW_PX) + 2 * AROUND);
    const known = new Map(allRows().map((one) => [one.dataset.id, one]));
    const wanted = this.items.slice(first, last).map((memory, i) => {
      const node = known.get(memory.id) || row(memory);
      node.style.transform = `translateY(${(first + i) * ROW_PX}px)`;
      node.setAttribute('aria-setsize', this.total ?? -1);
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
  const filter = {};
  for (const name of ['since', 'until']) if (query.get(name)) filter[name] = query.get(name);
  for (const [name, of] of FACETS) if (query.get(name)) filter[of] = [query.get(name)];
  if (query.get('project') !== null && query.get('project') !== '*') filter.project_ids = [query.get('project')];
  const told = el('p', { class: 'hint', role: 'status' });
  const list = new Windowed(filter, told);
  const set = (name, value) => {
    if (value === '' || value === '*') query.delete(name); else query.set(name, value);
    location.hash = `#/memories?${query}`;
  };
  const picked = (name) => ({ on: { change: (event) => set(name, event.target.value) } });
  const dated = (name) => el('input', { type: 'date', value: query.get(name) || '', ...picked(name) });
  const bar = el('div', { class: 'bar' });
  const limits = el('details', { open: window.innerWidth >= 700 || query.size > 0 }, el('summary', {}, 'Only some of them'), bar);
  const fill = (facets) => put(bar, field('Project', choice([['*', 'all'], ...named(facets.projects)], query.get('project') ?? '*', picked('project'))),
    FACETS.filter(([,, label]) => label).map(([name, of, label]) => field(label, choice([['', 'all'], ...Object.entries(facets[of]).map(([word, n]) => [word, `${WORDS[word] || word} (${number(n)})`])], query.get(name), picked(name)))),
    field('Since', dated('since')), field('Before', dated('until')),
    field('Tag', el('input', { type: 'text', value: query.get('tag') || '', size: 12, ...picked('tag') })),
    query.get('entity') && el('span', { class: 'badge' }, query.get('entity')));
  const acts = el('div', { class: 'bar' },
    button('Confirm (c)', () => verify(list.chosen(), 'confirmed')),
    button('Change …', doing(() => change(list.chosen(), refresh))),
    button('Forget (#)', doing(() => forget(list.chosen())), { class: 'bad' }),
    el('span', { class: 'hint' }, 'of what is ticked, or of the row that is marked'));
  const fresh = el('p', { class: 'hint' });
  const made = el('div', {}, el('h1', {}, 'Memories'), limits, acts, told, fresh, list.space);
  const scrolled = () => { if (made.isConnected) list.draw(); else stop(); };
  const changed = () => { if (made.isConnected) put(fresh, 'There is something new. ', button('Show it', refresh)); };
  const gone = (event) => { if (made.isConnected) list.drop(event.detail); };
  const stop = () => { document.removeEventListener('vm:gone', gone); window.removeEventListener('scroll', scrolled); window.removeEventListener('resize', scrolled); document.removeEventListener('vm:change', changed); };
  window.addEventListener('scroll', scrolled, { passive: true });
  window.addEventListener('resize', scrolled);
  document.addEventListener('vm:change', changed);
  document.addEventListener('vm:gone', gone);
  keys({ j: () => { step(1); list.draw(); }, k: () => { step(-1); list.draw(); } }, () => list.chosen());
  fill(Object.fromEntries(['projects', ...FACETS.map((one) => one[1])].map((name) => [name, []])));
  await list.more();
  made.shown = () => { list.draw(); list.count().catch(fail); ask('facets').then(fill, fail); };
  return made;
}

/** Gives memories another kind or weight, or a tag more; undone, they have what they had. */
async function change(memories, refresh) {
  if (!memories.length) return;
  const kind = el('input', { type: 'text' });
  const tag = el('input', { type: 'text' });
  const priority = choice([['', 'as it is'], ...['CORE', 'HIGH', 'NORMAL', 'LOW'].map((one) => [one, one])], '');
  const body = el('div', { class: 'bar' }, field('Another kind', kind), field('One tag more', tag), field('Priority', priority));
  if (!await confirmed(`Change ${memories.length} memories?`, body, { yes: 'Change' })) return;
  const word = tag.value.trim();
  const wanted = { ...(kind.value.trim() && { kind: kind.value.trim() }), ...(priority.value && { priority: priority.value }) };
  if (!word && !Object.keys(wanted).length) return;
  for (const one of memories) await ask('edit', { id: one.id, ...wanted, ...(word && { tags: [...new Set([...one.tags, word])] }) });
  undoable(`Changed: ${memories.length}`, async () => {
    for (const { id, tags, kind: sort, priority: weight } of memories) await ask('edit', { id, tags, kind: sort, priority: weight });
    refresh();
  });
  refresh();
}
