#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""bulk.py ALGORITHM: a connection over the loopback of a network namespace of its own, nearly all
of it in congestion avoidance.  As root."""

import socket
import subprocess
import sys
import threading


def main(algorithm: str) -> None:
    for command in (
        "ip link set lo mtu 1500 up",
        "ethtool -K lo tso off gso off gro off",
        "tc qdisc add dev lo root tbf rate 400mbit burst 16kb limit 128kb",
    ):
        subprocess.run(command.split(), check=True)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm.encode())
        client.connect(server.getsockname())
        peer, _ = server.accept()
        reader = threading.Thread(target=lambda: [*iter(lambda: peer.recv(1 << 20), b"")])
        reader.start()
        for _ in range(64):
            client.sendall(bytes(1 << 20))
        client.shutdown(socket.SHUT_WR)
        reader.join()


if __name__ == "__main__":
    main(sys.argv[1])
