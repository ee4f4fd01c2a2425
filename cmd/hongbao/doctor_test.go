package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/redis/go-redis/v9"

	"hongbao/migrations"
	"hongbao/store"
	"hongbao/store/finding"
	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

// doctor runs hongbao doctor with these variables and returns its findings. It fails the test if the exit code contradicts them.
func doctor(t *testing.T, environ ...string) []finding.Finding {
	t.Helper()
	environ = append([]string{"HONGBAO_ADDR=127.0.0.1:0", "HONGBAO_OPS_ADDR=127.0.0.1:0", "HONGBAO_MAX_SOCKETS=1"}, environ...)
	code, out, stderr := call(t, "", environ, "doctor", "--json")
	var report struct {
		OK       bool              `json:"ok"`
		Findings []finding.Finding `json:"findings"`
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("exit code %d, %v: %s%s", code, err, out, stderr)
	}
	failed := finding.Failed(report.Findings)
	if (code == 1) != failed || report.OK == failed {
		t.Errorf("exit code %d and ok=%v, but the findings are %+v", code, report.OK, report.Findings)
	}
	for _, f := range report.Findings {
		if (f.Do == "") != (f.State == finding.OK) {
			t.Errorf("%+v: want something to do, unless it is ok", f)
		}
	}
	return report.Findings
}

// wantFinding fails the test unless one of the findings has this state, and a text or remedy with the words.
func wantFinding(t *testing.T, found []finding.Finding, state finding.State, words string) {
	t.Helper()
	for _, f := range found {
		if f.State == state && strings.Contains(f.Text+" "+f.Do, words) {
			return
		}
	}
	t.Errorf("no %q with %q in %+v", state, words, found)
}

// wantAllOK fails the test if there is something to do.
func wantAllOK(t *testing.T, found []finding.Finding) {
	t.Helper()
	for _, f := range found {
		if f.State != finding.OK {
			t.Errorf("%+v, want ok", f)
		}
	}
}

func TestDoctorOfAnEmbeddedServer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	found := doctor(t, "HONGBAO_DATA_DIR="+dir)
	wantAllOK(t, found)
	wantFinding(t, found, finding.OK, "the first start makes it")
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("doctor has made %s: %v", dir, err)
	}
	mustPrint(t, 0, "up to date", "migrate", "--data-dir", dir)
	wantAllOK(t, doctor(t, "HONGBAO_DATA_DIR="+dir))

	changeFile(t, dir, `insert into schema_migrations values ('sqlite/9999_later.sql', '1')`)
	wantFinding(t, doctor(t, "HONGBAO_DATA_DIR="+dir), finding.Fail, "newer version")
}

