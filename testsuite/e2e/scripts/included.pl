# SPDX-License-Identifier: GPL-2.0-or-later
if (1) {
    stop("included");
}
1;
