"""A sender of the Bounded Retransmission Protocol over standard input and output.

    sender.py [FAULT]

It sends the packets of a fixed file, each at most MAX times, and reports how it went. A packet that
is not acknowledged in time is sent again.
"""
import os
import select
import sys

FILE = [10, 20, 30]
MAX = 2
TIMEOUT = 0.12

FAULTS = {
    "one-too-many": "one retransmission too many",
    "bit-not-flipped": "the bit is not flipped after an acknowledgement",
    "ok-for-dont-know": "OK where the fate of the last packet is not known",
    "silent": "no confirmation after the last timeout",
    "wrong-packet": "the next packet where this one is to be sent again",
    "max-ignored": "a packet is sent again for ever",
    "patient": "no timeout at all",
    "max-drifts": "one more retransmission after each file",
    "no-minimum": "the number of transmissions may be 0, and is",
}


class Lines:
    """Lines of standard input, with a time limit."""

    def __init__(self):
        self.buffer = b""

    def next(self, timeout=None):
        """The next line, or None when none came in time."""
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([0], [], [], timeout)
            if not ready:
                return None
            data = os.read(0, 4096)
            if not data:
                sys.exit(0)
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode().strip()


def say(text):
    print(text, flush=True)


class Sender:
    def __init__(self, fault):
        self.fault = fault
        self.lines = Lines()
        self.bit = True
        self.max = 0 if fault == "no-minimum" else MAX

    def transmit(self, head, last):
        """Sends one packet until it is acknowledged; False when the sender gives up."""
        limit = self.max + (1 if self.fault == "one-too-many" else 0)
        sent = 0
        while sent < max(limit, 1) or self.fault == "max-ignored":
            packet = FILE[head]
            if self.fault == "wrong-packet" and sent > 0:
                packet = FILE[(head + 1) % len(FILE)]
            say(f"MSG {packet} {'true' if self.bit else 'false'}")
            sent += 1
            while True:
                # The timeouts are due while the packet was sent at most `max` times.
                endless = self.fault == "patient" or self.max < 1
                line = self.lines.next(None if endless else TIMEOUT)
                if line is None:
                    break
                if line == "ACK":
                    if self.fault != "bit-not-flipped":
                        self.bit = not self.bit
                    return True
        return False

    def file(self, last):
        for head in range(last):
            if not self.transmit(head, last):
                if self.fault == "silent":
                    return
                if head + 1 < last:
                    say("NOT_OK")
                else:
                    say("OK" if self.fault == "ok-for-dont-know" else "DONT_KNOW")
                return
        say("OK")

    def run(self):
        say("READY")
        while True:
            words = self.lines.next().split()
            if words and words[0] == "REQ":
                self.file(min(int(words[1]), len(FILE)))
                if self.fault == "max-drifts":
                    self.max += 1


if __name__ == "__main__":
    fault = sys.argv[1] if len(sys.argv) > 1 else None
    if fault is not None and fault not in FAULTS:
        sys.exit("faults: " + ", ".join(FAULTS))
    Sender(fault).run()
