// What was talked about: sessions, open items, what gave way to what, and what it was about by name.

import { ask } from './api.js';
import { neighbourhood, timeline } from './charts.js';
import { button, choice, day, el, field, moment, number, short, table } from './dom.js';
import { stages } from './memory.js';
import { doing, later, link, named, remembered, rows, toast, undoable, verify } from './ui.js';

const MOST_NEAR = 60;
const MOST_OPEN = 60;

async function projectBar(page, query, more = []) {
  const { projects } = await ask('facets');
  const pick = (event) => { location.hash = event.target.value === '*' ? `#/${page}` : `#/${page}?project=${encodeURIComponent(event.target.value)}`; };
  const options = [['*', 'all'], ...named(projects)];
  const id = query.get('project');
  const bar = el('div', { class: 'bar' }, field('Project', choice(options, id ?? '*', { on: { change: pick } })), more);
  return { bar, limits: id ? { project_id: [id] } : {}, project: projects.find((one) => one.id === (id || projects[0]?.id)), projects };
}

// -- sessions --------------------------------------------------------------------------------------

export async function sessions({ query }) {
  if (query.get('session')) return oneSession(query.get('session'));
  const { bar, limits } = await projectBar('sessions', query);
  const { sessions: found } = await ask('topics', { ...limits, k: 100 });
  return el('div', {}, el('h1', {}, 'Sessions'), bar, found.length ? [timeline(found),
    found.slice(0, Number(query.get('k')) || 12).map((one) => el('section', { class: 'card' }, el('h2', {}, el('a', { href: `#/sessions?session=${one.session}` }, `${day(one.started_at)} · ${one.project || 'no project'}`)), tree(one.topics))), found.length > 12 && !query.get('k') && el('a', { href: '#/sessions?k=100' }, `All ${found.length}`)]
    : el('p', { class: 'hint' }, 'No session was read yet. Jobs and health has a button that reads those of before.'));
}

function tree(topics) {
  return el('ul', { class: 'tree' }, topics.map((topic) => el('li', {}, short(topic.title, 140), topic.parts.length > 0 && tree(topic.parts))));
}

async function oneSession(session) {
  const [{ sessions: [one] }, given, said, { open }] = await Promise.all([ask('topics', { session, k: 1 }), ask('session_recalled', { session, k: 50 }).catch(() => ({ memories: [], total: 0 })),
    ask('list', { session: [session], k: 100 }), ask('open_items', { session: [session] })]);
  const made = el('div', {}, el('h1', {}, one ? `Session of ${moment(one.started_at)}` : `Session ${session.slice(0, 8)}`), one && el('p', { class: 'hint' }, el('code', {}, one.path)),
    el('p', { class: 'bar' }, button('Summarise', doing(async (event) => {
      const { points } = await ask('summarize', { session: [session], k: 12 });
      event.target?.closest('p').after(el('ul', {}, points.map((point) => el('li', {}, el('strong', {}, `${point.sort}: `), link(point, short(point.text, 240))))));
    })), el('a', { class: 'button', href: `#/flows?session=${encodeURIComponent(session)}` }, 'Its steps as a graph'), button('What to go on with', doing(async () => {
      const text = [`Go on with the session of ${moment(one?.started_at)}.`, ...(one?.topics || []).map((topic) => `- ${topic.title}`), ...open.map((memory) => `Open: ${short(memory.text)}`)].join('\n');
      await navigator.clipboard.writeText(text).then(() => toast('Copied.'), () => toast(text));
    }))), one && [el('h2', {}, 'Topics'), tree(one.topics)],
    el('h2', {}, `What was put before the model: ${given.total}`), rows(given.memories, (memory) => [el('span', {}, `given ${moment(memory.shown_at)}`)]),
    el('h2', {}, 'Open: questions, todos and problems'), rows(open), el('h2', {}, `What it left: ${said.total}`), rows(said.memories));
  return made;
}

// -- open items ------------------------------------------------------------------------------------

