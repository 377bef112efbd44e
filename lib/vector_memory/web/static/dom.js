// Makes elements. Whatever comes from memory becomes a text node here and nothing else: no markup is ever parsed.

const SVG = 'http://www.w3.org/2000/svg';

export function filled(node, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'on') for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else if (name === 'value' || name === 'checked' || name === 'disabled') node[name] = value;
    else if (name === 'href') node.setAttribute('href', own(value));
    else if (!name.startsWith('on') && name !== 'style') node.setAttribute(name, value === true ? '' : String(value));
  }
  node.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false)
    .map((one) => (one instanceof Node ? one : document.createTextNode(String(one)))));
  return node;
}

/** Links lead to pages of the dashboard alone, whatever they are made of. */
function own(href) {
  return String(href).startsWith('#') ? String(href) : '#';
}

/** Returns an element with attributes, listeners (`on`) and children: nodes, or what is shown as text. */
export function el(tag, props, ...children) {
  return filled(document.createElement(tag), props, children);
}

/** The same for a drawing. */
export function svg(tag, props, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

export function put(node, ...children) {
  node.replaceChildren();
  return filled(node, {}, children);
}

export function button(label, act, props) {
  return el('button', { type: 'button', ...props, on: { click: act } }, label);
}

/** Returns a labelled field: `input`, or what is given as one. */
export function field(label, input) {
  return el('label', { class: 'field' }, el('span', {}, label), input);
}

export function choice(options, value, props) {
  const node = el('select', props, options.map(([key, name]) => el('option', { value: key }, name)));
  node.value = value ?? options[0]?.[0] ?? '';
  return node;
}

/** Returns a table: `columns` are [head, function of a row that returns what stands in its cell]; a sentence where it would be empty. */
export function table(caption, columns, rows, hidesCaption) {
  if (!rows.length) return el('p', { class: 'hint' }, `${caption}: nothing yet.`);
  return el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    el('table', {},
      el('caption', hidesCaption ? { class: 'quiet-caption' } : {}, caption),
      el('thead', {}, el('tr', {}, columns.map(([head]) => el('th', { scope: 'col' }, head)))),
      el('tbody', {}, rows.map((row) => el('tr', {}, columns.map(([, cell]) => el('td', {}, cell(row))))))));
}

export function facts(pairs) {
  return el('dl', { class: 'facts' }, pairs.filter(([, value]) => value !== '' && value !== null && value !== undefined && value?.length !== 0)
    .map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))));
}

/** Returns the local day of a moment; of what is a day, that. */
export function day(at) {
  if (String(at).length === 10) return at;
  return at ? new Date(at).toLocaleDateString('en-CA') : '';
}

export function moment(at) {
  return at ? `${day(at)} ${new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}` : '';
}

/** Returns how often something was, in words. */
export function often(n) {
  return n === 1 ? 'once' : `${number(n)} times`;
}

export function number(n) {
  return typeof n === 'number' ? n.toLocaleString('en-US') : String(n ?? '');
}

export function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}

export function percent(share) {
  return `${Math.round(100 * (share || 0))} %`;
}

export function short(text, most = 160) {
  const flat = String(text ?? '').replace(/\s+/g, ' ').trim();
  return flat.length > most ? flat.slice(0, most - 1) + '…' : flat;
}
