/* where.c - where the user's store is, and what kind of disk that is. */
#define _DEFAULT_SOURCE /* statfs */
#include "records/internal.h"

#include <string.h>

#ifdef __linux__
#include <sys/vfs.h>
#endif

spry_status sp_store_place(char *out, size_t size)
{
    char dir[4096 - 16];
    spry_status s;

    if (!sp_user_dir(dir, sizeof dir, "data"))
        return sp_fail(SPRY_SYSTEM, "neither SPRY_HOME nor HOME is set");
    s = sp_make_dirs(dir, 0700);
    if (s == SPRY_OK)
        snprintf(out, size, "%s/records.db", dir);
    return s;
}

#ifdef __linux__
/* f_type of file systems that other machines may write to as well. */
static const unsigned long network_types[] = {
    0x6969,     /* NFS */
    0x0bd00bd0, /* Lustre */
    0x47504653, /* GPFS */
    0x65735546, /* FUSE */
    0xff534d42, /* CIFS */
    0xfe534d42, /* SMB2 */
    0x517b,     /* SMB */
    0x19830326, /* BeeGFS */
    0x00c36400, /* Ceph */
    0x5346414f, /* AFS */
    0x01021997, /* 9P */
};

int sp_store_on_network(const char *path)
{
    char dir[4096];
    const char *slash = strrchr(path, '/');
    struct statfs fs;

    snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path + 1) : 1,
             slash ? path : ".");
    if (statfs(dir, &fs) != 0)
        return 0;
    for (size_t i = 0; i < sizeof network_types / sizeof network_types[0]; i++)
        if (((unsigned long)fs.f_type & 0xffffffff) == network_types[i])
            return 1;
    return 0;
}
#else
int sp_store_on_network(const char *path)
{
    (void)path;
    return 1; /* unknown: the mode that works everywhere */
}
#endif
