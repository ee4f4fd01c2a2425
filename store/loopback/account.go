package loopback

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// account is whom a server runs as, when that is not who we are. A nil account is ourselves.
type account struct {
	name     string
	uid, gid int
}

// unprivileged is the account for programs that refuse to be run by root: nil unless we are root.
func unprivileged() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("root needs a user postgres to run Postgres as (%w): %s", err, install)
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	return &account{name: u.Username, uid: uid, gid: gid}, err
}

// own makes the folder the account's, and sees to it that the account can reach it.
func (a *account) own(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o711); err != nil { //nolint:gosec // the account goes through it
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil || a == nil {
		return err
	}
	if err := os.Chown(dir, a.uid, a.gid); err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	for above := filepath.Dir(dir); above != filepath.Dir(above); above = filepath.Dir(above) {
		if err := a.reach(above); err != nil {
			return err
		}
	}
	return nil
}

// reach opens the way through a folder above. Only temporary folders are changed: those are private by default, and
// nobody relies on it.
func (a *account) reach(folder string) error {
	info, err := os.Stat(folder)
	if err != nil || info.Mode()&0o001 != 0 {
		return err
	}
	if temporary, err := filepath.EvalSymlinks(os.TempDir()); err != nil || !strings.HasPrefix(folder, temporary+string(filepath.Separator)) {
		return fmt.Errorf("user %s cannot reach what is in %s: choose another folder, or do not run as root", a.name, folder)
	}
	return os.Chmod(folder, info.Mode()|0o001)
}
