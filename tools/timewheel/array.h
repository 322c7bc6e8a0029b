/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARRAY_H
#define ARRAY_H

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif /* ARRAY_H */
