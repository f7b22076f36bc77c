"""What one message may cost: a little above what it costs today. Whoever makes it cheaper lowers the bound.

allocations, instructions: of the engine and the codec of one transport (rig/), where they are the same at each run.
calls: of a running retryd on its sockets (calls.py). They depend on how its threads meet, so there is more room.
"""

BOUNDS = {
    "allocations": {"stream success": 9.6, "http success": 18.6, "stream fails-once": 64.0},
    "instructions": {"stream success": 20_500, "http success": 18_300, "stream fails-once": 73_000},
    "calls": {"sends": 0.3, "receives": 0.5, "waits": 1.0},
}
# A figure under this share of its bound: the bound guards nothing any more.
LOOSE = {"allocations": 0.8, "instructions": 0.8, "calls": 0.1}
