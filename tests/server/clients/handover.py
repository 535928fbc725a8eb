#!/usr/bin/env python3
"""handover.py FORAGE HOME WORK - holds a socket as systemd does, and starts the service on it twice, one after the
other, while questions are asked without a pause; prints what came of them."""
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request

forage, home, work = sys.argv[1:]
held = socket.create_server(("127.0.0.1", 0), backlog=128)
port = held.getsockname()[1]


def start(name):
    def hand_over():
        os.dup2(held.fileno(), 3)
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
        os.execv(forage, [forage, "serve", "--home", home, "--listen", "127.0.0.1:1", "--port-file", f"{work}/{name}.port"])

    pid = os.fork()
    if pid == 0:
        os.set_inheritable(3, True)
        log = os.open(f"{work}/{name}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(log, 2)
        hand_over()
    return pid


def up(name):
    for _ in range(600):
        if os.path.exists(f"{work}/{name}.port"):
            return
        time.sleep(0.1)
    sys.exit(f"{name} does not start")


answered, refused, stop = 0, [], False


def ask():
    global answered
    while not stop:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/collections", timeout=60) as reply:
                assert reply.status == 200
                answered += 1
        except Exception as e:  # all of them count
            refused.append(repr(e))
        time.sleep(0.01)


first = start("first")
up("first")
assert open(f"{work}/first.port").read().strip() == str(port), "it listens elsewhere"
thread = threading.Thread(target=ask)
thread.start()
time.sleep(1)
before = answered
os.kill(first, 15)
_, status = os.waitpid(first, 0)
time.sleep(0.5)  # nobody listens but whoever holds the socket
second = start("second")
up("second")
while answered < before + 20 and not refused:
    time.sleep(0.1)
stop = True
thread.join()
os.kill(second, 15)
_, status2 = os.waitpid(second, 0)
print(f"answered {answered > before > 0} refused {len(refused)} ends {status} {status2}", *refused[:3])
