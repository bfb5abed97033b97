"""The system under test: a line in, a line out. `flush` matters: output that stays in a buffer is silence."""
import sys

from machine import Turnstile

turnstile = Turnstile(broken="broken" in sys.argv)
print("ready", flush=True)
for line in sys.stdin:
    print(turnstile.handle(line.strip()), flush=True)
