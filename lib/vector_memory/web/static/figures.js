// Figures: how the memory grew and what is used of it; what it costs.

import { ask } from './api.js';
import { bars, grouped } from './charts.js';
import { choice, el, facts, field, megabytes, number, percent, put, table } from './dom.js';
import { called, doing, rows, toast, trouble, undoable, work } from './ui.js';

const CAPS = { generation_daily_calls: 'Calls a day', generation_daily_tokens: 'Tokens a day' };
const ASKED = { extraction: 'Looks for ideas', calls: 'Calls today', tokens: 'Tokens today', refused: 'Not asked: a cap was reached', failures: 'No answer came', garbage: 'The answer could not be used' };
const pairs = (counts) => Object.entries(counts).sort((a, b) => b[1] - a[1]);
const counted = (title, counts) => table(title, [['Name', ([name]) => name || 'none'], ['Memories', ([, n]) => number(n)]], pairs(counts));

export async function statistics() {
  const [told, grown] = await Promise.all([ask('stats'), ask('growth', { k: 10 })]);
  const uses = Object.entries(grown.uses).map(([name, one]) => [name, one.shown, one.used]);
  const bytes = told.stores.reduce((sum, one) => sum + one.bytes, 0);
  return el('div', {}, el('h1', {}, 'Statistics'), facts([['Memories of yours', number(grown.memories)], ['Never used', `${number(grown.unused)} (${percent(grown.unused / Math.max(1, grown.memories))})`],
    ['Projects', number(grown.projects.filter((one) => one.id).length)], ['Size', megabytes(bytes)], ['Notes shown to sessions of late', number(told.uses.shown)], ['Of these used', number(told.uses.used)], ['Model', `${told.embedding.model}: ${told.embedding.state}`]]),
  bars('Memories by date', grouped(grown.days), { name: 'memories' }),
  bars('Notes that sessions were shown, and used', uses, { name: 'shown', other: 'used' }),
  el('div', { class: 'pair' }, counted('By kind', told.by_kind), el('div', {}, table('By project', [['Name', (one) => called(one, grown.projects) || 'none'], ['Memories', (one) => number(one.memories)]], grown.projects), counted('By collection', told.by_collection))),
  el('h2', {}, 'Used most'), rows(grown.most_used),
  table('Stores', [['Folder', (one) => el('code', {}, one.folder)], ['Memories, and what observers count', (one) => number(one.memories)], ['Not found by meaning yet', (one) => number(one.pending_vectors)], ['Size', (one) => megabytes(one.bytes)],
    ['Near at hand, with what gave way', (one) => Object.entries(one.tiers).map(([tier, n]) => `${tier} ${number(n)}`).join(', ')]], told.stores));
}

export async function cost({ query }) {
  const by = query.get('by') || 'model';
  const { generation: used } = await ask('stats');
  const told = el('div', {});
  const caps = ['generation_daily_calls', 'generation_daily_tokens'].map((name) => [name, el('input', { type: 'number', min: 0, value: used[name.replace('generation_', '')] })]);
  const save = doing(async (event) => {
    event.preventDefault();
    try {
      for (const [name, input] of caps) {
        const before = used[name.replace('generation_', '')];
        if (Number(input.value) === before) continue;
        await ask('set_setting', { name, value: input.value });
        undoable(`${name}: ${input.value}`, () => ask('set_setting', { name, value: String(before) }));
        used[name.replace('generation_', '')] = Number(input.value);
      }
      put(told, '');
      toast('Saved.');
    } catch (error) {
      put(told, trouble(error));
    }
  });
  const spent = el('div', {});
  const pick = choice(['model', 'day', 'project', 'session'].map((one) => [one, one]), by, { on: { change: (event) => { location.hash = `#/cost?by=${event.target.value}`; } } });
  const made = el('div', {}, el('h1', {}, 'Cost'), el('p', { class: 'lead' }, 'What the memory itself asks of a language model, today. With the backend ', el('code', {}, used.backend || 'none'), (used.backend || 'none') === 'none' ? ' it asks nothing.' : '.'),
    facts(Object.entries(ASKED).map(([name, told_]) => [told_, typeof used[name] === 'boolean' ? (used[name] ? 'yes' : 'no') : number(used[name])])),
    el('form', { class: 'card', on: { submit: save } }, el('h2', {}, 'Caps of a day'), el('div', { class: 'bar' }, caps.map(([name, input]) => field(CAPS[name], input)), el('button', { class: 'main' }, 'Save')), told),
    el('h2', {}, 'What sessions took'), el('div', { class: 'bar' }, field('By', pick)), spent);
  // Transcripts that have grown are read for it: rows come when they are.
  made.shown = doing(async () => put(spent, took(await work('Count what sessions took', 'cost_router', { by, k: 60, all_projects: true }, () => spent.isConnected), by)));
  return made;
}

/** Returns the tokens and dollars of sessions, counted by something. */
function took(answer, by) {
  if (!answer) return 'It was stopped.';
  const rows_ = by === 'day' ? [...answer.rows].reverse() : answer.rows;
  return [el('p', {}, answer.told), bars(`Tokens by ${by}`, rows_.map((one) => [one.name || 'none', one.tokens]), { name: 'tokens' }),
    table(`By ${by}`, [['Name', (one) => one.name || 'none'], ['Tokens', (one) => number(one.tokens)], ...Object.keys(answer.rows[0]?.usage || {}).map((name) => [name.replace(/_/g, ' '), (one) => number(one.usage[name])]),
      ['Dollars by list prices', (one) => (one.dollars === null ? 'no price' : one.dollars.toFixed(2))], ['Sessions', (one) => number(one.sessions)]], answer.rows, true)];
}
