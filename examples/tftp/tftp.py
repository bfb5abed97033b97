"""A TFTP server that gives one file of 700 bytes; each transfer has a port of its own (its TID)."""
import socket
import struct
import sys

PORT = int(sys.argv[1])
BUG = sys.argv[2] if len(sys.argv) > 2 else "none"
FILE = b"x" * 700

sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("127.0.0.1", PORT))
print("listening", flush=True)
while True:
    request, peer = sock.recvfrom(2048)
    if request[:2] != b"\0\1":
        continue
    transfer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    transfer.bind(("127.0.0.1", 0))
    for block in (1, 2):
        data = struct.pack(">HH", 3, block) + FILE[512 * (block - 1) : 512 * block]
        transfer.sendto(data, peer)
        if BUG == "hurries":  # Bug: the second block does not wait for the first to be acknowledged.
            continue
        transfer.settimeout(60)
        while transfer.recv(2048) != struct.pack(">HH", 4, block):
            pass
    transfer.close()
