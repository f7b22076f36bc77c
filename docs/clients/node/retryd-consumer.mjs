// A consumer behind retryd, over its stream. One file to copy into a project; Node 18 or later, no dependency.
//
//     import {run, Permanent} from './retryd-consumer.mjs';
//
//     await run('unix:/run/retryd/orders.sock', async message => {
//       if (knownToBeBad(message.body)) throw new Permanent('no such article');   // dead letters
//       await book(message.body, {once: message.idempotency_key});               // any other error: tried again later
//     }, {concurrency: 16});
//
// `run` resolves after SIGTERM or SIGINT, when every handler has finished.

import net from 'node:net';
import os from 'node:os';

/** It will never work: to the dead letters. */
export class Permanent extends Error {}
/** Done with it, on purpose. */
export class Drop extends Error {}
/** Not now: held for `after` seconds, and no attempt is spent. */
export class Throttled extends Error {
  constructor(after, message = '', dependency = undefined) {
    super(message);
    Object.assign(this, {after, dependency});
  }
}

/** body (a Buffer), and all that retryd says of it: id, queue, attempt, max_attempts, first_failed, deadline, redelivered,
 *  exchange, routing_key, idempotency_key, last_error, properties, headers. What the message does not have is undefined. */
class Message {
  #session;
  constructor(session, header, body) {
    this.#session = session;
    Object.assign(this, header, {body});
  }
  /** Asks for more time: the deadline is then `seconds` from now. */
  extend(seconds) { this.#session.say({op: 'extend', id: this.id, ms: Math.round(seconds * 1000)}); }
}

/** Serves until SIGTERM, SIGINT or `signal` aborts; then leaves and finishes what it has. */
export async function run(address, handler, {concurrency = 16, name = `${os.hostname()}-${process.pid}`, signal} = {}) {
  let session, stopping = false, wake = () => {};
  const stop = () => { stopping = true; session?.leave(); wake(); };
  for (const number of ['SIGTERM', 'SIGINT']) process.once(number, stop);
  signal?.addEventListener('abort', stop);
  for (let failures = 0; !stopping; ) {
    session = new Session(handler, concurrency, name);
    const trouble = await session.serve(address.replace(/^unix:/, ''), () => stopping);
    if (stopping) break;
    if (trouble) console.warn(`retryd at ${address}: ${trouble.message}`);
    failures = session.welcomed ? 1 : failures + 1;
    const pause = (0.5 + Math.random() / 2) * Math.min(100 * 2 ** Math.min(failures, 6), 5000);
    await new Promise(resolve => {
      const timer = setTimeout(resolve, pause);
      wake = () => { clearTimeout(timer); resolve(); };
    });
  }
  for (const number of ['SIGTERM', 'SIGINT']) process.removeListener(number, stop);
}

async function outcomeOf(handler, message) {
  try {
    await handler(message);
    return {outcome: 'success'};
  } catch (error) {
    if (error instanceof Drop) return {outcome: 'drop'};
    if (error instanceof Permanent) return {outcome: 'permanent', error: described(error)};
    if (error instanceof Throttled) {
      const after = Math.round(Math.min(Math.max(0, error.after), 1e9) * 1000);   // NaN where it is no number
      return {
        outcome: 'throttled', error: described(error), dependency: error.dependency,
        retry_after_ms: Number.isNaN(after) ? undefined : after,
      };
    }
    console.error(`message ${message.idempotency_key} of ${message.queue}, attempt ${message.attempt}:`, error);
    return {outcome: 'transient', error: described(error)};
  }
}

/** Whatever was thrown: an Error, a text, null, nothing. */
function described(error) {
  try {
    const type = String(error?.constructor?.name ?? typeof error);
    return {type, message: String(error?.message ?? error).slice(0, 2000)};
  } catch {
    return {type: typeof error, message: ''};   // it has no text
  }
}

class Session {
  constructor(handler, credit, name) {
    Object.assign(this, {handler, credit, name, welcomed: false, chunks: [], size: 0, due: 8});
  }

  /** Resolves when the session has ended: with what went wrong, or nothing. */
  serve(path, stopping) {
    return new Promise(resolve => {
      let trouble;
      this.socket = net.createConnection(path);
      this.socket.on('connect', () => {
        this.say({op: 'hello', protocol: 1, credit: this.credit, name: this.name});
        if (stopping()) this.leave();
      });
      this.socket.on('data', chunk => {
        try {
          this.read(chunk);
        } catch (error) {
          this.socket.destroy(error);
        }
      });
      this.socket.on('error', error => { trouble = error; });
      this.socket.on('close', () => resolve(trouble));
    });
  }

  /** retryd ends the session when it has every answer. */
  leave() { this.say({op: 'leave'}); }

  say(header) {
    const data = Buffer.from(JSON.stringify(header));
    const lengths = Buffer.alloc(8);
    lengths.writeUInt32BE(data.length);
    if (this.socket.writable) this.socket.write(Buffer.concat([lengths, data]));
  }

  /** Chunks are joined only when a whole frame is there: a large body costs one copy. */
  read(chunk) {
    this.chunks.push(chunk);
    this.size += chunk.length;
    while (this.size >= this.due) {
      const data = this.chunks.length === 1 ? this.chunks[0] : Buffer.concat(this.chunks);
      const header = data.readUInt32BE(0), end = 8 + header + data.readUInt32BE(4);
      this.chunks = [data];
      this.due = end;
      if (data.length < end) return;
      this.take(JSON.parse(data.toString('utf8', 8, 8 + header)), data.subarray(8 + header, end));
      this.chunks = [data.subarray(end)];
      this.size -= end;
      this.due = 8;
    }
  }

  take(header, body) {
    if (header.op === 'message') this.handle(new Message(this, header, body));
    else if (header.op === 'ping') this.say({op: 'pong'});
    else if (header.op === 'welcome') this.welcomed = true;
    else if (header.op === 'error') throw new Error(`${header.code}: ${header.message}`);
    // drain: nothing more comes; the session ends by itself, and the next one is dialled
  }

  async handle(message) {
    const outcome = await outcomeOf(this.handler, message);
    this.say({op: 'reply', id: message.id, ...outcome, credit: 1});
  }
}
