# SPDX-License-Identifier: GPL-2.0-or-later
"""What the parser makes of a file of etc/, which headers declare the functions in it, and how they are compiled."""
import os
import re
import shlex
import subprocess
from dataclasses import dataclass

from harness import Skip, check

LISTER = os.path.join(os.environ.get("abs_builddir") or os.getcwd(), "testsuite", "conf", "list_prototypes")

# What compilers and other libraries call, and no header shows.
INTERNAL = re.compile(r"_")


def listed(path, *options):
    """The fields of each line that list_prototypes prints."""
    if not os.access(LISTER, os.X_OK):
        raise Skip("list_prototypes is not built")
    done = subprocess.run([LISTER, *options, path], capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"the parser says: {done.stderr}")
    return [line.split("\t") for line in done.stdout.splitlines()]


@dataclass(frozen=True)
class Library:
    name: str                # etc/NAME.conf
    package: str             # that brings the headers
    headers: tuple
    config: tuple = ()       # a command that prints flags
    undeclared: tuple = ()   # functions without a declaration, which was looked for
    undeclared_32: tuple = ()  # the same in headers for i386
    excused: tuple = ()      # (what differences begin with, why so)
    aliases: tuple = ()      # (what names in the library begin with, what the header has instead)
    only_64: bool = False

    def flags(self):
        """For -m32 the other ABI's headers come last: what they have of their own hardly differs."""
        flags = ["-idirafter", "/usr/include/x86_64-linux-gnu"]
        if self.config:
            done = subprocess.run(self.config, capture_output=True, text=True, check=False)
            flags += [flag for flag in shlex.split(done.stdout) if flag.startswith(("-I", "-D"))]
        return flags


LIBC = """
    aio.h aliases.h alloca.h argp.h argz.h arpa/inet.h arpa/nameser.h assert.h byteswap.h complex.h crypt.h ctype.h
    dirent.h dlfcn.h envz.h err.h errno.h error.h execinfo.h fcntl.h fenv.h fmtmsg.h fnmatch.h fstab.h fts.h ftw.h
    getopt.h glob.h gnu/libc-version.h grp.h gshadow.h iconv.h ifaddrs.h inttypes.h langinfo.h libgen.h libintl.h
    link.h locale.h malloc.h math.h mcheck.h mntent.h monetary.h mqueue.h net/if.h netdb.h netinet/ether.h netinet/in.h
    nl_types.h obstack.h paths.h poll.h printf.h pthread.h pty.h pwd.h regex.h resolv.h sched.h search.h semaphore.h
    setjmp.h sgtty.h shadow.h signal.h spawn.h stdio.h stdio_ext.h stdlib.h string.h strings.h sys/acct.h sys/auxv.h
    sys/epoll.h sys/eventfd.h sys/fanotify.h sys/file.h sys/fsuid.h sys/gmon.h sys/inotify.h sys/io.h sys/ioctl.h
    sys/ipc.h sys/klog.h sys/mman.h sys/mount.h sys/msg.h sys/personality.h sys/pidfd.h sys/poll.h sys/prctl.h
    sys/ptrace.h sys/quota.h sys/random.h sys/reboot.h sys/resource.h sys/rseq.h sys/select.h sys/sem.h
    sys/sendfile.h sys/shm.h sys/signalfd.h sys/single_threaded.h sys/socket.h sys/stat.h sys/statfs.h
    sys/statvfs.h sys/swap.h sys/syscall.h sys/sysinfo.h sys/sysmacros.h sys/time.h sys/timeb.h sys/timerfd.h
    sys/times.h sys/timex.h sys/types.h sys/uio.h sys/un.h sys/utsname.h sys/vfs.h sys/wait.h sys/xattr.h syslog.h
    termios.h threads.h time.h ttyent.h uchar.h ucontext.h ulimit.h unistd.h utime.h utmp.h utmpx.h values.h wait.h
    wchar.h wctype.h wordexp.h""".split()
