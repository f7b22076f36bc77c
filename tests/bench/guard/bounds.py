"""What one message may cost: a little above what it costs today. Whoever makes it cheaper lowers the bound.

allocations, instructions: of the engine and the codec of one transport (rig/), where they are the same at each run.
calls: of a running retryd on its sockets (calls.py). They depend on how its threads meet, so there is more room.
"""

BOUNDS = {
    "allocations": {"stream success": 10.6, "http success": 19.5, "stream fails-once": 103.0},
    "instructions": {"stream success": 22_000, "http success": 19_500, "stream fails-once": 88_000},
    "calls": {"sends": 0.4, "receives": 0.5, "waits": 1.0},
}
# A figure under this share of its bound: the bound guards nothing any more.
LOOSE = {"allocations": 0.8, "instructions": 0.8, "calls": 0.1}
