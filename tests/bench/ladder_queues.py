"""The queues that the bare ladder needs, as retryd makes its own."""

from amqp_codec import number, text


def declare_ladder(world, queue, delays_ms):
    """(the lane, [the delay queues])"""
    world.declare(queue)
    lane = world.declare(queue + ".lane")
    names = [f"{queue}.{delay}ms" for delay in delays_ms]
    for name, delay in zip(names, delays_ms):
        world.declare(name, [
            number("x-message-ttl", delay), text("x-dead-letter-exchange", ""), text("x-dead-letter-routing-key", lane),
            text("x-dead-letter-strategy", "at-least-once"), text("x-overflow", "reject-publish")])
    return lane, names