LIBC_ALIASES = (("__isoc99_", ""), ("__isoc23_", ""), ("__xpg_b", "b"), ("__", ""), ("_IO_", ""))
# The kernel's, of which only libcap has a header; what old programs call, and what glibc has since 2.38.
LIBC_UNDECLARED = ("arch_prctl", "bsd_signal", "capget", "capset", "cfree", "delete_module", "gets", "init_module", "modify_ldt",
                   "moncontrol", "pivot_root", "stime", "strlcat", "strlcpy")

OPENSSL = tuple("openssl/" + name for name in """
    aes.h asn1.h asn1err.h asn1t.h async.h asyncerr.h bio.h bioerr.h blowfish.h bn.h bnerr.h buffer.h buffererr.h
    camellia.h cast.h cmac.h cmp.h cmp_util.h cmperr.h cms.h cmserr.h comp.h comperr.h conf.h conferr.h conftypes.h
    core.h crmf.h crmferr.h crypto.h cryptoerr.h cryptoerr_legacy.h ct.h cterr.h decoder.h decodererr.h des.h dh.h
    dherr.h dsa.h dsaerr.h dtls1.h e_os2.h ec.h ecdh.h ecdsa.h ecerr.h encoder.h encodererr.h engine.h engineerr.h
    err.h ess.h esserr.h evp.h evperr.h fips_names.h fipskey.h hmac.h http.h httperr.h idea.h kdf.h kdferr.h lhash.h
    md2.h md4.h md5.h mdc2.h modes.h obj_mac.h objects.h objectserr.h ocsp.h ocsperr.h ossl_typ.h param_build.h
    params.h pem.h pem2.h pemerr.h pkcs12.h pkcs12err.h pkcs7.h pkcs7err.h prov_ssl.h proverr.h provider.h rand.h
    randerr.h rc2.h rc4.h rc5.h ripemd.h rsa.h rsaerr.h safestack.h seed.h self_test.h sha.h srp.h srtp.h ssl.h
    ssl2.h ssl3.h sslerr.h sslerr_legacy.h stack.h store.h storeerr.h symhacks.h tls1.h trace.h ts.h tserr.h
    txt_db.h ui.h uierr.h whrlpool.h x509.h x509_vfy.h x509err.h x509v3.h x509v3err.h""".split())
LIBXML = tuple("libxml/" + name for name in """
    HTMLparser.h HTMLtree.h SAX.h SAX2.h c14n.h catalog.h chvalid.h debugXML.h dict.h encoding.h entities.h
    globals.h hash.h list.h nanoftp.h nanohttp.h parser.h parserInternals.h pattern.h relaxng.h schemasInternals.h
    schematron.h threads.h tree.h uri.h valid.h xinclude.h xlink.h xmlIO.h xmlautomata.h xmlerror.h xmlexports.h
    xmlmemory.h xmlmodule.h xmlreader.h xmlregexp.h xmlsave.h xmlschemas.h xmlschemastypes.h xmlstring.h
    xmlunicode.h xmlversion.h xmlwriter.h xpath.h xpathInternals.h xpointer.h""".split())

GNUTLS = tuple("gnutls/" + name for name in """
    abstract.h compat.h crypto.h dane.h dtls.h gnutls.h ocsp.h openpgp.h openssl.h pkcs11.h pkcs12.h pkcs7.h self-test.h
    socket.h system-keys.h tpm.h urls.h x509-ext.h x509.h""".split())

# Headers, the command, and no undeclared ones.
MARIADB = (("mysql.h", "mariadb_rpl.h"), ("pkg-config", "--cflags", "libmariadb"), (), (),
           (("mysql_ssl_set: result", "of libmysqlclient it is a bool, of which one byte counts"),))

