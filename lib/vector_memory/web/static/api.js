// Asks the daemon through this page's server. The bearer lies in sessionStorage, which other ports cannot read.

const BEARER = 'bearer';

export class Refusal extends Error {
  constructor(status, told) {
    super(told.error || `The answer was ${status}.`);
    this.status = status;
    this.hint = told.hint || '';
  }
}

/** Takes the one-time code out of the address, and returns whether this page may ask. */
export async function enter() {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  if (code) {
    history.replaceState(null, '', '/');
    const answer = await fetch('/enter', {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ code }),
    });
    if (answer.ok) sessionStorage.setItem(BEARER, (await answer.json()).bearer);
  }
  return Boolean(sessionStorage.getItem(BEARER));
}

/** Uses a token of the user's from now on, if it is one with all rights. */
export async function present(token) {
  sessionStorage.setItem(BEARER, token);
  try {
    await ask('where');
  } catch (error) {
    if (error.status === 401) leave();
    throw error;
  }
}

export function leave() {
  sessionStorage.removeItem(BEARER);
}

function sent(path, body, more) {
  return fetch(path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Authorization: `Bearer ${sessionStorage.getItem(BEARER)}`, 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
    ...more,
  });
}

async function checked(promise) {
  let answer;
  try {
    answer = await promise;
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Refusal(0, { error: 'The dashboard does not answer.', hint: 'It has ended: run `vector-memory dashboard` again.' });
  }
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => ({}));
  if (answer.status === 401) document.dispatchEvent(new Event('vm:outside'));
  throw new Refusal(answer.status, told);
}

/** Returns the answer to a question; about all projects unless it says otherwise. */
export async function ask(verb, body = {}, more = {}) {
  const answer = await checked(sent(`/ask/${verb}`, { all_projects: true, ...body }, more));
  return answer.json();
}

/** Yields what a long act tells line by line: {kind, data}. */
export async function* run(verb, body, signal) {
  yield* lines(await checked(sent(`/run/${verb}`, body, { signal })));
}

/** Yields what changes while the page is open. */
export async function* live(signal) {
  yield* lines(await checked(sent('/live', undefined, { signal })));
}

async function* lines(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split('\n');
    rest = parts.pop();
    for (const line of parts) if (line) yield JSON.parse(line);
  }
}
