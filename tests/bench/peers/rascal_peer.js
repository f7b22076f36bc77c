// A consumer as rascal's documentation has it for delayed retries: what fails is forwarded to a queue with a TTL that
// dead-letters back.
//
// usage: node rascal_peer.js URL QUEUE COUNT FAILS(0|1) DELAY_MS; prints {"seconds": …, "cpu": …} of COUNT successes

const rascal = require('rascal');

const [url, queue] = process.argv.slice(2);
const [count, fails, delay] = process.argv.slice(4).map(Number);
const later = `${queue}.later`;

const quorum = {'x-queue-type': 'quorum'};
const back = {'x-message-ttl': delay, 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': queue};
const config = rascal.withDefaultConfig({
  vhosts: {
    '/': {
      connection: {url},
      exchanges: [''],
      queues: {
        [queue]: {options: {durable: true, arguments: quorum}},
        [later]: {options: {durable: true, arguments: {...quorum, ...back}}},
      },
      publications: {later: {queue: later, confirm: true}},
      subscriptions: {work: {queue, prefetch: 200}},
    },
  },
});

function fail(error) {
  console.error(error);
  process.exit(1);
}

async function main() {
  const broker = await rascal.BrokerAsPromised.create(config);
  broker.on('error', fail);
  const subscription = await broker.subscribe('work');
  subscription.on('error', fail).on('invalid_content', fail);
  let done = 0;
  let began;
  let spent;
  subscription.on('message', (message, _content, ackOrNack) => {
    began ??= performance.now();
    spent ??= process.cpuUsage();
    if (fails && !message.properties.headers['x-death']) {
      ackOrNack(new Error('transient'), [{strategy: 'forward', publication: 'later'}]);
      return;
    }
    ackOrNack();
    if (++done < count) return;
    const {user, system} = process.cpuUsage(spent);
    console.log(JSON.stringify({seconds: (performance.now() - began) / 1000, cpu: (user + system) / 1e6}));
    setTimeout(() => process.exit(0), 200);  // for the last acks
  });
}

main().catch(fail);
