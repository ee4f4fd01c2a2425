package schema

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"hongbao/store/pgstore/internal/pg"
)

// On Citus the large tables are split over the workers by a column bucket, which is the first column of each unique key. A row's
// bucket is a hash of one of its ids, or a part of it. All other tables stay on the coordinator, as Postgres has them.
//
// Citus commits a transaction in two phases if it writes tables of the Citus metadata on several nodes. Tables outside the
// metadata do not count: the coordinator would commit them apart from the workers. So the table links is in the metadata, and
// each transaction that writes split tables adds a link.
//
// Package tables describes how a statement marks what only Citus needs, and what Citus must not have.

// splitTable is a table that is split over the workers.
type splitTable struct {
	name string
	of   string   // the bucket, made of columns
	keys []string // unique indexes; the first is the primary key
}

var splitTables = []splitTable{
	{"packets", "bucket_of(id)", []string{`(bucket, id)`}},
	{"claims", "bucket_of(packet_id)", []string{`(bucket, packet_id, share_no)`, `(bucket, packet_id, user_id, wave)`, `(bucket, packet_id) where luckiest`}},
	{"participants", "bucket_of(packet_id)", []string{`(bucket, packet_id, wave, user_id)`}},
	{"rain_waves", "bucket_of(packet_id)", []string{`(bucket, packet_id, wave)`}},
	{"persons", "bucket_of(packet_id)", []string{`(bucket, packet_id, person)`}},
	{"entries", "bucket_of(room_id)", []string{`(bucket, room_id, seq)`}},
	{"entry_words", "(word & 15)::integer", []string{`(bucket, word, at, seq)`}}, // words.Hash puts the bucket of the room there
	{"indexed_rooms", "bucket_of(room_id)", []string{`(bucket, room_id)`}},
	{"reactions", "bucket_of(room_id)", []string{`(bucket, room_id, seq, emoji, user_id)`}},
	{"imported_texts", "bucket_of(room_id)", []string{`(bucket, room_id, id)`}},
	{"mentions", "bucket_of(user_id)", []string{`(bucket, user_id, at, room_id, seq)`}},
	{"requests", "bucket_of(user_id)", []string{`(bucket, user_id, key)`}},
	{"wallets", "bucket_of(user_id)", []string{`(bucket, user_id)`}},
	{"transfers", "bucket_of(user_id)", []string{
		`(bucket, user_id, at, id) include (kind, amount)`, `(bucket, packet_id, kind) where kind in ('send', 'refund')`, `(bucket, key) where key is not null`,
	}},
}

// Buckets is the number of buckets. It must not change.
const Buckets = 16

// BucketOf is the statement that creates the SQL function bucket_of, which returns the bucket of an id. The function Bucket
// does the same.
var BucketOf = fmt.Sprintf(`create or replace function bucket_of(id text) returns integer language sql immutable strict parallel safe
	as $$ select get_byte(sha256(convert_to(id, 'UTF8')), 0) %% %d $$`, Buckets)

// Bucket does the same as the SQL function bucket_of.
func Bucket(id string) int {
	hash := sha256.Sum256([]byte(id))
	return int(hash[0]) % Buckets
}

// BucketsOf is the statement that creates the SQL function buckets_of, which returns the buckets of several ids.
const BucketsOf = `create or replace function buckets_of(ids text[]) returns integer[] language sql immutable strict parallel safe
	as $$ select coalesce(array_agg(distinct bucket_of(id)), '{}') from unnest(ids) i (id) $$`

// erasedSeal is the statement that creates the SQL function erased_seal. It does what the trigger seal_erased_body does on one
// Postgres.
const erasedSeal = `create or replace function erased_seal(seal bytea, old text, new text) returns bytea language sql immutable parallel safe
	as $$ select case when octet_length(seal) = 16 and old <> new
		then sha256('\x000000000000000e686f6e6762616f2f7365616c2f310000000000000010'::bytea || seal
			|| int8send(octet_length(convert_to(old, 'UTF8'))) || convert_to(old, 'UTF8')) else seal end $$`

// ErrNotSplit means that the tables of a Citus cluster are not split yet.
var ErrNotSplit = errors.New("the tables of this Citus cluster are not split over its workers; if it has rows already, stop all instances and run hongbao migrate -split")

