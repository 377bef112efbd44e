// Search: what a prompt would have been given for a question, and why not the rest.

import { ask } from './api.js';
import { button, choice, el, facts, field, number, percent, short, table } from './dom.js';
import { confirmed, doing, later, named, remembered, row, trouble } from './ui.js';

const RANKED = ['words', 'cosine', 'fused'];
const KINDS = ['note', 'decision', 'preference', 'fact', 'rule', 'procedure', 'todo', 'question'];

export async function search({ query, refresh }) {
  const { projects } = await ask('facets');
  const project = query.get('project') ?? projects.find((one) => one.id)?.id ?? '';
  const typed = (name) => el('input', { type: 'search', value: query.get(name) || '', name });
  const asked = typed('q');
  const other = typed('and');
  const where = choice(named(projects), project);
  const go = (event) => {
    event.preventDefault();
    const next = new URLSearchParams({ q: asked.value, project: where.value });
    if (other.value) next.set('and', other.value);
    const hash = `#/search?${next}`;
    if (location.hash === hash) refresh(); else location.hash = hash;
  };
  const form = el('form', { class: 'bar', on: { submit: go } },
    el('label', { class: 'field wide' }, el('span', {}, 'A question, or a prompt'), asked), field('Said in', where),
    el('label', { class: 'field wide' }, el('span', {}, 'Compare with another'), other), el('button', { class: 'main' }, 'Search'));
  const questions = [query.get('q'), query.get('and')].filter(Boolean);
  const answers = await Promise.all(questions.map((one) => answer(one, projects.find(({ id }) => id === project) || { id: project })));
  return el('div', {}, el('h1', {}, 'Search'),
    el('p', { class: 'lead' }, 'What a prompt of these words would be given as the first of a session, and for each other hit the rule that left it out. Looking counts as no use.'),
    form, el('div', { class: answers.length > 1 ? 'pair' : '' }, answers));
}

async function answer(question, where) {
  let found;
  try {
    found = await ask('explain', { query: question, project_id: [where.id], k: 20 });
  } catch (error) {
    return trouble(error);
  }
  const told = found.hits.filter((one) => one.verdict === 'told').length;
  const note = found.context
    ? el('details', { open: true }, el('summary', {}, `The very note: ${found.tokens} of ${found.budget} tokens`), el('pre', { class: 'note', tabindex: 0 }, found.context))
    : el('p', { class: 'hint' }, found.silent || 'A prompt would be given nothing.');
  return el('section', { 'aria-label': short(question, 60) }, el('h2', {}, `“${short(question, 80)}”`),
    found.mode === 'lexical' && el('p', { class: 'hint' }, 'By words alone: there is no model at the moment.'),
    el('p', {}, `${told} of ${found.hits.length} hits would be told.`), note,
    el('ul', { class: 'rows' }, found.hits.map((one) => hit(one, question, where))));
}

function hit({ rank, hit: memory, verdict, why, worth }, question, where) {
  const parts = Object.entries(memory.breakdown);
  const rest = parts.filter(([name]) => !RANKED.includes(name));
  const label = (word) => () => later(`Kept as a ${word} answer.`, (more) => ask('label', { id: memory.id, query: question, verdict: word }, more));
  const node = row(memory, el('span', { class: `badge ${verdict === 'told' ? 'good' : ''}` }, verdict));
  const whole = () => [facts([['score', memory.score], ['relevance', percent(memory.relevance)], ['worth to a prompt', worth === undefined ? '' : percent(worth)],
      ...RANKED.filter((name) => name in memory.breakdown).map((name) => [name, figure(memory.breakdown[name])])]),
    table('Every factor', [['Factor', ([name]) => name.replace(/_/g, ' ')], ['Value', ([, value]) => figure(value)]], rest),
    el('p', { class: 'bar' }, button('Wrong result', label('wrong')), button('Right result', label('right')), button('Save as memory …', doing(() => keep(memory.text, where))))];
  // Twenty tables that nobody looks at would be most of the page.
  const open = (event) => { const box = event.currentTarget; if (box.open && box.children.length < 2) box.append(...whole()); };
  node.append(el('details', { class: 'why', on: { toggle: open } }, el('summary', {}, `${rank}. ${why}`)));
  return node;
}

/** Has words of a hit remembered by themselves, in the searcher's own wording: what was said in passing counts from then on. */
async function keep(text, where) {
  const words = el('textarea', { rows: 6, value: text });
  const kind = choice(KINDS.map((one) => [one, one]), 'note');
  const body = el('div', {}, field('What is to be remembered', words), field('Kind', kind),
    el('p', { class: 'hint' }, where.root ? `For the project ${where.name}.` : 'For you, in all projects.'));
  if (!await confirmed('Save as memory', body, { yes: 'Save' }) || !words.value.trim()) return;
  const made = await ask('remember', { text: words.value, kind: kind.value, ...(where.root ? { project: where.root, all_projects: false } : { global: true }) });
  remembered(made, 'Saved as a memory of yours.');
}

const figure = (value) => (typeof value === 'number' ? number(Math.round(value * 1000) / 1000) : String(value));
