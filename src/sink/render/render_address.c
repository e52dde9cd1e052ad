/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Renders socket addresses. The family, in the first two bytes, tells the layout: those of ip(7),
 * ipv6(7), unix(7) and netlink(7) are the same for all tracees. Numbers in network byte order are
 * shown as a call of the function that makes them.
 *
 * The bytes are the tracee's, and there may be any number of them. A member that is not complete is
 * not shown. An address that is too short for its family is shown as plain data.
 */
#include "sink/render/render_address.h"

#include "sink/render/render_number.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

enum {
	FAMILY_BYTES = 2,
	INET_BYTES = 8, /* up to the end of sin_addr */
	NETLINK_BYTES = 12,
	IN6_BYTES = 24, /* up to the end of sin6_addr: old programs have no more */
	IN6_SCOPE_BYTES = 28
};

struct address {
	const unsigned char *bytes;
	size_t length;
	const struct render_options *options;
};

static const struct family {
	int number;
	const char *name;
} families[] = {
	{AF_UNSPEC, "AF_UNSPEC"},   {AF_UNIX, "AF_UNIX"},
	{AF_INET, "AF_INET"},	    {AF_AX25, "AF_AX25"},
	{AF_IPX, "AF_IPX"},	    {AF_APPLETALK, "AF_APPLETALK"},
	{AF_X25, "AF_X25"},	    {AF_INET6, "AF_INET6"},
	{AF_NETLINK, "AF_NETLINK"}, {AF_PACKET, "AF_PACKET"},
	{AF_RDS, "AF_RDS"},	    {AF_CAN, "AF_CAN"},
	{AF_TIPC, "AF_TIPC"},	    {AF_BLUETOOTH, "AF_BLUETOOTH"},
	{AF_ALG, "AF_ALG"},	    {AF_NFC, "AF_NFC"},
	{AF_VSOCK, "AF_VSOCK"},	    {AF_QIPCRTR, "AF_QIPCRTR"},
	{AF_XDP, "AF_XDP"},
};

/*
 * Returns a number of `size` bytes that is in the host's byte order; network(): in network order.
 */
static uint64_t native(const struct address *address, size_t offset, unsigned size)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < size; i++)
		number |= (uint64_t)address->bytes[offset + i] << 8 * i;
	return number;
}

static uint64_t network(const struct address *address, size_t offset, unsigned size)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < size; i++)
		number = number << 8 | address->bytes[offset + i];
	return number;
}

static void put_number(struct outbuf *out, const char *name, uint64_t number, const char *end)
{
	outbuf_text(out, name);
	outbuf_unsigned(out, number, 1, ' ');
	outbuf_text(out, end);
}

static void put_family(struct outbuf *out, int number)
{
	outbuf_text(out, "sa_family=");
	for (size_t i = 0; i < sizeof families / sizeof *families; i++)
		if (families[i].number == number) {
			outbuf_text(out, families[i].name);
			return;
		}
	outbuf_unsigned(out, (uint64_t)number, 1, ' ');
}

/* Writes a host's address, which is at `offset`, between two texts. */
static void put_host(struct outbuf *out, int family, const struct address *address, size_t offset,
		     const char *before, const char *behind)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(family, address->bytes + offset, text, sizeof text);
	outbuf_text(out, before);
	outbuf_text(out, text);
	outbuf_text(out, behind);
}

static void put_inet(struct outbuf *out, const struct address *address)
{
	put_number(out, ", sin_port=htons(",
		   network(address, offsetof(struct sockaddr_in, sin_port), 2), ")");
	put_host(out, AF_INET, address, offsetof(struct sockaddr_in, sin_addr),
		 ", sin_addr=inet_addr(\"", "\")");
}

static void put_inet6(struct outbuf *out, const struct address *address)
{
	put_number(out, ", sin6_port=htons(",
		   network(address, offsetof(struct sockaddr_in6, sin6_port), 2), ")");
	put_number(out, ", sin6_flowinfo=htonl(",
		   network(address, offsetof(struct sockaddr_in6, sin6_flowinfo), 4), ")");
	put_host(out, AF_INET6, address, offsetof(struct sockaddr_in6, sin6_addr),
		 ", inet_pton(AF_INET6, \"", "\", &sin6_addr)");
	if (address->length >= IN6_SCOPE_BYTES)
		put_number(out, ", sin6_scope_id=",
			   native(address, offsetof(struct sockaddr_in6, sin6_scope_id), 4), "");
}

static void put_bytes(struct outbuf *out, const struct address *address, size_t first, size_t end)
{
	size_t length = end - first;
	const unsigned string_max = address->options->string_max;
	size_t shown = length < string_max ? length : string_max;

	render_text(out, address->bytes + first, shown, 1, shown < length, address->options->utf8);
}

/*
 * Writes a path or, behind a NUL, an abstract name, of which all bytes count. An unnamed socket has
 * neither.
 */
static void put_unix(struct outbuf *out, const struct address *address)
{
	const unsigned char *path = address->bytes + FAMILY_BYTES;
	size_t length = address->length - FAMILY_BYTES;

	if (!length)
		return;
	outbuf_text(out, *path ? ", sun_path=" : ", sun_path=@");
	if (*path)
		put_bytes(out, address, FAMILY_BYTES,
			  FAMILY_BYTES + strnlen((const char *)path, length));
	else
		put_bytes(out, address, FAMILY_BYTES + 1, address->length);
}

static void put_netlink(struct outbuf *out, const struct address *address)
{
	/* struct sockaddr_nl: a family, two bytes of padding, then these. */
	put_number(out, ", nl_pid=", native(address, 4, 4), ", nl_groups=");
	outbuf_hex(out, native(address, 8, 4));
}

void render_address(struct outbuf *out, const unsigned char *bytes, size_t length,
		    const struct render_options *options)
{
	const struct address address = {bytes, length, options};

	if (length < FAMILY_BYTES) {
		outbuf_text(out, "{ }");
		return;
	}
	int family = (int)native(&address, 0, FAMILY_BYTES);

	outbuf_text(out, "{ ");
	put_family(out, family);
	if (family == AF_INET && length >= INET_BYTES) {
		put_inet(out, &address);
	} else if (family == AF_INET6 && length >= IN6_BYTES) {
		put_inet6(out, &address);
	} else if (family == AF_UNIX) {
		put_unix(out, &address);
	} else if (family == AF_NETLINK && length >= NETLINK_BYTES) {
		put_netlink(out, &address);
	} else if (length > FAMILY_BYTES) {
		outbuf_text(out, ", sa_data=");
		put_bytes(out, &address, FAMILY_BYTES, length);
	}
	outbuf_text(out, " }");
}
