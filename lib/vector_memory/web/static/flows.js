// What a session did, step by step, as a graph: what followed what, what failed, and what mended it.

import { ask } from './api.js';
import { figure } from './charts.js';
import { button, choice, day, el, field, number, short, svg } from './dom.js';
import { toast } from './ui.js';

const BOX = { wide: 118, high: 30, across: 136, down: 52, left: 40 };

export async function flows({ query }) {
  const session = query.get('session');
  const { sessions } = await ask('topics', { k: 60 });
  const pick = choice([['', 'choose a session'], ...sessions.map((one) => [one.session, `${day(one.started_at)} · ${one.project || 'no project'} · ${short(one.topics[0]?.title, 60)}`])], session || '', { on: { change: (event) => { location.hash = `#/flows?session=${encodeURIComponent(event.target.value)}`; } } });
  const bar = el('div', { class: 'bar' }, field('Session', pick));
  const head = [el('h1', {}, 'Flows'), el('p', { class: 'lead' }, 'What a session did, step by step: what followed what, what failed, and what mended it. The same steps in a row are one.'), bar];
  if (!session) return el('div', {}, head);
  const turn = Number(query.get('turn')) || 0;
  let told;
  try {
    told = await ask('flow_debug', { session, turn, k: 200 });
  } catch (error) {
    if (error.status !== 404) throw error;
    return el('div', {}, head, el('p', { class: 'hint' }, `${error.message} Steps are known of sessions whose transcript, or a log of it, is still there.`));
  }
  const turns = [...new Set(told.nodes.map((one) => one.turn))];
  const to = (n) => { location.hash = `#/flows?session=${encodeURIComponent(session)}${n ? `&turn=${n}` : ''}`; };
  bar.append(field('Turn', choice([['0', 'all'], ...(turn ? [turn] : turns).map((n) => [String(n), String(n)])], String(turn), { on: { change: (event) => to(Number(event.target.value)) } })),
    button('Copy as Mermaid', () => navigator.clipboard.writeText(told.mermaid).then(() => toast('Copied.'), () => toast('The browser does not let it be copied: it stands below.'))),
    el('a', { href: `#/sessions?session=${encodeURIComponent(session)}` }, 'The session'));
  return el('div', {}, head, el('p', {}, told.told), told.nodes.length ? graph(told) : el('p', { class: 'hint' }, 'It took no steps.'),
    el('details', {}, el('summary', {}, 'As Mermaid'), el('pre', { tabindex: 0 }, told.mermaid)));
}

const times = (one) => `${one.n > 1 ? ` × ${number(one.n)}` : ''}${one.failed ? ` (${number(one.failed)} failed)` : ''}`;

/** Returns steps as boxes in the order of reading, a stretch for each turn, with arcs from what failed to what mended it. */
function graph({ nodes, edges }) {
  const each = window.innerWidth < 700 ? 2 : 5;
  const places = new Map();
  const turns = [];
  let row = 0;
  let column = 0;
  nodes.forEach((one, i) => {
    const isNew = !i || nodes[i - 1].turn !== one.turn;
    if (isNew && i || column === each) { row += 1; column = 0; }
    if (isNew) turns.push([one.turn, row]);
    places.set(one.id, { x: BOX.left + column * BOX.across, y: 8 + row * BOX.down });
    column += 1;
  });
  const { wide } = BOX;
  const mended = new Map(edges.filter((one) => one.why).map((one) => [one.from_id, one.to_id]));
  const name = new Map(nodes.map((one) => [one.id, one.label]));
  const lines = edges.map(({ from_id: from, to_id: to, why }) => {
    const [a, b] = [places.get(from), places.get(to)];
    if (why) return svg('path', { class: 'mend', d: `M ${a.x + wide / 2} ${a.y + BOX.high} C ${a.x + wide / 2} ${a.y + BOX.high + 26}, ${b.x + wide / 2} ${b.y - 26}, ${b.x + wide / 2} ${b.y}` });
    if (a.y === b.y) return svg('path', { class: 'line', d: `M ${a.x + wide} ${a.y + BOX.high / 2} H ${b.x}` });
    return svg('path', { class: 'line', d: `M ${a.x + wide / 2} ${a.y + BOX.high} V ${b.y - 11} H ${b.x + 10} V ${b.y}` });
  });
  const boxes = nodes.map((one) => {
    const { x, y } = places.get(one.id);
    return svg('g', {}, svg('title', {}, `${one.label}${times(one)}${one.error ? `: ${one.error}` : ''}`),
      svg('rect', { class: `box ${one.failed ? 'failed' : ''} ${one.what === 'prompt' ? 'prompt' : ''}`, x, y, width: wide, height: BOX.high, rx: one.what === 'prompt' ? 14 : 4 }),
      svg('text', { class: 'ink', x: x + 7, y: y + 19 }, short(one.label, Math.max(4, 17 - times(one).length)) + times(one)));
  });
  const labels = turns.map(([turn, at]) => svg('text', { x: 0, y: 28 + at * BOX.down }, String(turn)));
  const height = 16 + (row + 1) * BOX.down;
  const picture = svg('svg', { viewBox: `0 0 ${BOX.left + each * BOX.across} ${height}`, role: 'img', 'aria-label': 'Steps of the session: a table of it follows' }, lines, boxes, labels);
  return figure('Steps, turn by turn', picture, [['Turn', (one) => one.turn], ['Sort', (one) => one.what], ['Step', (one) => one.label], ['Times', (one) => number(one.n)], ['Failed', (one) => number(one.failed)],
    ['Error', (one) => short(one.error, 160)], ['Mended by', (one) => name.get(mended.get(one.id)) || '']], nodes);
}
