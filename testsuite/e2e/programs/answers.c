/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of the C library that fill objects, or find some: of files, time, users and the system. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	struct stat status;
	struct statvfs files;
	struct utsname names;
	struct passwd *user, storage;
	struct tm broken;
	time_t moment = 365 * 86400;
	char text[4000];

	stat("/dev/null", &status);
	stat("/nonexistent/file", &status);
	fstatat(AT_FDCWD, "/", &status, 0);
	statvfs("/", &files);
	uname(&names);
	gmtime_r(&moment, &broken);
	strftime(text, sizeof text, "%Y", &broken);
	getpwnam("root");
	getpwuid_r(0, &storage, text, sizeof text, &user);
	getgrnam("nobody has this name");
	inet_pton(AF_INET, "127.0.0.1", text);
	fseek(stdin, 0, SEEK_CUR);
	sysconf(_SC_PAGESIZE);
	pathconf("/", _PC_NAME_MAX);
	confstr(_CS_PATH, text, sizeof text);
	return 0;
}
