/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls in which one argument decides what another one means.
 *
 * Their prototypes are in syscalls.conf like all others, under the name of the call and a suffix of
 * the table below: `fcntl_setfl`. If no file has that name, the call's own prototype is used. For
 * each argument the first row that fits is taken; suffixes from rows about different arguments of a
 * call are joined in their order: `setsockopt_tcp_int`. A row may depend on the result of another
 * row (`setsockopt_socket`), because options have the same numbers on all levels. The numbers are
 * those of the kernel's headers, which have the names; the request numbers of ioctl(2) are the same
 * on all supported ABIs.
 */
#include "target/syscalls/syscall_variants.h"

#include "base/arch.h"
#include "base/xalloc.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/socket.h>

enum { ALL = -1, VARIANT_BITS = 8, ARGUMENTS_MAX = 2 };

/*
 * The kernel's numbers (asm-generic/fcntl.h). With large files on 32 bits, the C library gives the
 * names of the first three to the last three. Only 32-bit kernels have the last three: locks with
 * 64-bit offsets.
 */
enum {
	KERNEL_F_GETLK = 5,
	KERNEL_F_SETLK = 6,
	KERNEL_F_SETLKW = 7,
	KERNEL_F_GETLK64 = 12,
	KERNEL_F_SETLK64 = 13,
	KERNEL_F_SETLKW64 = 14
};
/* Masks out IPC_64, which 32-bit C libraries add. */
enum { SEMAPHORE_COMMAND = (int)~0x100U };

