package scaled

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/redis/go-redis/v9"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/storetest"
	"hongbao/web/wire"
)

// TestScaledRoles tries with the rights of the instances, and of a reader, what they must not do. What they need is shown by all tests
// of clusters, which run with these rights.
func TestScaledRoles(t *testing.T) {
	e2e.Parallel(t)
	database := storetest.Database(t)
	cluster := e2e.StartCluster(t, e2e.Build(t, ""), storetest.Redis(t), database, nil)
	owner := e2e.Connect(t, cluster.Front(), cluster.Front().Guest("owner"), false)
	room := e2e.Call[wire.CreateRoomReply](owner, "create_room", wire.CreateRoomRequest{Key: "room", Name: "roles", Kind: "public"}).Room.ID
	sent := e2e.Call[wire.SendPacketReply](owner, "send_packet", wire.SendPacketRequest{Room: room, Key: "packet", Total: 10, Count: new(2)})
	e2e.Call[wire.GrabReply](owner, "grab", wire.GrabRequest{Packet: sent.Packet.ID})

	service, reader := e2e.As(t, database, "hongbao"), e2e.As(t, database, "hongbao_reader")
	for _, table := range tablesOf(t, database) {
		mustBeDenied(t, service, "drop table "+table)
		mustBeDenied(t, service, "truncate "+table)
		mustBeDenied(t, service, "alter table "+table+" disable trigger all")
		mustBeDenied(t, reader, "delete from "+table)
	}
	for _, money := range []string{"transfers", "claims", "packets", "entries", "links", "chains", "requests", "quarantine", "wallets", "circulation"} {
		mustBeDenied(t, service, "delete from "+money)
	}
	for _, change := range []string{
		"update transfers set amount = 1", "update claims set amount = 1", "update claims set user_id = 'eve'", "update packets set total = 1",
		"update packets set sender = 'eve'", "update entries set sender = 'eve'", "update entries set link = 0", "update links set hash = ''",
		"update admin_acts set actor = 'eve'", "update security_counts set count = 0", "update quarantine set why = ''", "update requests set hash = ''",
		"update schema_migrations set sum = ''", "create table more (id integer)", "create trigger t before insert on transfers execute function refuse_change()",
	} {
		mustBeDenied(t, service, change)
	}
	mustBeDenied(t, reader, "select next_seed from users")
	mustBeDenied(t, reader, "select value from settings")
	mustBeDenied(t, reader, "insert into transfers default values")
	// A migration may end the audits of the instances: the owner may end their sessions.
	e2e.RunSQL(t, e2e.As(t, database, "hongbao_owner"), `select pg_terminate_backend(pid) from pg_stat_activity
		where usename = 'hongbao' and datname = current_database() limit 1`)
	cluster.Front().MustBalance()
}

// TestGrantsNameEveryTable checks that grants.sql says what the service may do with each table.
func TestGrantsNameEveryTable(t *testing.T) {
	e2e.Parallel(t)
	database := storetest.Database(t)
	e2e.SplitRoles(t, e2e.Build(t, ""), database)
	grants := strings.Join(strings.FieldsFunc(e2e.Grants(t), func(r rune) bool { return strings.ContainsRune(" ,\n", r) }), " ")
	for _, table := range tablesOf(t, database) {
		if table != "schema_migrations" && !strings.Contains(grants, " "+table+" ") {
			t.Errorf("migrations/grants.sql does not name the table %s: say there what the instances may do with its rows", table)
		}
	}
}

// tablesOf lists the tables of a database.
func tablesOf(t *testing.T, database string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	e2e.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	found, err := conn.Query(t.Context(), "select relname::text from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'")
	e2e.NoError(t, err)
	tables, err := pgx.CollectRows(found, pgx.RowTo[string])
	e2e.NoError(t, err)
	if len(tables) < 10 {
		t.Fatalf("the database has only the tables %v", tables)
	}
	return tables
}

// mustBeDenied fails the test unless Postgres refuses the statement for want of a right.
func mustBeDenied(t *testing.T, database, statement string) {
	t.Helper()
	err := e2e.TrySQL(t, database, statement)
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "42501" {
		t.Errorf("%s: %v, want permission denied", statement, err)
	}
}

// TestScaledRedisUser tries with the user of the instances what it must not do in Redis.
func TestScaledRedisUser(t *testing.T) {
	e2e.Parallel(t)
	server := storetest.Redis(t)
	e2e.RestrictRedis(t, server)
	options, err := redis.ParseURL(e2e.RedisURL(server.Addr()))
	e2e.NoError(t, err)
	options.DisableIdentity = true
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	e2e.NoError(t, client.Ping(t.Context()).Err())
	for _, command := range []string{
		"flushall", "flushdb", "keys *", "scan 0", "config get *", "config set save x", "acl list", "debug sleep 0", "shutdown", "save", "script flush",
		"module list", "replicaof no one", "client kill id 1", "monitor", "del notes", "get other", "set other 1", "publish other 1", "psubscribe *",
	} {
		var args []any
		for word := range strings.FieldsSeq(command) {
			args = append(args, word)
		}
		if err := client.Do(t.Context(), args...).Err(); err == nil || !strings.Contains(strings.ToLower(err.Error()), "permission") {
			t.Errorf("%s: %v, want no permission", command, err)
		}
	}
}
