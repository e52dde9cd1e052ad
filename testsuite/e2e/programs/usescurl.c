/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of libcurl, of each type, and what it tells; it reads the file that is its argument. */
#include <curl/curl.h>

static size_t taken(char *bytes, size_t size, size_t count, void *user)
{
	(void)bytes, (void)user;
	return size * count;
}

int main(int argc, char **argv)
{
	CURL *curl = curl_easy_init();
	char *text;
	long number;
	double seconds;
	curl_off_t bytes;
	void *user;
	CURLM *multi;

	(void)argc;
	curl_easy_setopt(curl, CURLOPT_URL, argv[1]);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, taken);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, (void *)0x1234);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 15000L);
	curl_easy_setopt(curl, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)5000000000);
	curl_easy_setopt(curl, CURLOPT_PASSWORD, "secret");
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, NULL);
	curl_easy_setopt(curl, CURLOPT_PRIVATE, (void *)0x77);
	curl_easy_setopt(curl, (CURLoption)9998, 7L);
	curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_EFFECTIVE_URL, &text);
	curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, &number);
	curl_easy_getinfo(curl, CURLINFO_APPCONNECT_TIME, &seconds);
	curl_easy_getinfo(curl, CURLINFO_SIZE_DOWNLOAD_T, &bytes);
	curl_easy_getinfo(curl, CURLINFO_PRIVATE, &user);
	curl_easy_setopt(curl, CURLOPT_URL, "file:///nonexistent/file");
	curl_easy_perform(curl);
	multi = curl_multi_init();
	curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 5L);
	curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, (void *)0x55);
	curl_multi_add_handle(multi, NULL);
	return 0;
}
