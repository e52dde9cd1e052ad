// SPDX-License-Identifier: GPL-2.0-or-later
/* Two threads that want the same mutex, which each holds for 5 ms. */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work_under_lock(void *unused)
{
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&lock);
		usleep(5000);
		pthread_mutex_unlock(&lock);
		usleep(100);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work_under_lock, NULL))
		return 1;
	work_under_lock(NULL);
	return pthread_join(thread, NULL) != 0;
}
