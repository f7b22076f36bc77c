"""Channels that the broker closes by the thousand, and a broker that allows only a few: memory stays flat."""

from amqp_codec import encode_properties
from broker_states import broker_setting
from integration_case import rabbitmqctl
from retryd import eventually
from soak_case import Memory, SoakCase, scaled


class Channels(SoakCase):
    def test_thousands_of_channels_closed_while_publishing_cost_no_memory(self):
        """A copy that is larger than the broker takes closes the channel on which it is published."""
        count = scaled(2500, 50)
        self.declare_work_queue()
        app = self.consumer(lambda request: 503)
        keys = "prefetch: 65535, retry: {quick: none, delays: [1h]}"
        self.wire.publish_all(self.queue, [(encode_properties(delivery_mode=2), b"%06d" % n + bytes(1500)) for n in range(count)])
        with broker_setting("max_message_size", 1000):
            daemon = self.retryd(f'queues: {{"@QUEUE@": {{deliver: {{http: "{app.url}"}}, {keys}}}}}')
            memory, closed = Memory(daemon), 0
            while (now := daemon.log().count("publish_channel_closed")) < count:
                eventually(lambda: daemon.log().count("publish_channel_closed") > now, 60, "one more closed channel")
                if now - closed >= count // 40:
                    memory.sample()
                    closed = now
        self.figure("channels closed", daemon.log().count("publish_channel_closed"))
        self.figure("resident after the warm-up", memory.samples[len(memory.samples) // 4], "KiB")
        self.figure("growth until the end", memory.growth(), "KiB")
        self.assertLess(memory.growth(), 4096)

    def test_thousands_of_look_ups_of_missing_queues_cost_no_memory(self):
        """Each of them closes a channel with 404."""
        queues, lookups = 200, scaled(5000, 400)
        app = self.consumer()
        names = "".join(f'  "{self.queue}.{n}": {{}}\n' for n in range(queues))
        daemon = self.retryd(f'defaults: {{deliver: {{http: "{app.url}", slow_start: none}}}}\nqueues:\n{names}', wait_ready=False)
        # A queue that is missing is looked up every 2.5 to 5 s once it has been so for a while.
        memory = Memory(daemon)
        seconds = lookups / queues * 5
        self.keep_asking(seconds, memory.sample, every=max(0.2, seconds / 200))
        self.figure("seconds of looking up 200 missing queues", seconds)
        self.figure("growth until the end", memory.growth(0.4), "KiB")
        self.assertLess(memory.growth(0.4), 4096)

    def test_six_queues_on_a_broker_that_allows_four_channels(self):
        """Those that have one flow, the others say what they lack; all flow when there are enough."""
        app = self.consumer()
        queues = [f"{self.queue}.{n}" for n in range(6)]
        for queue in queues:
            self.declare_work_queue(queue)
        names = "".join(f'  "{queue}": {{}}\n' for queue in queues)
        with broker_setting("channel_max", 4):
            daemon = self.retryd(f'defaults: {{deliver: {{http: "{app.url}", slow_start: none}}}}\nqueues:\n{names}')
            memory = Memory(daemon)
            self.keep_asking(scaled(60, 10), memory.sample)
            stalls = [stall for view in daemon.status()["queues"] for stall in view["stalls"]]
            self.assertEqual({stall["cause"] for stall in stalls}, {"subscription-lost"})
            self.assertTrue(all("the broker allows no more channels" in stall["detail"] for stall in stalls), stalls)
            self.assert_no_busy_loop(daemon)
        self.figure("growth until the end", memory.growth(), "KiB")
        self.assertLess(memory.growth(), 4096)
        self.assertNotIn("link_down", daemon.log())
        rabbitmqctl("close_all_connections", "test")
        self.reconnect()
        self.wait_for_flow(daemon, 60)
        for queue in queues:
            self.send(b"m", queue=queue)
        self.wait_for_requests(app, 6)