func TestDoctorOfThisMachine(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	defer func() { _ = taken.Close() }()
	dir := "HONGBAO_DATA_DIR=" + t.TempDir()
	wantFinding(t, doctor(t, dir, "HONGBAO_ADDR="+taken.Addr().String()), finding.Fail, "is in use by another program")
	wantFinding(t, doctor(t, dir, "HONGBAO_OPS_ADDR=0.0.0.0:0"), finding.Fail, "HONGBAO_OPS_TOKEN_FILE")
	wantFinding(t, doctor(t, dir, "HONGBAO_MAX_SOCKETS=1000000000"), finding.Warn, "raise the limit")
	wantFinding(t, doctor(t, dir, "HONGBAO_JWT_SECRET="+strings.Repeat("s", 32)), finding.Warn, "could be guessed")
	wantFinding(t, doctor(t, dir, "HONGBAO_DATA_KEY_FILE="+filepath.Join(t.TempDir(), "none")), finding.OK, "the first start makes it")

	empty := writeFile(t, "")
	wantFinding(t, doctor(t, dir, "HONGBAO_TLS_CERT_FILE="+empty, "HONGBAO_TLS_KEY_FILE="+empty), finding.Fail, "name a certificate and its key")

	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"keys":[]}`)) }))
	issued := []string{dir, "HONGBAO_JWT_ISSUER=us", "HONGBAO_JWT_JWKS_URL=" + keys.URL}
	wantFinding(t, doctor(t, issued...), finding.Fail, "no usable key")
	keys.Close()
	wantFinding(t, doctor(t, issued...), finding.Fail, "refused")

	host := httptest.NewServer(http.NotFoundHandler())
	hooked := []string{dir, "HONGBAO_HOOK_URL=" + host.URL, "HONGBAO_HOOK_ALLOW=127.0.0.1", "HONGBAO_HOOK_SECRETS=whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz", "HONGBAO_HOOKS=send", "HONGBAO_HOOK_TIMEOUT=5s"}
	wantFinding(t, doctor(t, hooked...), finding.OK, "HONGBAO_HOOK_URL is reachable")
	host.Close()
	wantFinding(t, doctor(t, hooked...), finding.Warn, "refused")

	code, out, _ := call(t, "", []string{"HONGBAO_ADDR=" + taken.Addr().String(), "HONGBAO_OPS_ADDR=127.0.0.1:0", dir}, "doctor")
	if want := "fail  machine: HONGBAO_ADDR="; code != 1 || strings.Count(out, want) != 1 {
		t.Errorf("exit code %d, want 1 and one line with %q:\n%s", code, want, out)
	}
}

// TestDoctorOfRealEngines examines a Postgres and a Redis: first as they should be, then with one flaw after the other.
func TestDoctorOfRealEngines(t *testing.T) {
	postgres, cache := storetest.Postgres(t), storetest.Redis(t)
	admin := newDatabase(t, postgres)
	execute(t, admin, `create role service login; grant create on schema public to service`)
	service, err := url.Parse(admin)
	noError(t, err)
	service.User = url.User("service")
	key := filepath.Join(t.TempDir(), "data.key")
	mustPrint(t, 0, "data key", "datakey", "--new", key)
	settings := func(more ...string) []string {
		return append([]string{
			"HONGBAO_DATABASE_URL=" + service.String(), "HONGBAO_REDIS_URL=" + cache.URL(), "HONGBAO_DATA_KEY_FILE=" + key,
			"HONGBAO_JWT_SECRET=d7f3b2a1904c6e58d7a3b2a1904c6e5813f09b7766e0d2ac41958a7c0be3f264",
		}, more...)
	}
	found := doctor(t, settings()...)
	wantFinding(t, found, finding.OK, "the database is empty: the first start applies what is missing")
	client := redis.NewClient(&redis.Options{Addr: cache.Addr()})
	defer func() { _ = client.Close() }()
	set := func(name, value string) {
		t.Helper()
		noError(t, client.ConfigSet(t.Context(), name, value).Err())
	}
	wantAllOK(t, doctor(t, settings()...))
	wantFinding(t, doctor(t, settings("HONGBAO_MIGRATE=check")...), finding.Fail, "run hongbao migrate")
	mustPrint(t, 0, "up to date", "migrate", "--database-url", service.String())
	found = doctor(t, settings()...)
	wantAllOK(t, found)
	wantFinding(t, found, finding.OK, "the schema is that of this version")
	for _, c := range []struct{ cause, end, want string }{
		{`alter role service set synchronous_commit = off`, `alter role service reset synchronous_commit`, "can lose confirmed commits"},
		{`alter role service connection limit 5`, `alter role service connection limit -1`, "the connection limit of the role leaves 5"},
		{`alter table claims owner to postgres`, `alter table claims owner to service`, "insert claims"},
		{`insert into schema_migrations values ('postgres/9999_later.sql', '1')`, `delete from schema_migrations where name like '%later%'`, "newer version"},
		{`insert into settings values ('data_keys', '\x0102030405060708')`, `delete from settings where name = 'data_keys'`, "HONGBAO_DATA_KEY_FILE"},
	} {
		execute(t, admin, c.cause)
		wantFinding(t, doctor(t, settings()...), finding.Fail, c.want)
		execute(t, admin, c.end)
	}
	wantFinding(t, doctor(t, settings("HONGBAO_DATABASE_URL="+admin)...), finding.Warn, "superuser")
	set("maxmemory", "3mb")
	set("maxmemory-policy", "allkeys-lru")
	wantFinding(t, doctor(t, settings()...), finding.Warn, "may evict open packets (allkeys-lru)")
	set("maxmemory", "0")
	noError(t, client.Do(t.Context(), "acl", "setuser", "deaf", "on", ">secret-of-redis", "~*", "+@all", "resetchannels").Err())
	deaf := strings.Replace(cache.URL(), "redis://", "redis://deaf:secret-of-redis@", 1)
	found = doctor(t, settings("HONGBAO_REDIS_URL="+deaf)...)
	wantFinding(t, found, finding.Fail, "publish on hb:doctor")
	for _, f := range found {
		if strings.Contains(f.Text+f.Do, "secret-of-redis") {
			t.Errorf("the finding has the password: %+v", f)
		}
	}
	cache.Kill()
	wantFinding(t, doctor(t, settings()...), finding.Fail, "cannot be used")
	postgres.Stop()
	wantFinding(t, doctor(t, settings()...), finding.Fail, "cannot connect")
}

// TestDoctorOfTheDocumentedRoles makes the roles of roles.sql and grants.sql, which must warn about nothing. Doctor must find nothing wrong with the
// role of the instances, directly and through PgBouncer, and must name each right that is taken from it.
func TestDoctorOfTheDocumentedRoles(t *testing.T) {
	postgres := storetest.Postgres(t)
	admin := newDatabase(t, postgres)
	as := func(role string) string {
		u, err := url.Parse(admin)
		noError(t, err)
		u.User = url.User(role)
		return u.String()
	}
	runFile(t, admin, "../../web/docs/deploy/roles.sql")
	mustPrint(t, 0, "up to date", "migrate", "--database-url", as("hongbao_owner"))
	runFile(t, as("hongbao_owner"), "../../migrations/grants.sql")

	key, cache := filepath.Join(t.TempDir(), "data.key"), storetest.Redis(t)
	mustPrint(t, 0, "data key", "datakey", "--new", key)
	examine := func(database string) []finding.Finding {
		return doctor(t, "HONGBAO_DATABASE_URL="+database, "HONGBAO_REDIS_URL="+cache.URL(), "HONGBAO_MIGRATE=check", "HONGBAO_DATA_KEY_FILE="+key,
			"HONGBAO_JWT_SECRET=d7f3b2a1904c6e58d7a3b2a1904c6e5813f09b7766e0d2ac41958a7c0be3f264")
	}
	wantAllOK(t, examine(as("hongbao")))
	bouncer, err := loopback.StartPgBouncer(t.Context(), t.TempDir(), postgres, "hongbao")
	noError(t, err)
	t.Cleanup(bouncer.Kill)
	found := examine(bouncer.URL(admin))
	wantAllOK(t, found)
	wantFinding(t, found, finding.OK, "the role may use it")

	for _, right := range migrations.Rights() {
		verb, name := right.Verb, right.Verb+" "+right.Table
		if right.Column != "" {
			verb, name = right.Verb+" ("+right.Column+")", name+"."+right.Column
		}
		execute(t, admin, "revoke "+verb+" on "+right.Table+" from hongbao")
		wantFinding(t, store.Examine(t.Context(), store.Config{DatabaseURL: as("hongbao")}), finding.Fail, "lacks 1 rights: "+name)
		execute(t, admin, "grant "+verb+" on "+right.Table+" to hongbao")
	}
	execute(t, admin, "revoke select on rooms from hongbao")
	wantFinding(t, examine(as("hongbao")), finding.Fail, "lacks 1 rights: select rooms")
}

// runFile runs a file of SQL as psql does, and fails the test if Postgres warns.
func runFile(t *testing.T, database, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	noError(t, err)
	config, err := pgx.ParseConfig(database)
	noError(t, err)
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { t.Errorf("%s: %s: %s", file, n.Severity, n.Message) }
	conn, err := pgx.ConnectConfig(t.Context(), config)
	noError(t, err)
	_, err = conn.PgConn().Exec(t.Context(), string(text)).ReadAll()
	noError(t, err)
	noError(t, conn.Close(t.Context()))
}
