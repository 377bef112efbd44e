// Jobs and health, and settings.

import { ask } from './api.js';
import { button, choice, el, facts, field, moment, number, often, put, short, table } from './dom.js';
import { confirmed, doing, plainly, toast, trouble, undoable, works } from './ui.js';

// -- jobs and health -------------------------------------------------------------------------------

export async function health({ refresh }) {
  const [listed, told, status, log] = await Promise.all([ask('jobs', { whole: true }), ask('stats'), ask('status'), ask('audit', { k: 40, but: 'http' })]);
  const came = el('div', {});
  const show = (title) => (answer) => put(came, el('h3', {}, title), plainly(answer), answer.problems?.length > 0 && el('ul', {}, answer.problems.map((one) => el('li', {}, `${one.what} ${one.fix}`))));
  const files = el('input', { type: 'text', placeholder: '/home/me/notes' });
  const heavy = el('div', { class: 'bar' },
    button('Read earlier sessions', works('Read earlier sessions', 'backfill', { all: true }, show('Read'))), button('Check', works('Check', 'check', {}, show('Check'))),
    button('Check all data', works('Check all data', 'check', { read_data: true }, show('Check'))), button('Rebuild the index', works('Rebuild the index', 'rebuild', {}, show('Rebuilt'))),
    button('Back up', works('Back up', 'backup', {}, refresh)), field('A folder of notes, or a file of memories', files),
    button('Import', (event) => works('Import', ...(/\.(jsonl?|ndjson)$/.test(files.value) ? ['import', { path: files.value }] : ['import_notes', { paths: [files.value], dry_run: false }]), show('Imported'))(event)));
  return el('div', {}, el('h1', {}, 'Jobs and health'), facts([['Daemon', `${status.state}${status.busy ? ', busy' : ''}, ${status.rss_mb} MB`], ['Version', status.version], ['Questions answered', number(status.requests)], ['Data', status.data_home],
    ['Newest backup', listed.backup_at ? moment(listed.backup_at) : 'none'], ['Set aside', number(status.set_aside)], ['Model', `${told.embedding.model}: ${told.embedding.state} ${told.embedding.error}`]]),
  el('h2', {}, 'Longer work'), heavy, came, jobs(listed.jobs, refresh), latency(told.slo), await doctor(), audit(log));
}

function jobs(listed, refresh) {
  const turn = (job) => doing(async () => {
    const act = (is) => ask('jobs', { action: is ? 'enable' : 'disable', name: job.name });
    await act(!job.enabled);
    undoable(`${job.name}: ${job.enabled ? 'paused' : 'runs by itself'}`, async () => { await act(job.enabled); refresh(); });
    refresh();
  });
  const about = (job) => [el('strong', {}, job.name), job.about && el('div', { class: 'hint' }, job.about)];
  const last = (job) => [moment(job.last_ended || job.last_started), job.took_s ? ` (${job.took_s} s)` : ''];
  const outcome = (job) => [job.outcome && el('span', { class: `badge ${job.outcome === 'failed' ? 'bad' : 'good'}` }, job.outcome), job.failures ? ` ${often(job.failures)}` : '', job.message && el('div', { class: 'hint' }, short(job.message, 120))];
  return table('Jobs', [['Job', about], ['When', (job) => job.cadence], ['Last', last], ['Next', (job) => moment(job.next_due)], ['Outcome', outcome],
    ['Acts', (job) => el('div', { class: 'bar' }, button('Run now', works(job.name, 'run_job', { name: job.name }, refresh), { 'aria-label': `Run ${job.name} now` }), button(job.enabled ? 'Pause' : 'Enable', turn(job), { 'aria-label': `${job.enabled ? 'Pause' : 'Enable'} ${job.name}` }))]], listed);
}

function latency(slo) {
  return table('How long answers took', [['What', ([name]) => name], ['Times', ([, one]) => number(one.count)], ['Median ms', ([, one]) => one.p50_ms], ['95 % within ms', ([, one]) => one.p95_ms], ['Target ms', ([, one]) => one.target_ms],
    ['Met', ([, one]) => (one.met === null ? 'too few' : el('span', { class: `badge ${one.met ? 'good' : 'bad'}` }, one.met ? 'met' : 'missed'))]], Object.entries(slo));
}