static const struct variant {
	const char *name;
	unsigned argument;
	uint32_t mask, value;
	const char *suffix;
} variants[] = {
	{"socket", 0, ALL, AF_INET, "_inet"},
	{"socket", 0, ALL, AF_INET6, "_inet"},
	{"socket", 0, ALL, AF_NETLINK, "_netlink"},
	{"setsockopt", 1, ALL, SOL_SOCKET, "_socket"},
	{"setsockopt", 1, ALL, IPPROTO_IP, "_ip"},
	{"setsockopt", 1, ALL, IPPROTO_IPV6, "_ipv6"},
	{"setsockopt", 1, ALL, IPPROTO_TCP, "_tcp"},
	{"setsockopt", 1, ALL, SOL_NETLINK, "_netlink"},
	{"setsockopt_socket", 2, ALL, SO_LINGER, "_linger"},
	{"setsockopt_socket", 2, ALL, SO_RCVTIMEO_OLD, "_time"},
	{"setsockopt_socket", 2, ALL, SO_SNDTIMEO_OLD, "_time"},
	{"setsockopt_socket", 2, ALL, SO_BINDTODEVICE, "_text"},
	{"setsockopt_tcp", 2, ALL, TCP_CONGESTION, "_text"},
	{"setsockopt", 4, ALL, sizeof(int), "_int"},
	{"getsockopt", 1, ALL, SOL_SOCKET, "_socket"},
	{"getsockopt", 1, ALL, IPPROTO_IP, "_ip"},
	{"getsockopt", 1, ALL, IPPROTO_IPV6, "_ipv6"},
	{"getsockopt", 1, ALL, IPPROTO_TCP, "_tcp"},
	{"getsockopt", 1, ALL, SOL_NETLINK, "_netlink"},
	{"getsockopt_socket", 2, ALL, SO_LINGER, "_linger"},
	{"getsockopt_socket", 2, ALL, SO_RCVTIMEO_OLD, "_time"},
	{"getsockopt_socket", 2, ALL, SO_SNDTIMEO_OLD, "_time"},
	{"getsockopt_socket", 2, ALL, SO_BINDTODEVICE, "_text"},
	{"getsockopt_socket", 2, ALL, SO_PEERCRED, "_ucred"},
	{"getsockopt_tcp", 2, ALL, TCP_CONGESTION, "_text"},
	{"fcntl", 1, ALL, F_GETFD, "_getfd"},
	{"fcntl", 1, ALL, F_SETFD, "_setfd"},
	{"fcntl", 1, ALL, F_GETFL, "_getfl"},
	{"fcntl", 1, ALL, F_SETFL, "_setfl"},
	{"fcntl", 1, ALL, F_DUPFD, "_int"},
	{"fcntl", 1, ALL, F_DUPFD_CLOEXEC, "_int"},
	{"fcntl", 1, ALL, F_SETOWN, "_int"},
	{"fcntl", 1, ALL, F_SETPIPE_SZ, "_int"},
	{"fcntl", 1, ALL, F_GETOWN, "_alone"},
	{"fcntl", 1, ALL, F_GETPIPE_SZ, "_alone"},
	{"fcntl", 1, ALL, F_GETOWN_EX, "_getowner"},
	{"fcntl", 1, ALL, F_SETOWN_EX, "_setowner"},
	{"fcntl", 1, ALL, F_GETSIG, "_getsig"},
	{"fcntl", 1, ALL, F_SETSIG, "_setsig"},
	{"fcntl", 1, ALL, F_GETLEASE, "_getlease"},
	{"fcntl", 1, ALL, F_SETLEASE, "_setlease"},
	{"fcntl", 1, ALL, F_GET_SEALS, "_getseals"},
	{"fcntl", 1, ALL, F_ADD_SEALS, "_addseals"},
	{"fcntl", 1, ALL, KERNEL_F_GETLK, "_getlk"},
	{"fcntl", 1, ALL, KERNEL_F_SETLK, "_setlk"},
	{"fcntl", 1, ALL, KERNEL_F_SETLKW, "_setlk"},
	{"fcntl", 1, ALL, F_OFD_GETLK, "_getlk64"},
	{"fcntl", 1, ALL, F_OFD_SETLK, "_setlk64"},
	{"fcntl", 1, ALL, F_OFD_SETLKW, "_setlk64"},
	{"fcntl64", 1, ALL, F_GETFD, "_getfd"},
	{"fcntl64", 1, ALL, F_SETFD, "_setfd"},
	{"fcntl64", 1, ALL, F_GETFL, "_getfl"},
	{"fcntl64", 1, ALL, F_SETFL, "_setfl"},
	{"fcntl64", 1, ALL, F_DUPFD, "_int"},
	{"fcntl64", 1, ALL, F_DUPFD_CLOEXEC, "_int"},
	{"fcntl64", 1, ALL, F_SETOWN, "_int"},
	{"fcntl64", 1, ALL, F_SETPIPE_SZ, "_int"},
	{"fcntl64", 1, ALL, F_GETOWN, "_alone"},
	{"fcntl64", 1, ALL, F_GETPIPE_SZ, "_alone"},
	{"fcntl64", 1, ALL, F_GETOWN_EX, "_getowner"},
	{"fcntl64", 1, ALL, F_SETOWN_EX, "_setowner"},
	{"fcntl64", 1, ALL, F_GETSIG, "_getsig"},
	{"fcntl64", 1, ALL, F_SETSIG, "_setsig"},
	{"fcntl64", 1, ALL, F_GETLEASE, "_getlease"},
	{"fcntl64", 1, ALL, F_SETLEASE, "_setlease"},
	{"fcntl64", 1, ALL, F_GET_SEALS, "_getseals"},
	{"fcntl64", 1, ALL, F_ADD_SEALS, "_addseals"},
	{"fcntl64", 1, ALL, KERNEL_F_GETLK, "_getlk"},
	{"fcntl64", 1, ALL, KERNEL_F_SETLK, "_setlk"},
	{"fcntl64", 1, ALL, KERNEL_F_SETLKW, "_setlk"},
	{"fcntl64", 1, ALL, KERNEL_F_GETLK64, "_getlk64"},
	{"fcntl64", 1, ALL, KERNEL_F_SETLK64, "_setlk64"},
	{"fcntl64", 1, ALL, KERNEL_F_SETLKW64, "_setlk64"},
	{"fcntl64", 1, ALL, F_OFD_GETLK, "_getlk64"},
	{"fcntl64", 1, ALL, F_OFD_SETLK, "_setlk64"},
	{"fcntl64", 1, ALL, F_OFD_SETLKW, "_setlk64"},
	{"futex", 1, FUTEX_CMD_MASK, FUTEX_WAIT, "_to_wait"},
	{"futex", 1, FUTEX_CMD_MASK, FUTEX_WAKE, "_to_wake"},
	{"futex", 1, FUTEX_CMD_MASK, FUTEX_WAIT_BITSET, "_to_wait_bitset"},
	{"futex_time64", 1, FUTEX_CMD_MASK, FUTEX_WAIT, "_to_wait"},
	{"futex_time64", 1, FUTEX_CMD_MASK, FUTEX_WAKE, "_to_wake"},
	{"ioctl", 1, ALL, FIONREAD, "_fills_int"},
	{"ioctl", 1, ALL, TIOCOUTQ, "_fills_int"},
	{"ioctl", 1, ALL, TIOCGPGRP, "_fills_int"},
	{"ioctl", 1, ALL, TIOCGPTN, "_fills_int"},
	{"ioctl", 1, ALL, FIONBIO, "_takes_int"},
	{"ioctl", 1, ALL, FIOASYNC, "_takes_int"},
	{"ioctl", 1, ALL, TIOCSPGRP, "_takes_int"},
	{"ioctl", 1, ALL, TIOCSPTLCK, "_takes_int"},
	{"ioctl", 1, ALL, TIOCGWINSZ, "_fills_winsize"},
	{"ioctl", 1, ALL, TIOCSWINSZ, "_takes_winsize"},
	{"ioctl", 1, ALL, TCGETS, "_fills_termios"},
	{"ioctl", 1, ALL, TCSETS, "_takes_termios"},
	{"ioctl", 1, ALL, TCSETSW, "_takes_termios"},
	{"ioctl", 1, ALL, TCSETSF, "_takes_termios"},
	{"ioctl", 1, ALL, TIOCGSID, "_fills_int"},
	{"ioctl", 1, ALL, TIOCGETD, "_fills_int"},
	{"ioctl", 1, ALL, TIOCSETD, "_takes_int"},
	{"ioctl", 1, ALL, TIOCMGET, "_fills_lines"},
	{"ioctl", 1, ALL, TIOCMSET, "_takes_lines"},
	{"ioctl", 1, ALL, TIOCMBIS, "_takes_lines"},
	{"ioctl", 1, ALL, TIOCMBIC, "_takes_lines"},
	{"ioctl", 1, ALL, TCFLSH, "_flush"},
	{"ioctl", 1, ALL, TCXONC, "_flow"},
	{"ioctl", 1, ALL, TCSBRK, "_int"},
	{"ioctl", 1, ALL, TIOCSCTTY, "_int"},
	{"ioctl", 1, ALL, TIOCEXCL, "_alone"},
	{"ioctl", 1, ALL, TIOCNXCL, "_alone"},
	{"ioctl", 1, ALL, TIOCNOTTY, "_alone"},
	{"ioctl", 1, ALL, TIOCSTI, "_takes_char"},
	{"ioctl", 1, ALL, TIOCPKT, "_takes_int"},
	{"ioctl", 1, ALL, SIOCGIFNAME, "_fills_ifindex"},
	{"ioctl", 1, ALL, SIOCGIFINDEX, "_fills_ifindex"},
	{"ioctl", 1, ALL, SIOCSIFNAME, "_takes_ifname"},
	{"ioctl", 1, ALL, SIOCGIFFLAGS, "_fills_ifflags"},
	{"ioctl", 1, ALL, SIOCSIFFLAGS, "_takes_ifflags"},
	{"ioctl", 1, ALL, SIOCGIFMTU, "_fills_ifmtu"},
	{"ioctl", 1, ALL, SIOCSIFMTU, "_takes_ifmtu"},
	{"ioctl", 1, ALL, SIOCGIFMETRIC, "_fills_ifmetric"},
	{"ioctl", 1, ALL, SIOCSIFMETRIC, "_takes_ifmetric"},
	{"ioctl", 1, ALL, SIOCGIFTXQLEN, "_fills_ifqlen"},
	{"ioctl", 1, ALL, SIOCSIFTXQLEN, "_takes_ifqlen"},
	{"ioctl", 1, ALL, SIOCGIFADDR, "_fills_ifaddr"},
	{"ioctl", 1, ALL, SIOCSIFADDR, "_takes_ifaddr"},
	{"ioctl", 1, ALL, SIOCGIFDSTADDR, "_fills_ifaddr"},
	{"ioctl", 1, ALL, SIOCSIFDSTADDR, "_takes_ifaddr"},
	{"ioctl", 1, ALL, SIOCGIFBRDADDR, "_fills_ifaddr"},
	{"ioctl", 1, ALL, SIOCSIFBRDADDR, "_takes_ifaddr"},
	{"ioctl", 1, ALL, SIOCGIFNETMASK, "_fills_ifaddr"},
	{"ioctl", 1, ALL, SIOCSIFNETMASK, "_takes_ifaddr"},
	{"ioctl", 1, ALL, SIOCGIFHWADDR, "_takes_if"},
	{"ioctl", 1, ALL, FIOCLEX, "_alone"},
	{"ioctl", 1, ALL, FIONCLEX, "_alone"},
	{"prctl", 0, ALL, PR_SET_NAME, "_name"},
	{"prctl", 0, ALL, PR_GET_NAME, "_fills_name"},
	{"prctl", 0, ALL, PR_SET_PDEATHSIG, "_signal"},
	{"prctl", 0, ALL, PR_GET_PDEATHSIG, "_fills_int"},
	{"prctl", 0, ALL, PR_GET_CHILD_SUBREAPER, "_fills_int"},
	{"prctl", 0, ALL, PR_SET_CHILD_SUBREAPER, "_int"},
	{"prctl", 0, ALL, PR_SET_DUMPABLE, "_int"},
	{"prctl", 0, ALL, PR_SET_KEEPCAPS, "_int"},
	{"prctl", 0, ALL, PR_SET_TIMERSLACK, "_int"},
	{"prctl", 0, ALL, PR_GET_DUMPABLE, "_alone"},
	{"prctl", 0, ALL, PR_GET_KEEPCAPS, "_alone"},
	{"prctl", 0, ALL, PR_GET_TIMERSLACK, "_alone"},
	{"prctl", 0, ALL, PR_GET_SECCOMP, "_alone"},
	{"prctl", 0, ALL, PR_GET_SECUREBITS, "_alone"},
	{"prctl", 0, ALL, PR_CAPBSET_READ, "_capability"},
	{"prctl", 0, ALL, PR_CAPBSET_DROP, "_capability"},
	{"semctl", 2, SEMAPHORE_COMMAND, SETVAL, "_int"},
	{"semctl", 2, SEMAPHORE_COMMAND, GETVAL, "_alone"},
	{"semctl", 2, SEMAPHORE_COMMAND, GETPID, "_alone"},
	{"semctl", 2, SEMAPHORE_COMMAND, GETNCNT, "_alone"},
	{"semctl", 2, SEMAPHORE_COMMAND, GETZCNT, "_alone"},
	{"semctl", 2, SEMAPHORE_COMMAND, IPC_RMID, "_alone"},
};

