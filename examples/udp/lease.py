"""A lease server on UDP: a request a datagram, an answer a datagram."""
import socket
import sys

PORT = int(sys.argv[1])
BUG = sys.argv[2] if len(sys.argv) > 2 else "none"
# A network that loses every fifth request and every seventh answer; resets get through.
LOSSY = "lossy" in sys.argv

sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("127.0.0.1", PORT))
print("listening", flush=True)
held = False
requests = answers = 0
while True:
    data, peer = sock.recvfrom(2048)
    request = data.decode()
    requests += request != "RESET"
    if LOSSY and request != "RESET" and requests % 5 == 0:
        continue
    if request == "RESET":
        held = False
        answer = "READY"
    elif request == "LEASE ASK":
        answer = "LEASE DENIED" if held else "LEASE GRANTED"
        held = True
    elif request == "LEASE FREE":
        answer = "LEASE FREED" if held else "LEASE DENIED"
        held = held and BUG == "sticky"  # Bug: a lease is never given back.
    else:
        continue
    answers += answer != "READY"
    if LOSSY and answer != "READY" and answers % 7 == 0:
        continue
    sock.sendto(answer.encode(), peer)
