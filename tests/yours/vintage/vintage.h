/* SPDX-License-Identifier: GPL-2.0 */
u32 vintage_ssthresh(struct sock *sk);
