// Pictures, each with a table that says the same.

import { day, el, number, short, svg, table } from './dom.js';

/** How wide pictures are drawn: a phone's would be too small to be read if they were drawn wide. */
const width = () => (window.innerWidth < 700 ? 360 : 720);

/** Returns a picture with a table that says the same: `columns` are those of `table`. */
export function figure(title, picture, columns, rows, isOpen) {
  return el('figure', {}, el('figcaption', {}, title), picture,
    el('details', { open: isOpen }, el('summary', {}, 'The same as a table'), table(title, columns, rows, true)));
}

/** Returns bars of a number over labels; `other` is the name of a second number, drawn within the first. */
export function bars(title, rows, { name = 'number', other = '', wide = 0 } = {}) {
  const most = Math.max(1, ...rows.map((row) => row[1]));
  const WIDE = width();
  const gap = WIDE / Math.max(rows.length, 12);
  const each = Math.ceil((10 + 6 * Math.max(1, ...rows.map(([label]) => Math.min(12, String(label).length)))) / gap);
  const height = wide || 130;
  const drawn = rows.map(([label, n, m], at) => [
    svg('rect', { class: 'mark', x: at * gap, y: height - (n / most) * (height - 20), width: Math.max(1, gap - 2), height: (n / most) * (height - 20) }, svg('title', {}, `${label}: ${number(n)}`)),
    m ? svg('rect', { class: 'other', x: at * gap, y: height - (m / most) * (height - 20), width: Math.max(1, gap / 2 - 1), height: (m / most) * (height - 20) }) : null,
    at % each === 0 ? svg('text', { x: at * gap, y: height + 14 }, short(label, 12)) : null,
  ]);
  const picture = svg('svg', { viewBox: `0 0 ${WIDE} ${height + 20}`, role: 'img', 'aria-label': `${title}: a table of it follows` },
    svg('text', { x: 0, y: 10 }, `highest: ${number(most)}`), drawn);
  const columns = [['Label', (row) => row[0]], [name, (row) => number(row[1])]];
  if (other) columns.push([other, (row) => number(row[2] || 0)]);
  const key = other && el('p', { class: 'hint' }, el('span', { class: 'key' }, name), ' ', el('span', { class: 'key other' }, other));
  return rows.length ? figure(title, [key, picture], columns, rows) : el('p', { class: 'hint' }, `${title}: nothing yet.`);
}

/** Returns counts by day as weeks or months, so many that they can be told apart. */
export function grouped(days) {
  const names = Object.keys(days);
  const isLong = names.length > 60;
  const sums = new Map();
  for (const name of names) sums.set(isLong ? name.slice(0, 7) : name, (sums.get(isLong ? name.slice(0, 7) : name) || 0) + days[name]);
  return [...sums];
}

/** Returns sessions as lines on a time axis, a link each. */
export function timeline(sessions) {
  const WIDE = width();
  const spans = sessions.map((one) => {
    const began = Date.parse(one.started_at);
    const last = Math.max(began, ...one.topics.map((topic) => Date.parse(topic.at)));
    return { one, began, last };
  }).sort((a, b) => a.began - b.began);
  const from = Math.min(...spans.map((span) => span.began));
  const to = Math.max(...spans.map((span) => span.last)) + 1;
  const at = (time) => 10 + ((time - from) / (to - from)) * (WIDE - 20);
  const projects = [...new Set(spans.map((span) => span.one.project))];
  const lanes = projects.map((name, lane) => svg('text', { class: 'ink', x: 0, y: lane * 34 + 12 }, short(name, 60)));
  const dots = spans.map(({ one, began, last }) => {
    const y = projects.indexOf(one.project) * 34 + 22;
    return svg('a', { href: `#/sessions?session=${one.session}`, 'aria-label': `Session of ${day(one.started_at)} in ${one.project}` },
      svg('rect', { class: 'mark', x: at(began), y: y - 5, width: Math.max(6, at(last) - at(began)), height: 10, rx: 4 }, svg('title', {}, `${day(one.started_at)}: ${short(one.topics[0]?.title, 80)}`)));
  });
  const height = projects.length * 34 + 16;
  const picture = svg('svg', { viewBox: `0 0 ${WIDE} ${height}`, role: 'group', 'aria-label': 'Sessions over time' }, lanes, dots,
    svg('text', { x: 0, y: height - 2 }, day(from)), svg('text', { x: WIDE - 70, y: height - 2 }, day(to)));
  return figure('Sessions over time', picture, [['Began', ({ one }) => day(one.started_at)], ['Project', ({ one }) => one.project], ['Topics', ({ one }) => one.topics.length],
    ['First', ({ one }) => el('a', { href: `#/sessions?session=${one.session}` }, short(one.topics[0]?.title, 80) || one.session.slice(0, 8))]], spans);
}

