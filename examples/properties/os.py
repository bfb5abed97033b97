"""A small operating system on standard input and output; with a bug's name as argument, a broken one."""
import sys

BUG = sys.argv[1] if len(sys.argv) > 1 else "none"


def say(text):
    print(text, flush=True)


def main():
    secure = False
    operations = 0
    say("ready")
    for line in sys.stdin:
        command = line.strip()
        if command == "auth_req":
            secure = True
            say("grant")
        elif command == "logout":
            secure = False
        elif command == "maintain":
            say("maintenance" if secure else "deny")
        elif command == "op_sec":
            if not secure:
                say("deny")
                continue
            operations += 1
            if BUG == "forgets" and operations % 3 == 0:
                say("crypt")  # Bug: every third operation is not logged.
            elif BUG == "hangs" and operations % 3 == 0:
                pass  # Bug: every third operation is never answered.
            else:
                say("log")
                say("crypt")


main()
