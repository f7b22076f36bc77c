// stream_worker ADDRESS LOG: as stream_worker.py, on the Node client.

import fs from 'node:fs';
import {setTimeout as sleep} from 'node:timers/promises';

import {Drop, Permanent, Throttled, run} from '../../docs/clients/node/retryd-consumer.mjs';

class DbTimeout extends Error {}

const ODD = {nothing: undefined, null: null, text: 'not now', speechless: Object.create(null)};

async function act(message, word) {
  if (word === 'sleep') await sleep(1000 * message.headers.seconds);
  if (word === 'extend') {
    message.extend(10);
    await sleep(1000 * message.headers.seconds);
  }
  if (word === 'drop') throw new Drop('seen before');
  if (word === 'throttled') throw new Throttled(3600, 'come back later', 'payments');
  if (word === 'permanent') throw new Permanent('no such article');
  if (word === 'in a while') throw new Throttled('3600');   // as a Retry-After is read
  if (word === 'always') throw new DbTimeout('no answer');
  if (word in ODD) throw ODD[word];
}

const [address, log] = process.argv.slice(2);
const file = fs.openSync(log, 'a');
console.error = () => {};
await run(address, message => {
  const name = message.body.toString('utf8').slice(0, 9);
  fs.writeSync(file, `${process.pid} ${name} ${message.attempt}\n`);
  const word = message.body.toString();
  if (word === 'at once') throw new RangeError('not from a promise');
  return act(message, word);
});
