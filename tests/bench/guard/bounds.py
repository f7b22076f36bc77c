"""What one message may cost: a little above what it costs today. Whoever makes it cheaper lowers the bound.

allocations, instructions: of the engine and the codec of one transport (rig/), where they are the same at each run.
calls: of a running retryd on its sockets (calls.py). They depend on how its threads meet, so there is more room.
"""

BOUNDS = {
    "allocations": {"stream success": 15.5, "http success": 19.5, "stream fails-once": 108.4},
    "instructions": {"stream success": 29_000, "http success": 23_000, "stream fails-once": 114_000},
    "calls": {"sends": 1.3, "receives": 1.6, "waits": 2.2},
}
# A figure under this share of its bound: the bound guards nothing any more.
LOOSE = {"allocations": 0.8, "instructions": 0.8, "calls": 0.3}
