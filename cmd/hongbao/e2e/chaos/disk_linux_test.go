package chaos

import (
	"strconv"
	"syscall"
)

// mountSmallDisk makes the folder a file system of its own. It fails unless this process may mount.
func mountSmallDisk(folder string, size int) error {
	return syscall.Mount("tmpfs", folder, "tmpfs", 0, "mode=0755,size="+strconv.Itoa(size))
}

func unmountDisk(folder string) error { return syscall.Unmount(folder, syscall.MNT_DETACH) }
