// One memory: its words, where they come from, what it was before, who was given it; and what can be done about it.

import { ask } from './api.js';
import { button, choice, day, el, facts, field, moment, often, percent, put, short, table } from './dom.js';
import { confirmed, doing, fail, forget, keys, later, link, marks, plainly, toast, trouble, undoable, verify, work } from './ui.js';

const PRIORITIES = ['CORE', 'HIGH', 'NORMAL', 'LOW'].map((one) => [one, one]);
const RELATIONS = ['relates_to', 'supersedes', 'builds_on', 'contradicts', 'answers', 'clarifies'].map((one) => [one, one.replace('_', ' ')]);
const AGES = [['sensitivity', 'sensitivity', 'Who may see it', ['internal', 'public', 'confidential', 'restricted'].map((one) => [one, one])], ['jurisdiction', 'jurisdiction', 'Under the law of', [['none', 'not said'], ...['EU', 'UK', 'CH', 'US', 'CA', 'JP', 'AU', 'BR'].map((one) => [one, one])]],
  ['valid_until', 'valid_until', 'Holds until'], ['expires', 'expires_at', 'May go after']];
const isDue = (one) => one.temporal === 'deadline';
/** A deadline has its last day in the place of the moment behind that. */
const agesOf = (one) => AGES.map((age) => (isDue(one) && age[0] === 'valid_until' ? ['due', 'due_on', 'Due'] : age));
/** Returns what gives a memory its date back: by the moment, since by its day alone it would end at midnight. No date can be set
 *  of a deadline, or of what may go, that is over: null. */
function dated(one, name) {
  const at = one[name === 'expires' ? 'expires_at' : 'valid_until'];
  if (name !== 'valid_until' && at && new Date(at) <= new Date()) return null;
  if (name !== 'due') return { [name]: at || 'never' };
  return { temporal: one.temporal, valid_until: at, ...(one.half_life_days && { half_life_days: one.half_life_days }) };
}
const SEEN = ['text', 'kind', 'tags', 'priority'];

export async function memory({ rest, query, refresh }) {
  const told = await ask('provenance', { id: rest[0] });
  const one = told.memory;
  const editing = el('section', { 'aria-label': 'Edit' });
  const weigh = (verdict) => () => verify([one], verdict, refresh);
  const edit = () => { put(editing, form(one, editing, refresh)); editing.querySelector('textarea').focus(); };
  keys({ e: edit, '#': doing(() => gone(one)), c: weigh('confirmed') });
  const made = el('article', {}, el('h1', {}, one.title ? short(one.title, 100) : `${one.kind} of ${moment(one.created_at)}`),
    el('p', { class: 'meta' }, marks(one)),
    el('div', { class: 'card' }, el('p', { class: `text ${one.suspicious ? 'warned' : ''}` }, one.text),
      one.suspicious && el('p', { class: 'hint' }, `It looks like instructions: ${one.suspicious.reasons.join(', ')}. Nothing here follows them.`)),
    el('div', { class: 'bar' }, button('Edit (e)', edit, { class: 'main' }), button('It is so (c)', weigh('confirmed')), button('It is not so', weigh('refuted')), button('No more', weigh('outdated')),
      button('Matters more', doing(async () => { await ask('boost', { id: one.id, direction: 'up' }); undoable('It matters more.', async () => { await ask('edit', { id: one.id, priority: one.priority }); refresh(); }); refresh(); })),
      button('Promote', () => later('It is kept for good.', (more) => ask('promote', { id: one.id }, more), { after: refresh })),
      button(one.tier === 'cold' ? 'Keep at hand' : 'Put away', doing(async () => { await ask('promote', { id: one.id, to: one.tier === 'cold' ? 'warm' : 'cold' }); undoable(one.tier === 'cold' ? 'It is at hand.' : 'It comes only when somebody asks.', async () => { await ask('promote', { id: one.id, to: one.tier }); refresh(); }); refresh(); })),
      one.suspicious?.held_back && button('Let it go', () => later('Hooks bring it again.', (more) => ask('release', { ids: [one.id] }, more), { after: refresh })),
      button('Forget (#)', doing(() => gone(one)), { class: 'bad' }), button('Purge …', doing(() => purge(one)), { class: 'bad' })),
    editing, details(one, told), said(one, told), before(told.history), links(one, told.links, refresh), replace(one, refresh),
    told.audit.length > 0 && table('Who was given it, and what was done', [['When', (entry) => moment(entry.at)], ['What', (entry) => entry.action], ['By', (entry) => entry.actor]], told.audit));
  if (query.get('edit')) made.shown = edit;
  return made;
}