LIBRARIES = (
    Library("libc", "libc6-dev", ("#define _REGEX_RE_COMP", *LIBC), undeclared=LIBC_UNDECLARED, aliases=LIBC_ALIASES,
            excused=(("ioctl: parameter 2", "it is an unsigned long, of which the kernel looks at 32 bits"),)),
    Library("libm", "libc6-dev", ("math.h", "complex.h", "fenv.h"), aliases=(("__", ""),)),
    Library("libpthread", "libc6-dev", ("pthread.h", "semaphore.h", "signal.h", "mqueue.h")),
    Library("libdl", "libc6-dev", ("dlfcn.h", "link.h")),
    Library("librt", "libc6-dev", ("aio.h", "mqueue.h", "signal.h", "sys/mman.h", "time.h")),
    Library("libz", "zlib1g-dev", ("unistd.h", "zlib.h")),
    Library("libssl", "libssl-dev", OPENSSL),
    Library("libcrypto", "libssl-dev", OPENSSL, undeclared_32=tuple(f"EC_GFp_nistp{bits}_method" for bits in (224, 256, 521))),
    Library("libcurl", "libcurl4-openssl-dev", ("curl/curl.h", "curl/mprintf.h")),
    Library("libhiredis", "libhiredis-dev", ("hiredis/hiredis.h", "hiredis/async.h")),
    Library("libxml2", "libxml2-dev", LIBXML, ("pkg-config", "--cflags", "libxml-2.0")),
    Library("libsqlite3", "libsqlite3-dev", ("sqlite3.h",)),
    Library("libpq", "libpq-dev", ("libpq-fe.h", "libpq-events.h"), ("pkg-config", "--cflags", "libpq"),
            excused=tuple((f"{name}: ", "those of amd64 say long, those of i386 long long") for name in ("lo_lseek64", "lo_tell64", "lo_truncate64"))),
    Library("libmariadb", "libmariadb-dev", *MARIADB),
    Library("libmysqlclient", "libmariadb-dev", *MARIADB),
    Library("libmemcached", "libmemcached-dev", ("libmemcached/memcached.h", "libmemcached/util.h")),
    Library("libgnutls", "libgnutls28-dev", GNUTLS),
    Library("libldap", "libldap-dev", ("#define LDAP_DEPRECATED 1", "sys/time.h", "wchar.h", "lber.h", "ldap.h", "ldap_schema.h", "ldap_utf8.h")),
    Library("librdkafka", "librdkafka-dev", ("librdkafka/rdkafka.h", "librdkafka/rdkafka_mock.h")),
    Library("mariadbd", "libmariadb-dev", ("mysql.h", "mariadb_com.h"), ("pkg-config", "--cflags", "libmariadb")),
    Library("mysqld", "libmariadb-dev", ("mysql.h", "mariadb_com.h"), ("pkg-config", "--cflags", "libmariadb")),
    Library("python3", "libpython3-dev", ("Python.h",), ("/usr/bin/python3-config", "--includes")),
    Library("perl", "libperl-dev", ("EXTERN.h", "perl.h"), ("perl", "-MExtUtils::Embed", "-e", "ccopts"),
            undeclared=("Perl_pp_entersub",), only_64=True),
    Library("libruby-3", "ruby-dev", ("ruby.h", "ruby/thread.h", "ruby/io.h", "ruby/encoding.h", "ruby/re.h"),
            ("/bin/sh", "-c", "pkg-config --cflags $(pkg-config --list-all | grep -o '^ruby-[0-9.]*')"), only_64=True),
    Library("php8", "php-dev", ("php.h", "php_main.h", "zend_exceptions.h", "zend_execute.h", "php_streams.h", "ext/standard/info.h"),
            ("php-config", "--includes"), only_64=True),
)

# Files of which nothing can be compared.
WITHOUT_HEADERS = {"libc.so": "it is libm and libc", "libc.so.6": "it is libc",
                   "linux_types": "it has no functions, but types of others",
                   "mysqlnd": "its one function has no symbol",
                   "syscalls": "the kernel's, which are no functions"}


# ---- names of numbers ----------------------------------------------------------------------------