async function doctor() {
  const place = el('div', {});
  const look = doing(async () => {
    const { checks } = await ask('doctor');
    put(place, table('Every hop between a session and its memories', [['Hop', (one) => one.hop], ['State', (one) => el('span', { class: `badge ${/fail/i.test(one.state) ? 'bad' : /warn/i.test(one.state) ? 'warn' : 'good'}` }, one.state)], ['What', (one) => one.message], ['What mends it', (one) => one.fix]], checks));
  });
  return el('section', {}, el('h2', {}, 'Doctor'), button('Look at every hop', look), place);
}

function audit(log) {
  return el('section', {}, el('h2', {}, 'What was done'), el('p', { class: log.intact ? 'hint' : 'error' }, log.intact ? 'The log is whole. What pages and programs only asked is left out here: vector-memory audit has it.' : log.problem),
    table('Audit log', [['When', (one) => moment(one.at)], ['What', (one) => one.action], ['By', (one) => one.actor], ['Memories', (one) => one.ids.length],
      ['More', (one) => short(Object.entries(one.detail).map(([name, value]) => `${name}: ${typeof value === 'object' ? JSON.stringify(value) : value}`).join(', '), 120)]], log.entries));
}

// -- settings --------------------------------------------------------------------------------------

const written = (value) => (Array.isArray(value) ? JSON.stringify(value) : String(value));

export async function settings({ query, refresh }) {
  const [{ settings: all }, { tokens }, { projects }] = await Promise.all([ask('settings'), ask('token', { action: 'list' }), ask('facets')]);
  const filter = () => { for (const one of list.children) one.hidden = !one.textContent.toLowerCase().includes(find.value.toLowerCase()); };
  const find = el('input', { type: 'search', value: query.get('find') || '', on: { input: filter } });
  const list = el('div', {}, all.map((one) => setting(one, refresh)));
  filter();
  return el('div', {}, el('h1', {}, 'Settings'), tokenList(tokens, projects, refresh), peers(projects.filter((one) => one.root)), el('h2', {}, 'All settings'), el('div', { class: 'bar' }, field('Find', find)), list);
}

/** Returns with whom projects are shared. The places themselves are asked when somebody takes over: they may be far away. */
function peers(projects) {
  const made = el('section', {}, el('h2', {}, 'Shared with'), el('p', { class: 'hint' }, 'No project is shared. ', el('code', {}, 'vector-memory share init'), ' in its folder begins.'));
  for (const one of projects) {
    const place = el('div', {});
    shared(one, place).then((isShared) => { if (!isShared) return; made.querySelector(':scope > .hint')?.remove(); made.append(place); }, () => {});
  }
  return made;
}

async function shared({ name, root }, place) {
  const where = { project: root, all_projects: false };
  const look = async () => {
    const told = await ask('share_status', where);
    if (!told.url) return false;
    const revoke = (one) => doing(async () => {
      if (!await confirmed(`Give up ${one.name}?`, el('p', {}, 'What this member shared goes from here at once, and reads nothing of what is published from now on.'), { yes: 'Give up', word: one.name })) return;
      const done = await ask('share_revoke', { ...where, key: one.key });
      toast(`${done.name} counts no more; ${number(done.removed)} memories went.`);
      await look();
    });
    put(place, el('h3', {}, name), facts([['Place', told.url], ['Kinds', told.kinds.join(', ')], ['Tags', told.tags.join(', ')], ['Memories that you published', number(told.memories)], ['In bundle', number(told.published)]]),
      table('Members', [['Name', (one) => one.name], ['Key', (one) => el('code', {}, one.fingerprint)], ['State', (one) => el('span', { class: `badge ${one.state === 'revoked' ? 'bad' : 'good'}` }, one.state)], ['Memories', (one) => (one.state === 'own' ? `${number(one.memories)} published` : `${number(one.memories)} here`)], ['Act', (one) => one.state === 'member' && button('Give up', revoke(one), { 'aria-label': `Give up ${one.name}` })]], told.members, true),
      el('p', { class: 'bar' }, button('Take over what they published', works('Take over', 'share_pull', where, async (came) => { await look(); if (came.refused.length) place.append(el('div', { class: 'error', role: 'alert' }, came.refused.map((one) => el('p', {}, `${one.what}: ${one.why}`)))); })), el('a', { href: '#/review' }, 'Look at it in Review')));
    return true;
  };
  return look();
}