function details(one, told) {
  const from = one.source;
  return el('section', {}, el('h2', {}, 'What is known of it'), facts([
    ['Kind', one.kind], ['Project', one.project || 'none: it is about you'], ['Said by', one.origin], ['Confidence', percent(one.confidence)], ['Priority', one.priority],
    ['Said', moment(one.created_at)], ['Stored', moment(told.stored_at)], ['Collection', one.collection], ['Kept', one.tier], ['Ages', one.temporal], ['Due', isDue(one) ? one.due_on : ''], ['Comes', one.every], ['Comes next', isDue(one) ? '' : one.due_on], ['Holds until', isDue(one) ? '' : moment(one.valid_until)], ['May go after', moment(one.expires_at)],
    ['Used', often(one.uses)], ['Last used', moment(one.last_used_at)], ['Tags', one.tags.join(', ')], ['Files', one.files.join(', ')],
    ['About', one.entities.map((name, i) => [i ? ', ' : '', el('a', { href: `#/entities?name=${encodeURIComponent(name)}` }, name.split(':')[1] || name)])],
    ['Session', told.said_in && el('a', { href: `#/sessions?session=${told.said_in}` }, told.said_in.slice(0, 8))],
    ['Transcript', from.path ? `${from.path}, lines ${from.line_start ?? from.first_line ?? '?'}–${from.line_end ?? from.last_line ?? '?'}` : ''], ['Id', one.id]]));
}

/** Returns what was said in its turn, which is asked for when somebody looks. */
function said(one, told) {
  const place = el('div', {});
  const look = async (event) => {
    if (!event.currentTarget.open || place.children.length) return;
    const { memories } = await ask('list', { session: [told.said_in], kind: ['passage'], k: 200 });
    const near = memories.filter((other) => other.source.turn === one.source.turn);
    put(place, near.length ? near.map((other) => el('blockquote', { class: 'text' }, other.text, ' ', link(other, '↗'))) : el('p', { class: 'hint' }, 'Its words are not kept any more.'));
  };
  return told.said_in && el('details', { on: { toggle: (event) => look(event).catch(fail) } }, el('summary', {}, 'What was said there'), place);
}

function form(one, place, refresh) {
  const text = el('textarea', { value: one.text });
  const kind = el('input', { type: 'text', value: one.kind });
  const tags = el('input', { type: 'text', value: one.tags.join(', ') });
  const priority = choice(PRIORITIES, one.priority);
  const more = Object.fromEntries(agesOf(one).map(([name, of, , options]) => [name, options ? choice(options, one[of] ?? options[0][0]) : el('input', { type: 'date', value: day(one[of]) })]));
  const told = el('div', {});
  const save = doing(async (event) => {
    event.preventDefault();
    const seen = Object.fromEntries(SEEN.map((name) => [name, one[name]]));
    const asked = { id: one.id, seen, kind: kind.value.trim(), priority: priority.value, tags: tags.value.split(',').map((tag) => tag.trim()).filter(Boolean) };
    const was = {};
    const lost = [];
    for (const [name, of, label, options] of agesOf(one)) {
      const before = options ? one[of] ?? options[0][0] : day(one[of]);
      const value = more[name].value;
      if (value === before) continue;
      const back = options ? { [name]: before } : dated(one, name);
      if (back) Object.assign(was, back); else lost.push(label);
      // Without its day it is no deadline.
      if (name === 'due' && !value) asked.temporal = 'permanent'; else asked[name] = value || 'never';
    }
    if (lost.length && !await confirmed('Change a date that is over?', el('p', {}, `What stands as “${lost.join('”, “')}” is over. Nothing sets such a date again: no undo brings it back.`))) return;
    if (text.value !== one.text) { was.text = one.text; asked.text = text.value; }
    let now;
    try {
      now = (await ask('edit', asked)).memory;
    } catch (error) {
      put(told, trouble(error), error.status === 409 && el('p', {}, el('a', { href: `#/memory/${one.id}` }, 'See it as it is now'), ' in another tab: what you wrote stays here.'));
      return;
    }
    // The form was asked for once: it does not come again with the page. What an agent puts in other words has another id.
    const shown = `#/memory/${now.id}`;
    window.history.replaceState(null, '', shown);
    undoable(lost.length ? 'Saved. Undo leaves the date as it is now.' : 'Saved.', async () => {
      const { memory: back } = await ask('edit', { id: now.id, kind: one.kind, tags: [...one.tags], priority: one.priority, ...was });
      if (location.hash === shown) window.history.replaceState(null, '', `#/memory/${back.id}`);
      refresh();
    });
    refresh();
  });
  return el('form', { class: 'card', on: { submit: save } }, el('h2', {}, 'Edit'), field('Words', text),
    el('div', { class: 'bar' }, field('Kind', kind), field('Tags, with commas', tags), field('Priority', priority), agesOf(one).map(([name, , label]) => field(label, more[name]))), told,
    el('div', { class: 'bar' }, el('button', { class: 'main' }, 'Save'), button('Leave it', () => put(place))));
}