export async function openItems({ query, refresh }) {
  const { bar, limits } = await projectBar('open', query);
  const { open, answered } = await ask('open_items', { ...limits, k: MOST_OPEN });
  // A full page does not say how many there are.
  const count = (found) => (found.length < MOST_OPEN ? found.length : `the newest ${MOST_OPEN}`);
  return el('div', {}, el('h1', {}, 'Open items'), bar, el('p', { class: 'hint' }, `The newest questions, todos and problems: ${MOST_OPEN} that are open, and ${MOST_OPEN} that are answered, at most. Those of another member are that one’s to answer.`),
    el('h2', {}, `Open: ${count(open)}`), open.map((memory) => item({ memory, answers: [] }, refresh)), el('h2', {}, `Answered: ${count(answered)}`), answered.map((one) => item(one, refresh)));
}

function item({ memory, answers }, refresh) {
  const words = el('input', { type: 'text', 'aria-label': `Answer to: ${short(memory.text, 60)}` });
  const answer = doing(async (event) => {
    event.preventDefault();
    if (!words.value.trim()) return;
    const made = await ask('remember', { text: words.value, kind: 'conclusion', tags: [...memory.tags], answers: memory.id });
    // What was there before stays, and only answers this no more.
    if (made.action === 'merged') undoable('Answered, by what was there already.', async () => { await ask('link', { from: made.id, to: memory.id, relation: 'answers', remove: true }); refresh(); });
    else remembered(made, 'Answered.', refresh);
    refresh();
  });
  return el('div', { class: 'card' }, rows([memory]), answers.map((one) => el('p', { class: 'chain' }, link(one, short(one.text, 240)))),
    !answers.length && !memory.author && el('form', { class: 'bar', on: { submit: answer } }, words, el('button', {}, 'Answer'), button('Close: no more', () => verify([memory], 'outdated', refresh))));
}

// -- evolution -------------------------------------------------------------------------------------

export async function evolution({ query, refresh }) {
  const { bar, limits } = await projectBar('evolution', query);
  const [{ chains }, waiting] = await Promise.all([ask('evolution', { ...limits, k: 60 }), ask('review', { k: 500 })]);
  const against = waiting.items.filter((one) => one.reason === 'contradiction');
  const settle = (item, act, words) => () => later(words, (more) => ask('review', { [act]: [item.id] }, more), { after: refresh });
  return el('div', {}, el('h1', {}, 'Evolution'), el('p', { class: 'lead' }, 'What was so until when, and what speaks against each other still.'), bar,
    el('h2', {}, `They disagree: ${against.length}`), against.map((one) => el('div', { class: 'card' }, el('div', { class: 'pair' },
      el('div', {}, el('h3', {}, `Before: ${day(one.other.created_at)}`), link(one.other, one.other.text)), el('div', {}, el('h3', {}, `Newer: ${day(one.created_at)}`), link(one, one.text))),
    el('div', { class: 'bar' }, [['The newer holds', 'confirm'], ['The older holds', 'drop'], ['Both hold', 'keep']].map(([words, act]) => button(words, settle(one, act, words)))))),
    el('h2', {}, `It gave way: ${chains.length}`), chains.map((one) => el('section', { class: 'card' }, el('h3', {}, `${one.kind} · ${one.project || 'yours'}`), stages(one))),
    !chains.length && el('p', { class: 'hint' }, 'Nothing gave way yet.'));
}

// -- entities --------------------------------------------------------------------------------------

export async function entities({ query, refresh }) {
  if (query.get('name')) return around(query.get('name'), query.get('to'), refresh);
  const { bar, limits } = await projectBar('entities', query);
  const { entities: found } = await ask('entities', { ...limits, k: 200 });
  return el('div', {}, el('h1', {}, 'Entities'), el('p', { class: 'lead' }, 'What memories are about by name. Open one for its neighbourhood, and to make two names of one thing one.'), bar,
    table('Names', [['Name', (one) => el('a', { href: at(`${one.kind}:${one.name}`) }, one.name)], ['Kind', (one) => one.kind], ['Memories', (one) => number(one.memories)]], found));
}

const at = (name) => `#/entities?name=${encodeURIComponent(name)}`;
const bare = (name) => name.slice(name.indexOf(':') + 1);

