dnl SPDX-License-Identifier: GPL-2.0-or-later

# TRACER_LIB(NAME, PC-NAME, HEADER, EXTRA-INCLUDE-DIRS, LIBRARY, FUNCTION, DEBIAN, FEDORA)
# -----------------------------------------------------------------------------
# Finds a library that the tracer cannot do without, or stops with the names of its packages.
# Flags come from NAME_CFLAGS and NAME_LIBS when the user sets them, else from pkg-config when it
# knows PC-NAME, else the header is looked for in the compiler's own directories and in
# EXTRA-INCLUDE-DIRS (some distributions keep it one directory deeper and have no .pc file).
AC_DEFUN([TRACER_LIB], [
  AC_ARG_VAR([$1_CFLAGS], [C compiler flags for lib$5, overriding the search])
  AC_ARG_VAR([$1_LIBS], [linker flags for lib$5, overriding the search])
  tracer_save_CPPFLAGS=$CPPFLAGS
  tracer_save_LIBS=$LIBS
  AC_MSG_CHECKING([for lib$5])
  tracer_found=no
  tracer_tries="plain"
  for tracer_dir in $4; do
    tracer_tries="$tracer_tries -I$tracer_dir"
  done
  AS_IF([test "x$PKG_CONFIG" != x && $PKG_CONFIG --exists "$2" 2>/dev/null],
    [tracer_tries="pkg-config $tracer_tries"])
  AS_IF([test "x$$1_CFLAGS$$1_LIBS" != x], [tracer_tries=user])
  for tracer_try in $tracer_tries; do
    AS_CASE([$tracer_try],
      [user], [tracer_cflags=$$1_CFLAGS; tracer_libs=${$1_LIBS:--l$5}],
      [pkg-config], [tracer_cflags=`$PKG_CONFIG --cflags "$2"`; tracer_libs=`$PKG_CONFIG --libs "$2"`],
      [plain], [tracer_cflags=; tracer_libs=-l$5],
      [tracer_cflags=$tracer_try; tracer_libs=-l$5])
    CPPFLAGS="$tracer_save_CPPFLAGS $tracer_cflags"
    LIBS="$tracer_libs $tracer_save_LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stddef.h>
#include <$3>]], [[return (void *)&$6 == NULL;]])],
      [tracer_found=yes; break])
  done
  CPPFLAGS=$tracer_save_CPPFLAGS
  LIBS=$tracer_save_LIBS
  AC_MSG_RESULT([$tracer_found])
  AS_IF([test $tracer_found = no], [AC_MSG_ERROR([lib$5 with its header <$3> is needed and was not found.
  Debian, Ubuntu:  apt install $7
  Fedora, RHEL:    dnf install $8
(config.log shows what was tried; $1_CFLAGS and $1_LIBS override the search.)])])
  $1_CFLAGS=$tracer_cflags
  $1_LIBS=$tracer_libs
])

# TRACER_CC_FLAGS(VARIABLE, FLAGS)
# --------------------------------
# Adds to VARIABLE each of FLAGS that the compiler takes without a word.
AC_DEFUN([TRACER_CC_FLAGS], [
  AC_REQUIRE([AC_PROG_CC])
  tracer_save_CFLAGS=$CFLAGS
  for tracer_flag in $2; do
    AS_VAR_PUSHDEF([tracer_cache], [tracer_cv_cc_flag_$tracer_flag])
    AC_CACHE_CHECK([whether $CC takes $tracer_flag], [tracer_cache], [
      CFLAGS="$tracer_save_CFLAGS -Werror $tracer_flag"
      AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stdio.h>]], [[puts("");]])],
        [AS_VAR_SET([tracer_cache], [yes])], [AS_VAR_SET([tracer_cache], [no])])
    ])
    AS_VAR_IF([tracer_cache], [yes], [$1="$$1 $tracer_flag"])
    AS_VAR_POPDEF([tracer_cache])
  done
  CFLAGS=$tracer_save_CFLAGS
  AC_SUBST([$1])
])
