// What work taught, and what the observer saw in it.

import { ask } from './api.js';
import { bars, grouped } from './charts.js';
import { button, choice, day, el, field, moment, number, percent, short, table } from './dom.js';
import { doing, fail, forget, later, undoable } from './ui.js';

export async function lessons({ query, refresh }) {
  const { projects } = await ask('facets');
  const folders = projects.filter((one) => one.root);
  const { folder } = await ask('where');
  const project = query.get('project') || folders[0]?.root || folder;
  const pick = choice(folders.map((one) => [one.root, one.name]), project, { on: { change: (event) => { location.hash = `#/lessons?project=${encodeURIComponent(event.target.value)}`; } } });
  const told = await ask('lessons', { project, all_projects: false });
  const drop = (one) => button('Forget', doing(() => forget([{ id: one.id }])), { 'aria-label': `Forget: ${short(one.text || one.name, 40)}` });
  const works = (one, ok) => button(ok ? 'It works' : 'It does not', () => later(ok ? 'Noted: it works.' : 'Noted: it does not work.', (more) => ask('stigmergy', { action: 'deposit', project, all_projects: false, kind: one.kind, steps: one.steps, ok, evidence: 'The user said so in the dashboard.', session: `dashboard-${Date.now()}`, dry_run: false }, more), { after: refresh }), { 'aria-label': `${ok ? 'It works' : 'It does not work'}: ${short(one.text, 40)}` });
  return el('div', {}, el('h1', {}, 'Lessons'), el('div', { class: 'bar' }, folders.length > 0 && field('Project', pick)),
    el('p', { class: 'lead' }, `${number(told.tasks.tasks)} tasks in ${number(told.tasks.sessions)} sessions: ${number(told.tasks.done)} done, ${number(told.tasks.undone)} not; of the others it is not known.`),
    bars('Tasks by kind', told.kinds.map((one) => [one.kind, one.n, one.done]), { name: 'tasks', other: 'done' }),
    table('How tasks of each kind went', [['Kind', (one) => one.kind], ['Tasks', (one) => one.n], ['Done', (one) => one.done], ['Not', (one) => one.undone], ['Errors', (one) => one.errors], ['Retries', (one) => one.retries], ['Minutes', (one) => one.minutes], ['Last', (one) => one.last]], told.kinds),
    told.trouble.length > 0 && table('Trouble that came again', [['What', (one) => one.text], ['Times', (one) => `${one.n} of ${one.of}`], ['Last', (one) => one.last], ['What ended it', (one) => one.end]], told.trouble),
    table('Steps that work', [['Steps', (one) => one.text], ['Won', (one) => `${one.won} of ${one.n}`], ['Sessions', (one) => one.sessions], ['Strength', (one) => Math.round(one.strength * 10) / 10], ['Acts', (one) => el('div', { class: 'bar' }, works(one, true), works(one, false), drop(one))]], told.trails),
    table('The state of things', [['Thing', (one) => one.name], ['State', (one) => [one.text, one.surprise && el('span', { class: 'badge warn' }, 'not as usual')]], ['Seen', (one) => one.seen], ['Last', (one) => moment(one.last)], ['Act', drop]], told.things),
    told.kinds.length === 0 && el('p', { class: 'hint' }, 'No task was seen in this project yet.'));
}

export async function observer({ query, refresh }) {
  const category = query.get('category') || '';
  const [told, limits] = await Promise.all([ask('flags', { k: 500, ...(category ? { category: [category] } : {}) }), ask('list', { kind: ['constraint', 'rule', 'policy'], k: 40 })]);
  const days = {};
  for (const flag of [...told.flags].reverse()) days[day(flag.at)] = (days[day(flag.at)] || 0) + 1;
  const sessions = [...told.flags.reduce((sums, one) => sums.set(one.session, (sums.get(one.session) || 0) + 1), new Map())];
  const pick = choice([['', 'all'], ...Object.keys(told.counts).map((one) => [one, `${one} (${told.counts[one]})`])], category, { on: { change: (event) => { location.hash = event.target.value ? `#/observer?category=${event.target.value}` : '#/observer'; } } });
  const mark = (flag, verdict) => doing(async () => {
    const call = (word) => ask('mark_flag', { id: flag.id, session: flag.session, verdict: word });
    await call(verdict);
    undoable(`Marked: ${verdict || 'as it was'}.`, async () => { await call(flag.verdict || (flag.asked ? 'asked' : '')); refresh(); });
    refresh();
  });
  const acts = (one) => el('div', { class: 'bar' }, [['I had asked', 'asked'], ['It is false', 'false']].filter(([, word]) => word !== (one.verdict || (one.asked ? 'asked' : ''))).map(([words, word]) => button(words, mark(one, word), { 'aria-label': `${words}: ${short(one.text, 40)}` })));
  const mode = el('span', {});
  ask('settings').then(({ settings }) => mode.append(`The setting is “${settings.find((one) => one.name === 'observer')?.value}”. `), fail);
  return el('div', {}, el('h1', {}, 'Observer'), el('p', { class: 'lead' }, 'What was flagged in sessions, with the words that it stands on. ', mode, el('a', { href: '#/settings?find=observer' }, 'Settings'), ' changes whether it only records, warns or blocks.'),
    el('div', { class: 'bar' }, field('Category', pick), el('span', {}, `${number(told.total)} in all`)), bars('Flags over time', grouped(days), { name: 'flags' }),
    table('Flags', [['When', (one) => moment(one.at)], ['What', (one) => [el('span', { class: `badge ${one.severity === 'high' ? 'bad' : 'warn'}` }, one.category), one.asked && el('span', { class: 'badge good' }, 'asked for'), one.verdict === 'false' && el('span', { class: 'badge' }, 'false')]],
      ['Words', (one) => el('code', {}, short(one.text, 200))], ['Why', (one) => one.reason], ['Session', (one) => el('a', { href: `#/sessions?session=${one.session}` }, one.session.slice(0, 8))], ['Acts', acts]], told.flags.slice(0, 100)),
    sessions.length > 1 && table('By session', [['Session', ([id]) => el('a', { href: `#/sessions?session=${id}` }, id.slice(0, 8))], ['Flags', ([, n]) => number(n)]], sessions.sort((a, b) => b[1] - a[1]).slice(0, 20)),
    el('h2', {}, 'Limits that were said'), el('ul', {}, limits.memories.map((one) => el('li', {}, el('a', { href: `#/memory/${one.id}` }, short(one.text, 200))))), !limits.total && el('p', { class: 'hint' }, 'None.'), told.flags.length > 0 && el('p', { class: 'hint' }, `Of the newest ${number(told.flags.length)} flags you had asked for ${percent(told.flags.filter((one) => one.asked).length / told.flags.length)}.`));
}
