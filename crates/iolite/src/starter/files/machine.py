"""The turnstile itself. With `broken`, a coin that comes back takes the paid one along."""


class Turnstile:
    def __init__(self, broken=False):
        self.broken = broken
        self.paid = False

    def coin(self):
        if not self.paid:
            self.paid = True
            return "unlocked"
        if self.broken:
            self.paid = False  # The planted fault.
        return "returned"

    def push(self):
        if not self.paid:
            return "refused"
        self.paid = False
        return "passed"

    def handle(self, event):
        return {"coin": self.coin, "push": self.push}[event]()
