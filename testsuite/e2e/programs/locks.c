/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ten times, a thread asks for a mutex that another one then holds for 5 ms more. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { ROUNDS = 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int held, asked, had; /* the round in which that was last */

static void wait_for(atomic_int *round, int number)
{
	while (atomic_load(round) < number)
		usleep(100);
}

static void *work_under_lock(void *unused)
{
	for (int round = 1; round <= ROUNDS; round++) {
		wait_for(&held, round);
		atomic_store(&asked, round);
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		atomic_store(&had, round);
	}
	return unused;
}

static void own_work_under_lock(void)
{
	for (int round = 1; round <= ROUNDS; round++) {
		pthread_mutex_lock(&lock);
		atomic_store(&held, round);
		wait_for(&asked, round);
		usleep(5000);
		pthread_mutex_unlock(&lock);
		wait_for(&had, round);
	}
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work_under_lock, NULL))
		return 1;
	own_work_under_lock();
	return pthread_join(thread, NULL) != 0;
}
