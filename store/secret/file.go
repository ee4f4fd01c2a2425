package secret

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// maxFile is how many bytes of a key file are read. The rest is ignored.
const maxFile = 1 << 16

// Read reads a key file. Only the owner may have the right to write the file, and only the owner and the group to read it. So
// Read accepts modes such as 0600, 0400, 0640 and 0440, and refuses 0644, for example. On Windows it does not check the mode.
func Read(file string) (*Keys, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read data key: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read data key: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o037 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("read data key: %s has mode %04o, so others may read or change it: chmod 600 %[1]s", file, mode)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, fmt.Errorf("read data key: %w", err)
	}
	keys, err := parse(string(text), file)
	if err != nil {
		return nil, fmt.Errorf("read data key: %w", err)
	}
	return keys, nil
}

// Create writes a new key file with one new key and mode 0600, durably. If the file exists, it fails with fs.ErrExist and
// leaves the file as it is. No other process sees a part of the file.
func Create(file string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), ".data-key-*") // mode 0600
	if err != nil {
		return fmt.Errorf("make data key: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	raw := make([]byte, keySize)
	_, _ = rand.Read(raw) // never fails
	_, err = fmt.Fprintf(f, "%x\n", raw)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("make data key: %w", err)
	}
	if err := os.Link(f.Name(), file); err != nil { // unlike a rename, it never replaces a file
		return fmt.Errorf("make data key: %w", err)
	}
	return SyncFolder(filepath.Dir(file))
}

// ReadOrCreate reads a key file. If there is none, it first creates one.
func ReadOrCreate(file string) (*Keys, error) {
	if err := Create(file); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return Read(file)
}

// SyncFolder makes new names in the folder durable. Windows cannot do that, and does not need it.
func SyncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