/** Returns a neighbourhood: nodes are {name, n, href}; edges are [number, number, weight]; the first node is the middle. */
export function neighbourhood(title, nodes, edges) {
  const [WIDE, height] = [width(), 420];
  const places = laidOut(nodes.length, edges, { x: WIDE, y: height });
  const lines = edges.map(([a, b, weight]) => svg('line', { class: 'line', x1: places[a].x, y1: places[a].y, x2: places[b].x, y2: places[b].y, 'stroke-width': Math.min(4, weight) }));
  const dots = nodes.map((node, at) => svg('a', { href: node.href, 'aria-label': `${node.name}: ${number(node.n)} memories` },
    svg('circle', { class: at ? 'mark' : 'other', cx: places[at].x, cy: places[at].y, r: 4 + Math.min(10, Math.sqrt(node.n)) }),
    at < 40 && svg('text', { class: 'ink', x: places[at].x + 8, y: places[at].y - 6 }, short(node.name, 22))));
  const picture = svg('svg', { viewBox: `0 0 ${WIDE} ${height}`, role: 'group', 'aria-label': title }, lines, dots);
  return figure(title, picture, [['Name', (node) => el('a', { href: node.href }, node.name)], ['Memories in common', (node) => number(node.n)]], nodes, true);
}

/** Returns places by forces: all push each other away, edges pull. Source: Fruchterman and Reingold, 1991. */
function laidOut(n, edges, size) {
  const ideal = Math.sqrt((size.x * size.y) / Math.max(n, 1)) * 0.7;
  const at = Array.from({ length: n }, (_, i) => ({ x: size.x / 2 + (i ? size.x / 4.5 * Math.cos(i * 2.4) : 0), y: size.y / 2 + (i ? 130 * Math.sin(i * 2.4) : 0) }));
  for (let heat = 40; heat > 0.5; heat *= 0.93) {
    const push = at.map(() => ({ x: 0, y: 0 }));
    const moved = (a, b, strength) => {
      const dx = at[a].x - at[b].x || 0.01;
      const dy = at[a].y - at[b].y || 0.01;
      const far = Math.hypot(dx, dy);
      const force = strength(far) / far;
      push[a].x += dx * force; push[a].y += dy * force;
      push[b].x -= dx * force; push[b].y -= dy * force;
    };
    for (let a = 0; a < n; a += 1) for (let b = 0; b < a; b += 1) moved(a, b, (far) => (ideal * ideal) / far);
    for (const [a, b] of edges) moved(a, b, (far) => -(far * far) / ideal);
    at.forEach((place, i) => {
      const far = Math.hypot(push[i].x, push[i].y) || 1;
      place.x = Math.max(12, Math.min(size.x - 90, place.x + (push[i].x / far) * Math.min(far, heat)));
      place.y = Math.max(16, Math.min(size.y - 12, place.y + (push[i].y / far) * Math.min(far, heat)));
    });
  }
  return at;
}
