# SPDX-License-Identifier: GPL-2.0
#
# What this kernel's headers offer, found by looking into them and never by the
# version number: distributions carry changes back.  Each finding becomes one
# define, and only compat.h, control.h, marks.h and tso.h beside this file read them.
#
#	$(call lf-probe,DEFINE,word,header below include/)
lf-probe = $(if $(shell grep -qsw '$(2)' $(srctree)/include/$(3) && echo y),-D$(1))

lf-probes-y := \
	$(call lf-probe,LF_HAVE_SND_CWND,tcp_snd_cwnd_set,net/tcp.h) \
	$(call lf-probe,LF_HAVE_TX_START,cwnd_event_tx_start,net/tcp.h) \
	$(call lf-probe,LF_HAVE_QUEUE_CWR,tcp_ecn_queue_cwr,net/tcp_ecn.h) \
	$(call lf-probe,LF_HAVE_MIN_TSO_SEGS,.min_tso_segs..struct sock,net/tcp.h) \
	$(call lf-probe,LF_HAVE_TSO_RTT_LOG,sysctl_tcp_tso_rtt_log,net/netns/ipv4.h) \
	$(call lf-probe,LF_HAVE_ACCECN,tcp_ecn_mode_accecn,net/tcp.h) \
	$(call lf-probe,LF_HAVE_CONG_CONTROL_ACK,u32 ack. int flag. const struct rate_sample,net/tcp.h)