KERNEL = tuple("""
    linux/fcntl.h linux/mman.h linux/sched.h linux/futex.h linux/wait.h linux/prctl.h linux/eventpoll.h linux/stat.h
    linux/fs.h linux/mount.h linux/memfd.h linux/random.h linux/time.h linux/timerfd.h linux/signalfd.h linux/inotify.h
    linux/resource.h linux/ptrace.h linux/seccomp.h linux/falloc.h linux/fadvise.h linux/close_range.h linux/ipc.h asm/prctl.h
    asm/signal.h asm/poll.h sys/eventfd.h asm/socket.h linux/netlink.h linux/tcp.h linux/shm.h linux/sem.h linux/msg.h
    linux/magic.h linux/openat2.h linux/xattr.h linux/landlock.h linux/fanotify.h linux/mempolicy.h linux/kcmp.h linux/ioprio.h
    linux/keyctl.h linux/bpf.h linux/perf_event.h linux/reboot.h linux/timex.h linux/capability.h linux/userfaultfd.h
    linux/rseq.h linux/pidfd.h linux/membarrier.h linux/signal.h asm/siginfo.h asm/termbits.h""".split())
KERNEL = ("typedef long time_t;", *KERNEL)

# (what names match, how else the number may be made of what headers have, why so)
EXPRESSIONS = (
    (r"(SIG[A-Z0-9]+)", r"1ULL << (\1 - 1)", "in a set of signals"),
    (r"SIGRT_(\d+)", r"SIGRTMIN + \1", "they have no names, and are counted from the first one"),
    (r"SIGRT_(\d+)", r"1ULL << (SIGRTMIN + \1 - 1)", "in a set of them"),
    (r"(IOPRIO_CLASS_\w+)", r"\1 << IOPRIO_CLASS_SHIFT", "a class is the upper bits of a priority"),
)
# (what names match, for words of so many bytes, why they are not compared)
OTHER_CONSTANTS = ((r"F_[A-Z]+LKW?64", 8, "only kernels of 32 bits have them"),)
# (what names match, why a header need not have them)
ABSENT_CONSTANTS = (
    (r"ST_(VALID|NOSYMFOLLOW)", "only the kernel's own headers have what statfs(2) answers so"),
    (r"F_SEAL_EXEC", "since Linux 6.3"),
    (r"LANDLOCK_ACCESS_FS_TRUNCATE", "since Linux 6.2"),
    (r"MOVE_MOUNT_BENEATH", "since Linux 6.5"),
    (r"LANDLOCK_RULE_NET_PORT", "since Linux 6.7"),
    (r"PIDFD_THREAD", "since Linux 6.9"),
    (r"LANDLOCK_ACCESS_FS_IOCTL_DEV", "since Linux 6.10"),
    (r"GNUTLS_SAN_OTHERNAME_SRV", "since GnuTLS 3.8, and in Debian 12 since 3.7.9-2+deb12u7"),
)


def expressions_of(name):
    """The expressions of C of which one should have the value that a name has here."""
    return [name] + [re.sub(pattern, expression, name) for pattern, expression, _ in EXPRESSIONS if re.fullmatch(pattern, name)]


def is_other_constant(name, word):
    return any(re.fullmatch(pattern, name) and bytes_ == word for pattern, bytes_, _ in OTHER_CONSTANTS)


def may_be_absent(name):
    return any(re.fullmatch(pattern, name) for pattern, _ in ABSENT_CONSTANTS)


def groups_of_headers():
    """
    The libraries of which files have names, by the files, and the headers that have them: of several groups, which cannot be
    read together, the first one that has a name counts.
    """
    libc = next(library for library in LIBRARIES if library.name == "libc")
    kernel = [(name, libc, (KERNEL, libc.headers)) for name in ("linux_types", "syscalls")]
    return kernel + [(library.name, library, (library.headers,) + ((KERNEL,) if library is libc else ())) for library in LIBRARIES]
