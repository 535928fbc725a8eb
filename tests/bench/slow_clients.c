/* Clients that take their time: N connections to a service, each with the headers of a request for /ingest and then
 * one byte of its body a second, until it is ended; one that the service ends comes again.
 *
 *     slow_clients PORT N SECONDS
 *
 * Prints how many were connected, and how often one was ended. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernels/clock.h"

static const char head[] =
    "POST /ingest HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
    "Content-Length: 1000000\r\n\r\n";

static int dial(int port) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0 || errno == EINPROGRESS) return fd;
    close(fd);
    return -1;
}

int main(int argc, char **argv) {
    int n = argc == 4 ? atoi(argv[2]) : 0, port = n > 0 ? atoi(argv[1]) : 0;
    if (port <= 0) return fprintf(stderr, "slow_clients PORT N SECONDS\n"), 2;
    struct rlimit files = {0};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    double until = fo_now_ms() + atof(argv[3]) * 1000;
    int *fds = malloc((size_t)n * sizeof *fds), most = 0;
    char *begun = calloc((size_t)n, 1);
    long ended = 0;
    if (!fds || !begun) return 1;
    for (int i = 0; i < n; i++) fds[i] = -1;
    while (fo_now_ms() < until) {
        int open = 0;
        for (int i = 0; i < n; i++) {
            char reply[512];
            if (fds[i] < 0) begun[i] = 0, fds[i] = dial(port);
            if (fds[i] < 0) continue;
            open++;
            const char *out = begun[i] ? "x" : head;
            size_t size = begun[i] ? 1 : sizeof head - 1;
            ssize_t sent = send(fds[i], out, size, MSG_NOSIGNAL);
            if (sent > 0) begun[i] = 1;
            ssize_t got = recv(fds[i], reply, sizeof reply, 0);
            bool waits = got < 0 && errno == EAGAIN;
            if (waits) continue;
            close(fds[i]);
            fds[i] = -1;
            ended++;
        }
        if (open > most) most = open;
        usleep(1000000);
    }
    printf("{\"connected\":%d,\"ended\":%ld}\n", most, ended);
    return 0;
}
