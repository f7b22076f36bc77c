"""What one message may cost: a little above what it costs today. Whoever makes it cheaper lowers the bound.

allocations, instructions: of the engine and the codec of one transport (rig/), where they are the same at each run.
calls: of a running retryd on its sockets (calls.py), which depends a little on how its threads meet.
"""

BOUNDS = {
    "allocations": {"stream success": 15.5, "http success": 19.5, "stream fails-once": 108.4},
    "instructions": {"stream success": 29_000, "http success": 23_000, "stream fails-once": 114_000},
    "calls": {"sends": 1.25, "receives": 1.4, "waits": 1.55},
}
LOOSE = 0.6  # a figure under this share of its bound: the bound guards nothing any more
