package schema

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/migrations"
	"hongbao/redpacket"
	"hongbao/store/finding"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// ownConns is how many connections an instance makes besides those of its pool: one for its lineage, and one for a probe. For a
// moment there may be a second probe.
const ownConns = 2

// Examine checks the Postgres of the URL for hongbao doctor. It changes nothing.
func Examine(ctx context.Context, url string, mode migrations.Mode) []finding.Finding {
	l := &finding.List{Part: "postgres"}
	config, err := pg.ParseURL(url)
	if err != nil {
		l.Fail(err.Error(), "correct HONGBAO_DATABASE_URL")
		return l.All
	}
	for _, danger := range pg.Dangers(config.ConnConfig) {
		what, do, _ := strings.Cut(danger, ": ")
		if do == "" {
			do = "put one into HONGBAO_DATABASE_URL_FILE, or use client certificates"
		}
		l.Warn(what, do)
	}
	where := fmt.Sprintf("%s:%d", config.ConnConfig.Host, config.ConnConfig.Port)
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		l.Fail(fmt.Sprintf("cannot connect to %s: %v", where, err), "start Postgres, or correct host, user, password and database in HONGBAO_DATABASE_URL")
		return l.All
	}
	defer pg.CloseConn(conn)
	x := examination{l, pg.Reader{Ctx: ctx, Conn: conn}}
	for _, check := range []func() error{
		x.version, x.durability, x.standbys, func() error { return x.connections(int(config.MaxConns)) },
		x.role, func() error { return x.schema(mode) }, func() error { return x.clock(where) },
	} {
		if err := check(); err != nil {
			l.Fail(err.Error(), "look into the log of Postgres")
			break
		}
	}
	return l.All
}

// examination checks one Postgres over one connection.
type examination struct {
	*finding.List

	r pg.Reader
}

// minVersion is the oldest Postgres that works, as server_version_num.
const minVersion = 130_000

func (x examination) version() error {
	var version, encoding string
	var number int
	_, err := x.r.Row(`select current_setting('server_version'), current_setting('server_version_num')::int, current_setting('server_encoding')`,
		nil, &version, &number, &encoding)
	switch {
	case err != nil:
		return fmt.Errorf("read the version: %w", err)
	case number < minVersion:
		x.Fail("version "+version+" is too old", "upgrade to Postgres 13 or newer")
	default:
		x.OK("reachable, takes writes, version " + version)
	}
	if encoding != "UTF8" {
		x.Fail("the encoding of the database is "+encoding, "create it anew: create database … encoding 'UTF8' template template0")
	}
	return nil
}

// DurabilityFlaw is a setting by which Postgres confirms commits that a crash may lose or damage.
type DurabilityFlaw struct{ Text, Fix string }

// DurabilityFlaws returns the flaws of this server.
func DurabilityFlaws(r pg.Reader) (flaws []DurabilityFlaw, err error) {
	var commit, fsync, pages string
	_, err = r.Row(`select coalesce(current_setting('synchronous_commit', true), ''), coalesce(current_setting('fsync', true), ''),
		coalesce(current_setting('full_page_writes', true), '')`, nil, &commit, &fsync, &pages)
	if commit == "off" {
		flaws = append(flaws, DurabilityFlaw{"synchronous_commit is off: a crash of Postgres can lose confirmed commits",
			"alter database … set synchronous_commit = on, or the same for the role that connects"})
	}
	if fsync == "off" {
		flaws = append(flaws, DurabilityFlaw{"fsync is off: a power failure at Postgres loses or corrupts the database", "fsync = on in postgresql.conf"})
	}
	if pages == "off" {
		flaws = append(flaws, DurabilityFlaw{"full_page_writes is off: a power failure at Postgres can corrupt the database", "full_page_writes = on in postgresql.conf"})
	}
	return flaws, err
}

func (x examination) durability() error {
	flaws, err := DurabilityFlaws(x.r)
	if err != nil {
		return fmt.Errorf("read the settings of durability: %w", err)
	}
	for _, flaw := range flaws {
		x.Fail(flaw.Text, flaw.Fix)
	}
	if len(flaws) == 0 {
		x.OK("fsync, full_page_writes and synchronous_commit are on")
	}
	return nil
}

// standbys checks that commits wait for a standby, if there is one.
func (x examination) standbys() error {
	var standbys int
	var names, commit string
	_, err := x.r.Row(`select (select count(*) from pg_stat_replication), current_setting('synchronous_standby_names'), current_setting('synchronous_commit')`,
		nil, &standbys, &names, &commit)
	switch {
	case err != nil:
		return fmt.Errorf("read the standbys: %w", err)
	case standbys > 0 && names == "":
		x.Warn(fmt.Sprintf("commits do not wait for any of the %d standbys: a failover may lose what clients were told", standbys), "set synchronous_standby_names")
	case names != "" && commit == "local":
		x.Warn("synchronous_commit is local, so commits do not wait for the standby", "set it to on")
	case names != "":
		x.OK("commits wait for a standby (" + names + ")")
	}
	return nil
}

