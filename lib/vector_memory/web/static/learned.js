// What work taught, and what the observer saw in it.

import { ask } from './api.js';
import { bars, grouped } from './charts.js';
import { button, choice, day, el, field, moment, number, percent, short, table } from './dom.js';
import { doing, forget, toast } from './ui.js';

export async function lessons({ query }) {
  const { projects } = await ask('growth', { k: 1 });
  const folders = projects.filter((one) => one.root);
  const { folder } = await ask('where');
  const project = query.get('project') || folders[0]?.root || folder;
  const pick = choice(folders.map((one) => [one.root, one.name]), project, { on: { change: (event) => { location.hash = `#/lessons?project=${encodeURIComponent(event.target.value)}`; } } });
  const told = await ask('lessons', { project, all_projects: false });
  const drop = (one) => button('Forget', doing(() => forget([{ id: one.id }])), { 'aria-label': `Forget: ${short(one.text || one.name, 40)}` });
  return el('div', {}, el('h1', {}, 'Lessons'), el('div', { class: 'bar' }, folders.length > 0 && field('Project', pick)),
    el('p', { class: 'lead' }, `${number(told.tasks.tasks)} tasks in ${number(told.tasks.sessions)} sessions: ${number(told.tasks.done)} done, ${number(told.tasks.undone)} not; of the others it is not known.`),
    bars('Tasks by kind', told.kinds.map((one) => [one.kind, one.n, one.done]), { name: 'tasks', other: 'done' }),
    table('How tasks of each kind went', [['Kind', (one) => one.kind], ['Tasks', (one) => one.n], ['Done', (one) => one.done], ['Not', (one) => one.undone], ['Errors', (one) => one.errors], ['Retries', (one) => one.retries], ['Minutes', (one) => one.minutes], ['Last', (one) => one.last]], told.kinds),
    told.trouble.length > 0 && table('Trouble that came again', [['What', (one) => one.text], ['Times', (one) => `${one.n} of ${one.of}`], ['Last', (one) => one.last], ['What ended it', (one) => one.end]], told.trouble),
    table('Steps that work', [['Steps', (one) => one.text], ['Won', (one) => `${one.won} of ${one.n}`], ['Sessions', (one) => one.sessions], ['Strength', (one) => Math.round(one.strength * 10) / 10]], told.trails),
    table('The state of things', [['Thing', (one) => one.name], ['State', (one) => [one.text, one.surprise && el('span', { class: 'badge warn' }, 'not as usual')]], ['Seen', (one) => one.seen], ['Last', (one) => moment(one.last)]], told.things),
    told.kinds.length === 0 && el('p', { class: 'hint' }, 'No task was seen in this project yet.'), drop && null);
}

export async function observer({ query }) {
  const category = query.get('category') || '';
  const told = await ask('flags', { k: 500, ...(category ? { category: [category] } : {}) });
  const { settings } = await ask('settings');
  const mode = settings.find((one) => one.name === 'observer');
  const limits = await ask('list', { kind: ['constraint', 'rule', 'policy'], k: 40 });
  const days = {};
  for (const flag of [...told.flags].reverse()) days[day(flag.at)] = (days[day(flag.at)] || 0) + 1;
  const pick = choice([['', 'all'], ...Object.keys(told.counts).map((one) => [one, `${one} (${told.counts[one]})`])], category, { on: { change: (event) => { location.hash = event.target.value ? `#/observer?category=${event.target.value}` : '#/observer'; } } });
  const copy = (flag) => doing(async () => {
    const words = `This was asked for: ${short(flag.text, 200)}`;
    await ask('remember', { text: words, kind: 'preference', tags: ['observer', flag.category] });
    toast('Remembered as asked for.');
  });
  return el('div', {}, el('h1', {}, 'Observer'), el('p', { class: 'lead' }, 'What was flagged in sessions, with the words that it stands on. The observer is ', el('code', {}, String(mode?.value)), '; ', el('a', { href: '#/settings' }, 'Settings'), ' changes that.'),
    el('div', { class: 'bar' }, field('Category', pick), el('span', {}, `${number(told.total)} in all`)), bars('Flags over time', grouped(days), { name: 'flags' }),
    table('Flags', [['When', (one) => moment(one.at)], ['What', (one) => [el('span', { class: `badge ${one.severity === 'high' ? 'bad' : 'warn'}` }, one.category), one.asked && el('span', { class: 'badge good' }, 'asked for')]],
      ['Words', (one) => el('code', {}, short(one.text, 200))], ['Why', (one) => one.reason], ['Session', (one) => el('a', { href: `#/sessions?session=${one.session}` }, one.session.slice(0, 8))],
      ['Act', (one) => !one.asked && button('I had asked', copy(one), { 'aria-label': `I had asked for ${short(one.text, 40)}` })]], told.flags.slice(0, 100)),
    el('h2', {}, 'Limits that were said'), el('ul', {}, limits.memories.map((one) => el('li', {}, el('a', { href: `#/memory/${one.id}` }, short(one.text, 200))))), !limits.total && el('p', { class: 'hint' }, 'None.'), el('p', { class: 'hint' }, `Share asked for: ${percent(told.flags.filter((one) => one.asked).length / Math.max(1, told.flags.length))}`));
}
