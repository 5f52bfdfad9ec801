/* A disk that fails as it is told, loaded into PostgreSQL before the C library.
 *
 *   while the file $DISK_LIES exists   what is written to the write-ahead log is dropped, and every call says that it is
 *                                      on the disk: a file system whose fsync lies, as a power cut shows it
 *   while the file $DISK_IS_FULL exists   no file of a table grows: ENOSPC
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_told(const char *name) {
    const char *path = getenv(name);
    int before = errno, found = path != NULL && access(path, F_OK) == 0;
    errno = before;
    return found;
}

static int is_in(int fd, const char *folder) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strstr(path, folder) != NULL;
}

static int is_dropped(int fd) { return is_told("DISK_LIES") && is_in(fd, "/pg_wal/"); }

static int has_no_space(int fd, off_t end) {
    struct stat status;
    return is_told("DISK_IS_FULL") && is_in(fd, "/base/") && fstat(fd, &status) == 0 && end > status.st_size;
}

static size_t total(const struct iovec *parts, int count) {
    size_t length = 0;
    for (int at = 0; at < count; at++) length += parts[at].iov_len;
    return length;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define PWRITE(name)                                                                    \
    ssize_t name(int fd, const void *from, size_t length, off_t offset) {               \
        if (is_dropped(fd)) return (ssize_t)length;                                     \
        if (has_no_space(fd, offset + (off_t)length)) { errno = ENOSPC; return -1; }    \
        return REAL(name)(fd, from, length, offset);                                    \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

#define PWRITEV(name)                                                                       \
    ssize_t name(int fd, const struct iovec *parts, int count, off_t offset) {              \
        if (is_dropped(fd)) return (ssize_t)total(parts, count);                            \
        if (has_no_space(fd, offset + (off_t)total(parts, count))) { errno = ENOSPC; return -1; } \
        return REAL(name)(fd, parts, count, offset);                                        \
    }
PWRITEV(pwritev)
PWRITEV(pwritev64)

#define ALLOCATE(name)                                              \
    int name(int fd, off_t offset, off_t length) {                  \
        if (has_no_space(fd, offset + length)) return ENOSPC;       \
        return REAL(name)(fd, offset, length);                      \
    }
ALLOCATE(posix_fallocate)
ALLOCATE(posix_fallocate64)

int fsync(int fd) { return is_told("DISK_LIES") ? 0 : REAL(fsync)(fd); }
int fdatasync(int fd) { return is_told("DISK_LIES") ? 0 : REAL(fdatasync)(fd); }
int sync_file_range(int fd, off_t offset, off_t length, unsigned flags) {
    return is_told("DISK_LIES") ? 0 : REAL(sync_file_range)(fd, offset, length, flags);
}
