# SPDX-License-Identifier: GPL-2.0-or-later
package Required;
sub function { if (1) {
    main::stop("required");
} }
function();
1;
