"""A consumer as it is usually written with aio-pika: what fails goes to a queue with a TTL that dead-letters back.

usage: aio_pika_peer.py URL QUEUE COUNT FAILS(0|1) DELAY_MS; prints {"seconds": …, "cpu": …} of COUNT successes
"""

import asyncio
import json
import sys
import time

import aio_pika

PREFETCH = 200


class Peer:
    def __init__(self, queue, count, fails, delay_ms):
        self.queue, self.left, self.fails = queue, count, fails
        self.retry_queue, self.delay_ms = f"{queue}.retry", delay_ms
        self.began = None
        self.done = asyncio.Event()

    async def run(self, url):
        connection = await aio_pika.connect_robust(url)
        self.channel = await connection.channel(publisher_confirms=True)
        await self.channel.set_qos(prefetch_count=PREFETCH)
        back = {"x-message-ttl": self.delay_ms, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": self.queue}
        await self.channel.declare_queue(self.retry_queue, durable=True, arguments={"x-queue-type": "quorum", **back})
        work = await self.channel.declare_queue(self.queue, durable=True, arguments={"x-queue-type": "quorum"})
        await work.consume(self.handle)
        await self.done.wait()
        seconds, cpu = time.monotonic() - self.began[0], time.process_time() - self.began[1]
        await connection.close()
        return {"seconds": seconds, "cpu": cpu}

    async def handle(self, message):
        self.began = self.began or (time.monotonic(), time.process_time())
        if self.fails and "x-death" not in message.headers:
            return await self.retry_later(message)
        await message.ack()
        self.left -= 1
        if self.left == 0:
            self.done.set()

    async def retry_later(self, message):
        copy = aio_pika.Message(message.body, headers=message.headers, delivery_mode=aio_pika.DeliveryMode.PERSISTENT)
        await self.channel.default_exchange.publish(copy, routing_key=self.retry_queue)
        await message.ack()


url, queue, *numbers = sys.argv[1:]
print(json.dumps(asyncio.run(Peer(queue, *map(int, numbers)).run(url))))
