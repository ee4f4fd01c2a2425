//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package store

// folderLock locks nothing on these systems, such as Windows, because lock_unix.go needs flock. So nothing prevents two
// servers from using the same data folder.
type folderLock struct{}

func lockFolder(string) (*folderLock, error) { return &folderLock{}, nil }

func folderInUse(string) error { return nil }

// Close does nothing.
func (*folderLock) Close() error { return nil }