// gathered returns a query that first reads the split tables that it names to the coordinator. Citus cannot join them
// otherwise, because their rows belong to different buckets. A query that contains at most one such name, and only
// once, is returned as it is.
func gathered(query string) string {
	named := splitWords.FindAllString(query, -1)
	if len(named) < 2 {
		return query
	}
	slices.Sort(named)
	var reads []string
	for _, name := range slices.Compact(named) {
		reads = append(reads, name+" as materialized (select * from "+name+")") //nolint:unqueryvet // it stands for the table
	}
	return "with " + strings.Join(reads, ", ") + " " + query
}

// SplitNames are the names of the split tables.
var SplitNames = func() []string {
	names := make([]string, len(splitTables))
	for i, t := range splitTables {
		names[i] = t.name
	}
	return names
}()

var (
	splitWords  = regexp.MustCompile(`\b(` + strings.Join(SplitNames, "|") + `)\b`)
	splitChange = regexp.MustCompile(`\b(insert into|update|delete from) (` + strings.Join(SplitNames, "|") + `)\b`)
)

// ChangesSplit reports whether the statement changes rows of a split table.
func ChangesSplit(statement string) bool { return splitChange.MatchString(statement) }

// hasCitus reports whether the database has the extension Citus.
func hasCitus(r pg.Reader) (bool, error) {
	return r.Row(`select 1 from pg_extension where extname = 'citus'`, nil, new(int))
}

// IsSplit reports whether the tables are split. It works without the extension Citus, too.
func IsSplit(r pg.Reader) (bool, error) {
	return r.Row(`select 1 from pg_attribute where attrelid = to_regclass('claims') and attname = 'bucket' and not attisdropped`, nil, new(int))
}

// checkSplit returns ErrNotSplit if the database is a Citus cluster whose tables are not split.
func checkSplit(r pg.Reader) error {
	if citus, err := hasCitus(r); err != nil || !citus {
		return err
	}
	split, err := IsSplit(r)
	if err == nil && !split {
		err = ErrNotSplit
	}
	return err
}

// splitAll splits splitTables, makes the functions and the table that only Citus needs, drops the trigger that one of
// the functions replaces, and makes the table links known to Citus. It must run in a transaction.
func splitAll(ctx context.Context, conn *pgx.Conn) error {
	all := []string{
		BucketOf, BucketsOf, erasedSeal,
		`drop trigger seal_erased_body on entries`,
		// Adjustments have keys that are unique over all users.
		`create table adjustment_keys (key text collate "C" primary key)`,
		`insert into adjustment_keys select key from transfers where key is not null`,
	}
	for _, t := range splitTables {
		all = append(all, t.split()...)
	}
	for _, statement := range append(all, `select citus_add_local_table_to_metadata('links')`) {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// split returns the statements that give the table its buckets and split it.
func (t splitTable) split() []string {
	all := []string{
		fmt.Sprintf(`alter table %s add column bucket integer`, t.name),
		fmt.Sprintf(`update %s set bucket = %s`, t.name, t.of),
		fmt.Sprintf(`alter table %s alter column bucket set not null`, t.name),
		// Drops all unique indexes, because they do not contain the bucket.
		fmt.Sprintf(`do $$ declare i record; begin
			for i in select indexrelid::regclass as name, conname from pg_index left join pg_constraint on conindid = indexrelid and contype in ('p', 'u')
				where indrelid = '%[1]s'::regclass and indisunique loop
				if i.conname is null then execute 'drop index ' || i.name; else execute 'alter table %[1]s drop constraint ' || quote_ident(i.conname); end if;
			end loop; end $$`, t.name),
		fmt.Sprintf(`alter table %s add primary key %s`, t.name, t.keys[0]),
	}
	for i, key := range t.keys[1:] {
		all = append(all, fmt.Sprintf(`create unique index %s_bucket_%d on %[1]s %[3]s`, t.name, i+1, key))
	}
	return append(all, fmt.Sprintf(`select create_distributed_table('%s', 'bucket', shard_count := %d)`, t.name, 2*Buckets))
}