/** Returns the newest memories that name something, each with its names as they go by now. */
async function of(name, aliases) {
  const { memories } = await ask('list', { entity: [name], k: 200 });
  return memories.map((one) => ({ ...one, entities: [...new Set(one.entities.map((other) => aliases[other] || other))] })).filter((one) => one.entities.includes(name));
}

/** Returns how often names stand in a memory together with one, the commonest first. */
function near(memories, name) {
  const counts = new Map();
  for (const one of memories) for (const other of one.entities) if (other !== name) counts.set(other, (counts.get(other) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, MOST_NEAR);
}

async function around(asked, to, refresh) {
  const { aliases } = await ask('alias');
  const name = aliases[asked] || asked;
  const memories = await of(name, aliases);
  const beside = near(memories, name);
  const names = [name, ...beside.map(([other]) => other)];
  const nodes = [{ name: bare(name), n: memories.length, href: at(name) }, ...beside.map(([other, n]) => ({ name: bare(other), n, href: at(other) }))];
  const edges = new Map();
  for (const one of memories) {
    const here = one.entities.map((other) => names.indexOf(other)).filter((place) => place >= 0);
    for (const a of here) for (const b of here) if (a < b) edges.set(`${a},${b}`, (edges.get(`${a},${b}`) || 0) + 1);
  }
  const other = choice([['', 'to another …'], ...names.slice(1).map((one) => [one, one])], to || '', { on: { change: (event) => { location.hash = `${at(name)}&to=${encodeURIComponent(event.target.value)}`; } } });
  return el('div', {}, el('h1', {}, name), el('p', { class: 'bar' }, el('a', { href: '#/entities' }, 'All names'), el('a', { href: `#/memories?entity=${encodeURIComponent(name)}` }, 'Its memories, as a list'), field('The way', other)),
    renaming(name, names, aliases, refresh),
    to && await way(name, aliases[to] || to, aliases), beside.length ? neighbourhood(`Around ${name}`, nodes, [...edges].map(([key, weight]) => [...key.split(',').map(Number), weight])) : el('p', { class: 'hint' }, 'It stands alone.'),
    el('h2', {}, `Memories: ${memories.length}`), rows(memories.slice(0, 60)));
}

/** Returns what gives a name up for another, an old or a new one, and what tells such apart again. */
function renaming(name, names, aliases, refresh) {
  const input = el('input', { type: 'text', value: name, list: 'names' });
  const call = (alias, word) => ask('alias', { name: alias, of: word });
  const go = doing(async (event) => {
    event.preventDefault();
    const word = input.value.trim();
    if (!word || word === name) return;
    await call(name, word);
    undoable(`${name} goes by ${word}.`, async () => { await call(name, ''); location.hash = at(name); refresh(); });
    location.hash = at(word);
  });
  const own = Object.keys(aliases).filter((one) => aliases[one] === name);
  return el('div', {}, el('form', { class: 'bar', on: { submit: go } }, field('It goes by (kind:name)', input), el('datalist', { id: 'names' }, names.slice(1).map((one) => el('option', { value: one }))), el('button', {}, 'Rename or merge')),
    own.map((alias) => el('p', { class: 'bar' }, el('span', {}, 'Also written ', el('code', {}, alias)), button('Tell apart', doing(async () => {
      await call(alias, '');
      undoable(`${alias} goes by its own name.`, async () => { await call(alias, name); refresh(); });
      refresh();
    }), { 'aria-label': `Tell ${alias} apart` }))));
}

/** Returns the memories by which one name leads to another, two steps at most. */
async function way(from, to, aliases) {
  const [first, second] = await Promise.all([of(from, aliases), of(to, aliases)]);
  const direct = first.filter((one) => one.entities.includes(to));
  if (direct.length) return el('section', {}, el('h2', {}, 'The way'), rows(direct.slice(0, 5)));
  const known = new Map(near(first, from));
  const middle = near(second, to).find(([one]) => known.has(one))?.[0];
  if (!middle) return el('p', { class: 'hint' }, `No memory leads from ${from} to ${to} in two steps.`);
  return el('section', {}, el('h2', {}, `The way, by ${middle}`), rows([first.find((one) => one.entities.includes(middle)), second.find((one) => one.entities.includes(middle))]));
}
