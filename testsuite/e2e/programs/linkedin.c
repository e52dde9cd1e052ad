/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that have names of libraries', as where one is linked in; and getaddrinfo(). */
#include <netdb.h>
#include <stddef.h>
#include <string.h>

#define KEEP __attribute__((noinline))

/* libssl's */
KEEP int SSL_write(void *ssl, const void *buf, int num)
{
	__asm__ volatile("" ::"r"(ssl), "r"(buf) : "memory");
	return num;
}

/* That name could be anybody's; zlib's compress() has four parameters. */
KEEP int compress(int level)
{
	__asm__ volatile("" : "+r"(level));
	return level;
}

#ifdef WITH_ZLIB
KEEP int uncompress(char *dest, unsigned long *length, const char *source, unsigned long size)
{
	__asm__ volatile("" ::"r"(dest), "r"(length), "r"(source) : "memory");
	return (int)size;
}

KEEP unsigned long compressBound(unsigned long size)
{
	__asm__ volatile("" : "+r"(size));
	return size;
}

KEEP const char *zlibVersion(void)
{
	return "0";
}
#endif

/* Files of two libraries have it, each with options of its own. */
KEEP int mysql_options(void *mysql, int option, const char *argument)
{
	__asm__ volatile("" ::"r"(mysql), "r"(option), "r"(argument) : "memory");
	return 0;
}

static void resolve(const char *host)
{
	struct addrinfo hints, *found = (struct addrinfo *)&hints;

	memset(&hints, 0, sizeof hints);
	hints.ai_flags = AI_NUMERICHOST;
	hints.ai_socktype = SOCK_STREAM;
	if (getaddrinfo(host, "80", &hints, &found) == 0)
		freeaddrinfo(found);
}

int main(void)
{
	SSL_write(NULL, "text and more", 4);
	compress(6);
	mysql_options(NULL, 7, "utf8");
#ifdef WITH_ZLIB
	uncompress(NULL, NULL, "packed, and more", 6);
	compressBound(1);
	zlibVersion();
#endif
	resolve("127.0.0.1");
	resolve("no number");
	return 0;
}
