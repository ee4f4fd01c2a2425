package loopback

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// install is the command that brings every program that is started here.
const install = "apt-get install -y redis-server postgresql pgbouncer"

// program finds a server's binary: in PATH, or where Debian and its like keep what is not for everyone's PATH.
// Of several versions of Postgres the newest is taken.
func program(name string) (string, error) {
	if found, err := exec.LookPath(name); err == nil {
		return filepath.Abs(found)
	}
	places, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // fails for a malformed pattern only
	slices.SortFunc(places, func(a, b string) int { return version(b) - version(a) })
	for _, place := range append(places, "/usr/sbin", "/usr/local/sbin") {
		if found, err := exec.LookPath(filepath.Join(place, name)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%s is not installed: %s", name, install)
}

// version reads the number in /usr/lib/postgresql/15/bin.
func version(place string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(place)))
	return n
}
