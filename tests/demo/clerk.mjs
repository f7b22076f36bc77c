// clerk ADDRESS JOURNAL: as clerk.py, on the Node client.

import fs from 'node:fs';
import {setTimeout as sleep} from 'node:timers/promises';

import {Permanent, run} from '../../docs/clients/node/retryd-consumer.mjs';

class UnknownArticle extends Permanent {}
class StockDbTimeout extends Error {}
class CarrierDown extends Error {}
const errors = {UnknownArticle, StockDbTimeout, CarrierDown};

const [address, journal] = process.argv.slice(2);
const file = fs.openSync(journal, 'a');

await run(address, async message => {
  const order = JSON.parse(message.body);
  await sleep(1000 * order.takes);
  const fails = message.attempt <= order.failures;
  fs.writeSync(file, `${fails ? 'failed' : 'done'}\t${order.fate}\n`);
  if (fails) throw new errors[order.error.type](order.error.message);
}, {concurrency: 8});
