<?php
// SPDX-License-Identifier: GPL-2.0-or-later

stop("included");
(function () {
    stop("in included");
})();
