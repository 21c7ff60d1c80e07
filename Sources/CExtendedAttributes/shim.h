// Extended attributes of files on Linux, which the C library's Swift module lacks.
#if __has_include(<sys/xattr.h>)
#include <sys/types.h>
#include <sys/xattr.h>
#endif