// connections checks how many instances may connect with pools of this size. It does not look at the connections that
// are in use now.
func (x examination) connections(size int) error {
	var most, reserved, role, database int
	_, err := x.r.Row(`select current_setting('max_connections')::int, current_setting('superuser_reserved_connections')::int,
		(select rolconnlimit from pg_roles where rolname = current_user), (select datconnlimit from pg_database where datname = current_database())`,
		nil, &most, &reserved, &role, &database)
	if err != nil {
		return fmt.Errorf("read the limits of connections: %w", err)
	}
	free, name := most-reserved, "max_connections"
	if role >= 0 && role < free {
		free, name = role, "the connection limit of the role"
	}
	if database >= 0 && database < free {
		free, name = database, "the connection limit of the database"
	}
	need := size + ownConns
	fit := fmt.Sprintf("%s leaves %d connections, and an instance uses up to %d", name, free, need)
	switch {
	case free < need:
		x.Fail(fit, fmt.Sprintf("raise it to at least %d for each instance, or set pool_max_conns in HONGBAO_DATABASE_URL", need))
	case free < 2*need:
		x.Warn(fit+": only one instance fits", fmt.Sprintf("raise it by %d for each further instance, or set pool_max_conns in HONGBAO_DATABASE_URL", need))
	default:
		x.OK(fmt.Sprintf("%s: %d instances fit", fit, free/need))
	}
	return nil
}

func (x examination) role() error {
	var name string
	var super bool
	if _, err := x.r.Row(`select rolname, rolsuper from pg_roles where rolname = current_user`, nil, &name, &super); err != nil {
		return fmt.Errorf("read the role: %w", err)
	}
	if super {
		x.Warn("the role "+name+" is a superuser", "create role hongbao login; alter database … owner to hongbao; and connect as that role")
	}
	return nil
}

// schema checks the version of the schema. If no migration is missing, it also checks that the role has the rights of an
// instance. Otherwise it checks whether the migrations can be applied.
func (x examination) schema(mode migrations.Mode) error {
	applied, err := Applied(x.r)
	if err != nil {
		return err
	}
	missing, err := migrations.Missing(migrations.Postgres(), applied)
	if err != nil {
		x.Fail(err.Error(), "see the page about upgrades")
		return nil
	}
	if len(missing) > 0 {
		return x.migratable(mode, len(missing), len(applied))
	}
	lacking, err := x.lackingRights()
	switch {
	case err != nil:
		return fmt.Errorf("read the rights on the tables: %w", err)
	case len(lacking) > 0:
		x.Fail(fmt.Sprintf("the role lacks %d rights: %s", len(lacking), strings.Join(lacking, ", ")), "run grants.sql as the owner of the tables, and connect as the role hongbao")
	default:
		x.OK("the schema is that of this version, and the role may use it")
	}
	return nil
}

// lackingRights lists what an instance must be allowed to do and the role is not.
func (x examination) lackingRights() ([]string, error) {
	var verbs, names, columns []string
	for _, r := range migrations.Rights() {
		verbs, names, columns = append(verbs, r.Verb), append(names, r.Table), append(columns, r.Column)
	}
	return tables.List(x.r, tables.ScanText, `select 'select ' || relname from pg_class
			where relnamespace = current_schema()::regnamespace and relkind = 'r' and not has_table_privilege(oid, 'select')
		union all select concat_ws('.', r.verb || ' ' || r.name, nullif(r.col, '')) from unnest($1::text[], $2::text[], $3::text[]) r (verb, name, col)
			where not case r.col when '' then has_table_privilege(r.name, r.verb) else has_column_privilege(r.name, r.col, r.verb) end
		order by 1`, verbs, names, columns)
}

// migratable checks whether the next start will apply the missing migrations: the mode says so, and the role may create
// tables.
func (x examination) migratable(mode migrations.Mode, missing, applied int) error {
	text := fmt.Sprintf("the schema lacks %d migrations of this version", missing)
	if applied == 0 {
		text = "the database is empty"
	}
	var may bool
	if _, err := x.r.Row(`select coalesce(has_schema_privilege(current_schema(), 'create'), false)`, nil, &may); err != nil {
		return fmt.Errorf("read the rights on the schema: %w", err)
	}
	switch {
	case mode != migrations.Auto:
		x.Fail(text+", and HONGBAO_MIGRATE="+string(mode)+" applies none", "run hongbao migrate")
	case !may:
		x.Fail(text+", and the role may not create tables", "run hongbao migrate with a role that may, or grant create on schema public to this one")
	default:
		x.OK(text + ": the first start applies what is missing")
	}
	return nil
}

func (x examination) clock(where string) error {
	d, err := redpacket.CompareClock("Postgres at "+where, time.Now, func() (at time.Time, err error) {
		_, err = x.r.Row(`select clock_timestamp()`, nil, &at)
		return at, err
	})
	if err != nil {
		return fmt.Errorf("read the clock: %w", err)
	}
	x.Clock(d.Clock, d.Ahead, d.Uncertainty)
	return nil
}
