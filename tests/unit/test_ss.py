# SPDX-License-Identifier: GPL-2.0
"""What is read of ss, in the words of several versions of it."""

from __future__ import annotations

import pytest

from longfat.run import ss

# An iperf3 to itself over 50 Mbit/s: the connection that controls it, and the data.
OF_7_3 = """\
ESTAB 0      0       [::1]:48846 [::1]:5201 bbr wscale:10,10 rto:204 rtt:0.057/0.027 ato:40 \
mss:32768 pmtu:65536 rcvmss:536 advmss:65464 cwnd:13 bytes_sent:185 bytes_acked:186 \
bytes_received:4 segs_out:7 segs_in:7 data_segs_out:3 data_segs_in:4 \
bbr:(bw:13107187496bps,mrtt:0.02,pacing_gain:2.88672,cwnd_gain:2.88672) send 59787228070bps \
lastsnd:1528 lastrcv:1520 lastack:1520 pacing_rate 116928996672bps delivery_rate 13107200000bps \
delivered:4 app_limited rcv_space:65476 rcv_ssthresh:65476 minrtt:0.02 snd_wnd:65536 rcv_wnd:65536
ESTAB 0      3746688 [::1]:48862 [::1]:5201 cubic wscale:10,10 rto:296 rtt:94.424/0.047 \
mss:65464 pmtu:65536 rcvmss:536 advmss:65464 cwnd:24 bytes_sent:9753189 bytes_acked:9229478 \
segs_out:167 segs_in:87 data_segs_out:165 send 133113276bps lastsnd:20 lastrcv:1528 lastack:8 \
pacing_rate 266226552bps delivery_rate 49893960bps delivered:158 busy:1516ms \
rwnd_limited:116ms(7.7%) unacked:8 rcv_space:65476 rcv_ssthresh:65476 notsent:3222976 \
minrtt:0.005 snd_wnd:1585152 rcv_wnd:65536
"""
# 6.1 without -O, and without -n: two lines for each, rates in units, as older ones have them, too.
OF_6_1 = """\
ESTAB 0      3615760 [::1]:48862 [::1]:5201
\t cubic wscale:10,10 rto:296 rtt:94.427/0.041 mss:65464 pmtu:65536 rcvmss:536 advmss:65464 \
cwnd:24 ssthresh:22 bytes_sent:9884117 bytes_retrans:1103376 bytes_acked:9360406 send 133Mbps \
lastsnd:12 lastrcv:1540 pacing_rate 2.66Gbps/10Gbps delivery_rate 49.9Mbps delivered:160 \
busy:1528ms sndbuf_limited:16ms(1.0%) unacked:8 retrans:1/762 rcv_space:65476 minrtt:0.005
LISTEN 0      4096   *:22  *:*
\t cubic cwnd:10
"""


def test_connections() -> None:
    control, data = ss.parse(OF_7_3)
    assert (control.cc, control.app_limited, control.port) == ("bbr", True, 48846)
    assert (data.local, data.peer, data.cc) == ("[::1]:48862", "[::1]:5201", "cubic")
    assert not data.app_limited and data.port == 48862
    wanted = {
        **{"rtt": 94.424, "minrtt": 0.005, "cwnd": 24, "bytes_acked": 9229478, "delivered": 158},
        **{"pacing_rate": 266226552, "delivery_rate": 49893960, "send": 133113276},
        **{"busy": 1516, "rwnd_limited": 116, "snd_wnd": 1585152, "mss": 65464},
    }
    assert {key: data.values.get(key) for key in wanted} == wanted
    # What is not there is not 0.
    assert not {"retrans", "sndbuf_limited", "ssthresh"} & set(data.values)


def test_two_lines_for_each() -> None:
    data, listening = ss.parse(OF_6_1)
    assert data.port == 48862 and data.cc == "cubic"
    wanted = {
        **{"retrans": 762, "bytes_retrans": 1103376, "ssthresh": 22, "sndbuf_limited": 16},
        # The first; the second is what the program allows.
        **{"pacing_rate": 2.66e9, "delivery_rate": 49.9e6, "send": 133e6},
    }
    assert {key: data.values.get(key) for key in wanted} == wanted
    assert listening.values == {"cwnd": 10}


def test_an_older_kernel() -> None:
    """Without the counters that came later, and with flags before the algorithm."""
    (one,) = ss.parse("ESTAB 0 0 192.0.2.1:55 192.0.2.2:9 ts sack ecn ltcp wscale:7,7 rtt:20/10\n")
    assert one.cc == "ltcp" and one.values == {"rtt": 20} and not one.app_limited


@pytest.mark.parametrize("text", ["", "\n", "nonsense", "ESTAB 0 0 a:1 b:2", "\t cubic rtt:1/1"])
def test_nothing(text: str) -> None:
    assert ss.parse(text) == []
