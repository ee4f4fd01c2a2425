// Package restored tests servers whose database goes back in time: a file that is copied back, a dump that is restored, and
// a standby that takes over with and without the last commits. Clients with the unchanged SDK and with our own must end with
// exactly what the database has.
package restored

import (
	"os"
	"os/exec"
	"testing"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/loopback"
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }

// run runs a program of Postgres, or the program of the test, and returns what it prints.
func run(t *testing.T, environ []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(e2e.BareEnvironment(), environ...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func postgresProgram(t *testing.T, name string) string {
	t.Helper()
	path, err := loopback.PostgresProgram(name)
	e2e.NoError(t, err)
	return path
}
