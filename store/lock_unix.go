//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// folderLock prevents a second server from using the same data folder. The system releases the lock when the process dies.
type folderLock struct{ file *os.File }

const lockName = "serve.lock"

// awaitCheck waits for longer than folderInUse normally holds the lock. A test replaces it, while no other test runs.
var awaitCheck = func() { time.Sleep(50 * time.Millisecond) }

// lockFolder locks the data folder, or fails with ErrFolderInUse.
func lockFolder(dir string) (*folderLock, error) {
	file, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data folder: %w", err)
	}
	err = flock(file, dir)
	if errors.Is(err, ErrFolderInUse) { // perhaps only by folderInUse
		awaitCheck()
		err = flock(file, dir)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &folderLock{file: file}, nil
}

func flock(file *os.File, dir string) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return fmt.Errorf("%w: %s", ErrFolderInUse, dir)
	case err != nil:
		return fmt.Errorf("lock data folder: %w", err)
	}
	return nil
}

// folderInUse returns ErrFolderInUse if a server, or a Copy, uses the data folder. It creates no file: hongbao doctor may run as
// another user than the server.
func folderInUse(dir string) error {
	file, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("lock data folder: %w", err)
	}
	return errors.Join(flock(file, dir), file.Close())
}

// Close releases the folder.
func (l *folderLock) Close() error { return l.file.Close() }
