/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Being told to end, by Ctrl-C or by kill(1).
 */
#ifndef INTERRUPT_H
#define INTERRUPT_H

int interrupt_catch(void);
int interrupt_status(int fd);

#endif /* INTERRUPT_H */
