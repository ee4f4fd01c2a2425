package loopback

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// account is the system account that runs a server. A nil account is the account of this process.
type account struct {
	name     string
	uid, gid int
}

// unprivileged returns the account postgres if this process runs as root, else nil. Postgres, PgBouncer and the balancers use
// it, because Postgres and PgBouncer refuse to run as root.
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

// own creates the folder if there is none, makes the account its owner, and makes the parent folders passable for the account.
// For a nil account it only creates the folder.
func (a *account) own(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o711); err != nil { //nolint:gosec // the account must pass through it
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

// reach makes a parent folder passable for the account. It changes only folders below os.TempDir(): these are often private,
// but nothing relies on that. For any other folder that is not passable for everybody it returns an error.
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