enum { VARIANT_COUNT = sizeof variants / sizeof *variants };

_Static_assert(VARIANT_COUNT < 1 << VARIANT_BITS, "a variant is a part of the key of a site");
_Static_assert(ARGUMENTS_MAX *VARIANT_BITS == SYSTEM_VARIANT_BITS, "as wide as the header says");

/* Returns true if a row is about the call `name`, or about `name` with the suffix `last`. */
static bool is_about(const struct variant *variant, const char *name, const char *last)
{
	const size_t length = strlen(name);

	return !strncmp(variant->name, name, length) &&
	       (!variant->name[length] || !strcmp(variant->name + length, last));
}

static bool fits(const struct variant *variant, const struct system_request *request,
		 const char *last)
{
	return ((uint32_t)request->arguments[variant->argument] & variant->mask) ==
		       variant->value &&
	       is_about(variant, request->name, last);
}

uint64_t system_request_variant(const struct system_request *request)
{
	unsigned argument = UINT32_MAX;
	const char *last = "";
	uint64_t found = 0;
	unsigned count = 0;

	for (size_t i = 0; request->name && i < VARIANT_COUNT && count < ARGUMENTS_MAX; i++)
		if (variants[i].argument != argument && fits(&variants[i], request, last)) {
			found |= (i + 1) << count++ * VARIANT_BITS;
			argument = variants[i].argument;
			last = variants[i].suffix;
		}
	return found;
}

char *system_variant_suffix(uint64_t variant)
{
	const char *suffix[ARGUMENTS_MAX];

	for (unsigned i = 0; i < ARGUMENTS_MAX; i++) {
		uint64_t number = variant >> i * VARIANT_BITS & ((1U << VARIANT_BITS) - 1);

		suffix[i] = number && number <= VARIANT_COUNT ? variants[number - 1].suffix : "";
	}
	return xasprintf("%s%s", suffix[0], suffix[1]);
}