async function gone(one) {
  if (!await forget([one])) return;
  if (window.history.length > 1) window.history.back(); else location.hash = '#/memories';
}

async function purge(one) {
  const shown = await work('Look at what would go', 'purge', { ids: [one.id], dry_run: true });
  if (!shown) return;
  const body = el('div', {}, el('p', {}, 'It is removed from every copy of ours: stores, archives, notes, logs.'), plainly(shown),
    el('ul', {}, shown.memories.map((memory) => el('li', {}, short(memory.text, 120)))), shown.sources?.length > 0 && el('p', {}, 'These files of others hold it, and stay: ', shown.sources.join(', ')));
  if (!await confirmed('Purge it for good?', body, { yes: 'Purge', word: one.id.slice(0, 6) })) return;
  const done = await work('Purge', 'purge', { ids: [one.id] });
  if (done) toast(`Purged: ${done.purged}. ${done.left?.length ? `Still in ${done.left.length} files.` : 'All files were searched for its words.'}`);
  location.hash = '#/memories';
}

function before(told) {
  return told.chain.length > 1 && el('section', {}, el('h2', {}, 'What it was before'), stages(told));
}

export function stages(told) {
  return el('div', {}, el('p', { class: 'hint' }, told.summary), (told.chain || told.stages).map((stage) => el('div', { class: 'chain' },
    el('p', { class: 'text' }, el('a', { href: `#/memory/${stage.id}` }, short(stage.text, 300))),
    el('p', { class: 'meta' }, `${moment(stage.from)} – ${stage.until ? moment(stage.until) : 'now'}`, stage.reason && ` · ${stage.reason}`))));
}

function links(one, known, refresh) {
  const to = el('input', { type: 'text' });
  const relation = choice(RELATIONS);
  const add = doing(async (event) => {
    event.preventDefault();
    const made = await ask('link', { from: one.id, to: to.value.trim(), relation: relation.value });
    undoable('Linked.', async () => { await ask('link', { from: made.from, to: made.to, relation: relation.value, remove: true }); refresh(); });
    refresh();
  });
  const remove = (each) => doing(async () => {
    const ends = { from: each.from, to: each.to, relation: each.relation };
    await ask('link', { ...ends, remove: true });
    undoable('The link is gone.', async () => { await ask('link', ends); refresh(); });
    refresh();
  });
  return el('section', {}, el('h2', {}, 'Links'),
    known.length > 0 && table('Links', [['Relation', (each) => (each.direction === 'out' ? `it ${each.relation.replace('_', ' ')}` : `${each.relation.replace('_', ' ')} it`)], ['Memory', (each) => link(each.other)],
      ['Act', (each) => button('Remove', remove(each), { 'aria-label': `Remove the link to ${short(each.other.text, 40)}` })]], known, true),
    el('form', { class: 'bar', on: { submit: add } }, field('It', relation), field('Id of another memory', to), el('button', {}, 'Link')));
}

function replace(one, refresh) {
  const text = el('textarea', {});
  const go = el('button', { class: 'main' }, 'Supersede');
  const save = doing(async (event) => {
    event.preventDefault();
    if (!text.value.trim()) return;
    // Until that is done it is not done once more.
    go.disabled = true;
    const body = { text: text.value, kind: one.kind, tags: [...one.tags], supersedes: one.id };
    later('Superseded: the old one stays in its history.', (more) => ask('remember', body, more), { after: refresh, undone: () => { go.disabled = false; } });
  });
  return one.status === 'active' && el('details', {}, el('summary', {}, 'Something else holds now …'), el('form', { on: { submit: save } }, field('What holds now', text), el('p', {}, go)));
}
