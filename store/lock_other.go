//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package store

// folderLock does nothing here: these systems have no lock that is released when its process dies.
type folderLock struct{}

func lockFolder(string) (*folderLock, error) { return &folderLock{}, nil }

// Close does nothing.
func (*folderLock) Close() error { return nil }
