// Who may do what, how that stands by standards, and what is kept where.

import { ask } from './api.js';
import { el, facts, moment, number, percent, table } from './dom.js';

const share = (score) => (score === null ? 'not measurable here' : percent(score));

export async function governance() {
  const [report, { actors }, { contracts }, { kept }] = await Promise.all([ask('governance_report'), ask('actors'), ask('contract'), ask('sovereignty')]);
  const gaps = report.frameworks.flatMap((one) => one.controls).filter((one) => one.closes).sort((a, b) => b.weight - a.weight);
  return el('div', {}, el('h1', {}, 'Governance'), el('p', { class: 'lead' }, report.note),
    table('By standard', [['Standard', (one) => one.name], ['Score', (one) => share(one.score)], ['Measured', (one) => number(one.measured)], ['Not measurable here', (one) => number(one.not_measurable)]], report.frameworks),
    report.frameworks.map((one) => el('details', {}, el('summary', {}, `Every control of ${one.name}`), table(one.name, [['Control', (each) => `${each.id} ${each.title}`], ['State', (each) => el('span', { class: `badge ${{ met: 'good', 'no evidence': 'bad' }[each.state] || ''}` }, each.state)],
      ['By what', (each) => each.reason || each.evidence.map((shown) => `${shown.what}: ${number(shown.count)}`).join('; ')]], one.controls, true))),
    el('details', {}, el('summary', {}, 'The report as Markdown'), el('pre', { tabindex: 0 }, report.markdown)),
    table('What lacks evidence', [['Control', (one) => `${one.id} ${one.title}`], ['How it stands', (one) => one.state], ['What brings evidence', (one) => one.closes]], gaps),
    table('Who acts without being a person', [['What', (one) => one.sort], ['Name', (one) => one.name || one.id], ['May', (one) => one.may], ['Until', (one) => one.until && moment(one.until)], ['Last', (one) => one.last_used && moment(one.last_used)], ['Advice', (one) => one.advice]], actors),
    el('h2', {}, 'Contracts'), contracts.length === 0 && el('p', { class: 'hint' }, 'None limits agents here. ', el('code', {}, 'vector-memory tool constitutional_contract'), ' makes one.'),
    contracts.map((one) => el('section', {}, el('h3', {}, one.name), facts([
      ['Holds', one.holds ? 'yes' : `no: ${one.problem}`], ['For', one.subject || 'every agent'], ['Permits', one.permitted.join(', ') || 'all that is not prohibited'],
      ['Prohibits', one.prohibited.join(', ') || 'nothing'], ['Up to', one.ceiling], ['Where', one.projects.join(', ') || 'everywhere'], ['Until', one.not_after ? moment(one.not_after) : 'it is revoked'],
    ]))),
    table('What is kept where', [['Project', (one) => one.project || 'no project'], ['Law', (one) => one.jurisdiction || 'none said'], ['Level', (one) => one.sensitivity], ['Memories', (one) => number(one.memories)]], kept));
}
