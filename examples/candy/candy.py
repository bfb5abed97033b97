"""A candy machine on standard input and output; with a bug's name as argument, a broken one."""
import sys

BUG = sys.argv[1] if len(sys.argv) > 1 else "none"
CHOCOLATE = 3  # bars in the machine


def say(text):
    print(text, flush=True)


def main():
    chocolate = CHOCOLATE
    sold = 0
    say("ready")
    for line in sys.stdin:
        coin = line.strip()
        sold += 1
        if coin == "shil":
            # Bug: every fourth customer gets chocolate for a shilling.
            say("choc" if BUG == "generous" and sold % 4 == 0 else "liq")
        elif coin == "dub":
            if chocolate > 0:
                chocolate -= 1
                say("choc")
                if BUG == "double" and chocolate == 0:
                    say("choc")  # Bug: the last bar takes another one along.
            elif BUG == "miser":
                pass  # Bug: without chocolate it keeps the money.
            else:
                say("liq")
                say("liq")


main()
