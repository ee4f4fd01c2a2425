package e2e

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"hongbao/store/loopback"
)

// DeployFile returns the text of a file of web/docs/deploy.
func DeployFile(t *testing.T, name string) string {
	t.Helper()
	return readFile(t, "web", "docs", "deploy", name)
}

// Grants returns the text of migrations/grants.sql.
func Grants(t *testing.T) string {
	t.Helper()
	return readFile(t, "migrations", "grants.sql")
}

// readFile returns the text of a file of the repository.
func readFile(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{root(t)}, path...)...))
	NoError(t, err)
	return string(text)
}

// As returns the URL of a database for another role.
func As(t *testing.T, database, role string) string {
	t.Helper()
	u, err := url.Parse(database)
	NoError(t, err)
	u.User = url.User(role)
	return u.String()
}

// makingRoles keeps tests that share a server from creating the same role twice at once.
var makingRoles sync.Mutex

// SplitRoles makes the roles of roles.sql in a new database, migrates it as its owner, and grants the others their rights. The
// URL must be that of a superuser.
func SplitRoles(t *testing.T, binary, database string) {
	t.Helper()
	makingRoles.Lock()
	defer makingRoles.Unlock()
	RunSQL(t, database, DeployFile(t, "roles.sql"))
	owner := As(t, database, "hongbao_owner")
	Migrate(t, binary, owner)
	RunSQL(t, owner, Grants(t))
}

// Migrate runs `hongbao migrate`.
func Migrate(t *testing.T, binary, database string) {
	t.Helper()
	migrate := exec.Command(binary, "migrate")
	migrate.Env = append(BareEnvironment(), "HONGBAO_DATABASE_URL="+database)
	if out, err := migrate.CombinedOutput(); err != nil {
		t.Fatalf("hongbao migrate: %v\n%s", err, out)
	}
}

// RunSQL runs statements, and fails the test if one fails.
func RunSQL(t *testing.T, database, statements string) {
	t.Helper()
	NoError(t, TrySQL(t, database, statements))
}

// TrySQL is RunSQL, but returns the error of the first statement that fails. A failed connect still fails the test.
func TrySQL(t *testing.T, database, statements string) error {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	_, err = conn.PgConn().Exec(t.Context(), statements).ReadAll()
	return err
}

// RedisURL returns the URL of a Redis for the user of web/docs/deploy/redis.acl.
func RedisURL(addr string) string { return "redis://hongbao:CHANGE-ME@" + addr + "/0" }

// RestrictRedis creates the user of web/docs/deploy/redis.acl, also for later starts of the Redis server. The default user keeps all
// rights, for the tests.
func RestrictRedis(t *testing.T, server *loopback.Redis) {
	t.Helper()
	_, rules, _ := strings.Cut(DeployFile(t, "redis.acl"), "\nuser ")
	command := []any{"acl", "setuser"}
	for rule := range strings.FieldsSeq(rules) {
		command = append(command, rule)
	}
	client := RedisClient(t, server)
	NoError(t, client.Do(t.Context(), command...).Err())
	NoError(t, client.ConfigRewrite(t.Context()).Err())
}
