/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LONGFAT_SHIM_OVERFLOW_H
#define LONGFAT_SHIM_OVERFLOW_H

#define struct_size(p, member, n)	(sizeof(*(p)) + sizeof(*(p)->member) * (n))

#endif /* LONGFAT_SHIM_OVERFLOW_H */
