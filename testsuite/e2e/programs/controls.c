/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of the C library of which the last arguments depend on a command. */
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <termios.h>
#include <unistd.h>

static void descriptors(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 10, .l_len = 20};
	struct flock owned = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 300, .l_len = 5};
	int memory = memfd_create("sealed", MFD_ALLOW_SEALING);
	int ends[2], number = 1;
	struct winsize window = {.ws_row = 25, .ws_col = 80};
	struct termios terminal = {.c_iflag = ICRNL, .c_oflag = OPOST, .c_cflag = B9600 | CS7, .c_lflag = ECHO};
	struct ifreq interface = {.ifr_name = "none0"};

	fcntl(memory, F_GETFD);
	fcntl(memory, F_SETFD, FD_CLOEXEC);
	fcntl(memory, F_SETFL, O_APPEND | O_NONBLOCK);
	fcntl(memory, F_DUPFD_CLOEXEC, 20);
	fcntl(memory, F_SETLK, &lock);
	fcntl(memory, F_OFD_SETLK, &owned);
	fcntl(memory, F_SETSIG, SIGUSR1);
	fcntl(memory, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK);
	fcntl(memory, F_GET_SEALS);
	fcntl(memory, 777, 5);
	if (pipe(ends) || write(ends[1], "abc", 3) != 3)
		exit(1);
	ioctl(ends[0], FIONREAD, &number);
	number = 1;
	ioctl(ends[0], FIONBIO, &number);
	ioctl(ends[0], FIOCLEX);
	ioctl(ends[0], TIOCSWINSZ, &window);
	ioctl(ends[0], TCSETSW, &terminal);
	ioctl(ends[0], SIOCGIFINDEX, &interface);
	ioctl(ends[0], 0x1234, (void *)0x5678);
}

static void processes(void)
{
	char name[16];
	int number;

	prctl(PR_SET_NAME, "a-name");
	prctl(PR_GET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_GET_PDEATHSIG, &number);
	prctl(PR_SET_PDEATHSIG, 0);
	prctl(PR_GET_DUMPABLE);
	prctl(PR_CAPBSET_READ, 5);
	prctl(PR_SET_NO_NEW_PRIVS, 2, 3, 4, 5);
	ptrace(PTRACE_CONT, -2, 0, SIGINT);
	ptrace(PTRACE_SEIZE, -2, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
	ptrace(PTRACE_POKEDATA, -2, 0x1234, 7);
	ptrace(PTRACE_INTERRUPT, -2, 0, 0);
}

static void communication(void)
{
	int segment = shmget(IPC_PRIVATE, 5000, IPC_CREAT | 0600);
	int semaphores = semget(IPC_PRIVATE, 3, IPC_CREAT | 0640);
	int queue = msgget(IPC_PRIVATE, IPC_CREAT | 0620);
	struct shmid_ds segment_status;
	struct semid_ds semaphore_status;
	struct msqid_ds queue_status;

	shmctl(segment, IPC_STAT, &segment_status);
	shmctl(segment, IPC_RMID, NULL);
	semctl(semaphores, 1, SETVAL, 5);
	semctl(semaphores, 1, GETVAL);
	semctl(semaphores, 0, IPC_STAT, &semaphore_status);
	semctl(semaphores, 0, IPC_RMID);
	msgctl(queue, IPC_STAT, &queue_status);
	msgctl(queue, IPC_RMID, NULL);
}

int main(void)
{
	descriptors();
	processes();
	communication();
	return 0;
}
