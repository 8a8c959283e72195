# SPDX-License-Identifier: GPL-2.0
"""Count the TCP segments that arrive at eth0 behind a later one of their connection, by their
sequence numbers, until the file named on the command line is there.  Nothing may be lost: what
arrives a second time was sent again without need."""

from __future__ import annotations

import select
import socket
import sys
from pathlib import Path

ETH_P_IP, SO_RCVBUFFORCE = 0x0800, 33

end: dict[bytes, int] = {}  # by addresses and ports: the highest sequence number
seen: set[bytes] = set()
behind = data = 0
with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0) as sock:
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 28)
    sock.bind(("eth0", ETH_P_IP))
    while not Path(sys.argv[1]).exists():
        while select.select([sock], [], [], 0.1)[0]:
            packet = sock.recv(128, socket.MSG_TRUNC)
            begin = int.from_bytes(packet[24:28])
            size = int.from_bytes(packet[2:4]) - 20 - (packet[32] >> 4) * 4
            if packet[9] != socket.IPPROTO_TCP or not size:
                continue
            data += 1
            segment = packet[12:16] + packet[20:28]  # address, ports, number
            if segment in seen:
                continue
            seen.add(segment)
            last = end.setdefault(packet[12:24], begin)
            if (begin - last) % 2**32 < 2**31:
                end[packet[12:24]] = begin + size
            else:
                behind += 1
print(behind, data)
