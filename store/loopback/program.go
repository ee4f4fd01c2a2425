package loopback

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// install is the command that installs the servers used here, except Citus (ErrNoCitus). It does not install libfaketime
// either (NewClock).
const install = "apt-get install -y redis-server postgresql pgbouncer nginx-light haproxy"

// program returns the path of a server's program: from PATH, or from the folders where Debian keeps servers. If there
// are several versions of Postgres, it returns the newest.
func program(name string) (string, error) {
	if found, err := exec.LookPath(name); err == nil {
		return filepath.Abs(found)
	}
	places, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // fails only for a malformed pattern
	slices.SortFunc(places, func(a, b string) int { return version(b) - version(a) })
	for _, place := range append(places, "/usr/sbin", "/usr/local/sbin") {
		if found, err := exec.LookPath(filepath.Join(place, name)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%s is not installed: %s", name, install)
}

// version returns the version in a path such as /usr/lib/postgresql/15/bin.
func version(place string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(place)))
	return n
}