function setting(one, refresh) {
  const before = written(one.value);
  const isFlag = typeof one.value === 'boolean';
  const input = one.choices?.length ? choice(one.choices.map((word) => [word, word || '(none)']), one.value, { 'aria-label': one.name }) : isFlag ? el('input', { type: 'checkbox', checked: one.value, 'aria-label': one.name }) : el('input', { type: 'text', value: before, 'aria-label': one.name });
  const now = () => (isFlag ? String(input.checked) : input.value);
  const told = el('div', {});
  const save = doing(async (event) => {
    event.preventDefault();
    if (now() === before) return;
    const diff = el('p', {}, el('code', {}, one.name), ': ', el('del', {}, before || '(empty)'), ' → ', el('ins', {}, now() || '(empty)'));
    if (!await confirmed('Change this?', diff, { yes: 'Change' })) return;
    try {
      await ask('set_setting', { name: one.name, value: now() });
    } catch (error) {
      put(told, trouble(error));
      return;
    }
    undoable(`${one.name} is changed.`, async () => { await (one.source === 'file' ? ask('set_setting', { name: one.name, value: before }) : ask('unset_setting', { name: one.name })); refresh(); });
    refresh();
  });
  return el('form', { class: 'card', on: { submit: save } }, el('div', { class: 'bar' }, el('strong', {}, one.name), input, el('button', { 'aria-label': `Change ${one.name}` }, 'Change'), el('span', { class: 'badge' }, one.source)), el('p', { class: 'hint' }, one.about), told);
}

function tokenList(tokens, projects, refresh) {
  const name = el('input', { type: 'text' });
  const folder = choice([['', 'all'], ...projects.filter((one) => one.root).map((one) => [one.root, one.name])]);
  const until = el('input', { type: 'date' });
  const rights = ['read', 'write', 'feed', 'delete', 'admin'].map((one) => el('input', { type: 'checkbox', value: one, checked: one === 'read' }));
  const ceiling = choice([['', 'all'], ...['public', 'internal', 'confidential'].map((one) => [one, one])]);
  const told = el('div', {});
  const make = doing(async (event) => {
    event.preventDefault();
    const made = await ask('token', { action: 'new', name: name.value, right: rights.filter((one) => one.checked).map((one) => one.value), ...(ceiling.value && { ceiling: ceiling.value }), ...(folder.value && { project: folder.value, all_projects: false }), ...(until.value && { until: until.value }) });
    undoable(`${name.value} is let in.`, async () => { await ask('token', { action: 'revoke', id: made.id }); refresh(); });
    put(told, el('p', {}, 'The token, shown this once: ', el('code', {}, made.token)));
  });
  const revoke = (one) => doing(async () => {
    if (!await confirmed(`Revoke ${one.name}?`, el('p', {}, 'Programs that use it are let in no more.'), { yes: 'Revoke', word: one.name })) return;
    await ask('token', { action: 'revoke', id: one.id });
    toast('Revoked.');
    refresh();
  });
  return el('section', {}, el('h2', {}, 'Tokens of programs'), tokens.length > 0 && table('Tokens', [['Name', (one) => one.name], ['Rights', (one) => one.rights.join(', ')], ['Project', (one) => one.project || 'all'], ['Up to', (one) => one.ceiling || 'all'], ['Until', (one) => (one.problem ? `lets nobody in: ${one.problem}` : one.until ? moment(one.until) : 'no end')], ['Act', (one) => button('Revoke', revoke(one), { 'aria-label': `Revoke ${one.name}` })]], tokens, true),
    el('form', { class: 'bar', on: { submit: make } }, field('Name', name), el('fieldset', { class: 'field' }, el('legend', {}, 'Rights'), el('div', {}, rights.map((one) => el('label', {}, one, ` ${one.value} `)))), field('Project', folder), field('Memories up to', ceiling), field('Until', until), el('button', {}, 'Make a token')), told);
}
