//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// folderLock prevents a second server from using the same data folder. The system releases the lock when the process dies.
type folderLock struct{ file *os.File }

func lockFolder(dir string) (*folderLock, error) {
	file, err := os.OpenFile(filepath.Join(dir, "serve.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data folder: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errors.Join(fmt.Errorf("%w: %s", ErrFolderInUse, dir), file.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("lock data folder: %w", err), file.Close())
	}
	return &folderLock{file: file}, nil
}

// Close releases the folder.
func (l *folderLock) Close() error { return l.file.Close() }
