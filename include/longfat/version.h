/* SPDX-License-Identifier: GPL-2.0 */
/* The version of all modules, as dkms.conf has it: modinfo shows it. */
#ifndef LONGFAT_VERSION_H
#define LONGFAT_VERSION_H

#define LF_VERSION	"0.1.0"

#endif /* LONGFAT_VERSION_H */
