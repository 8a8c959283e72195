// SPDX-License-Identifier: GPL-2.0
/* Ends a virtual kernel: as its first process, there is nothing to ask first. */
#include <sys/reboot.h>
#include <unistd.h>

int main(void)
{
	sync();
	return reboot(RB_POWER_OFF);
}
