package chain

// Queries for all chained columns of a table, in the order that the comments of StoredEntry, StoredClaim and StoredTransfer
// list. Both databases understand them.
const (
	EntryRows = `select e.link, e.room_id, e.seq, e.id, e.at, e.sender, e.kind, e.key, r.hash, e.target,
		e.name_seal, e.sender_name, e.sender_avatar, e.text_seal, e.body
	from entries e left join requests r on e.key <> '' and r.user_id = e.sender and r.key = e.key`

	ClaimRows = `select link, packet_id, share_no, user_id, amount, at, transfer from claims`

	// TransferRows reads the credits and debits.
	TransferRows = `select link, id, at, debit, credit, amount, kind, user_id, coalesce(key, ''), hash, note, actor, request_id, reason
	from transfers where kind in ('credit', 'debit')`
)

// PacketRows returns the query for packets. shares and recipients are expressions for these columns as JSON.
func PacketRows(shares, recipients string) string {
	return `select link, id, partition, room_id, sender, mode, spread, total, count, ` + shares + `, ` + recipients + `,
		seed, commitment, key, seq, created_at, expires_at,
		name_seal, sender_name, sender_avatar, text_seal, greeting, passphrase, encrypted_seed
	from packets`
}

// Table says how a database reads and updates the rows of a table that have no link yet.
type Table struct {
	New func() Stored
	// Read is a query for the next rows. Its arguments are the key after which it begins, and the highest number of rows.
	Read string
	// Lock is appended to Read in a database that locks rows.
	Lock string
	// Update is a statement for one row. Its arguments are the link, the seals if the table has any, and the key.
	Update string

	first []any // a key before all others
}

// lock returns the clause that locks the rows of a query. It is marked so that Citus does not get it: see package tables.
// Citus cannot lock rows of several nodes with one statement. It needs no lock, because rows without a link exist there only
// after hongbao migrate -split, when no instance runs.
func lock(of string) string { return `/*one*/ for update ` + of + ` /*end*/` }

// entriesOnCitus is the beginning of the query for entries on Citus. It reads the entries and their requests one after the
// other, because Citus cannot join the two tables: their rows belong to different buckets.
//
//nolint:unqueryvet // the parts stand for the tables
const entriesOnCitus = `/*! with
	entries as materialized (select * from entries where link = 0 and (room_id, seq) > ($1, $2) order by room_id, seq limit $3),
	requests as materialized (select * from requests where (user_id, key) in (select sender, key from entries)) */ `

// Tables returns the chained tables. packetRows is the database's PacketRows.
func Tables(packetRows string) []Table {
	return []Table{
		{
			New:    func() Stored { return new(StoredEntry) },
			Read:   entriesOnCitus + EntryRows + ` where e.link = 0 and (e.room_id, e.seq) > ($1, $2) order by e.room_id, e.seq limit $3`, //nolint:unqueryvet // see entriesOnCitus
			Lock:   lock(`of e`),                                                                                                          // not the requests, which are joined
			Update: `update entries set link = $1, name_seal = $2, text_seal = $3 where room_id = $4 /*! and bucket = bucket_of($4) */ and seq = $5`,
			first:  []any{"", int64(0)},
		}, {
			New:    func() Stored { return new(StoredPacket) },
			Read:   packetRows + ` where link = 0 and id > $1 order by id limit $2`,
			Lock:   lock(``),
			Update: `update packets set link = $1, name_seal = $2, text_seal = $3 where id = $4 /*! and bucket = bucket_of($4) */`,
			first:  []any{""},
		}, {
			New:    func() Stored { return new(StoredClaim) },
			Read:   ClaimRows + ` where link = 0 and (packet_id, share_no) > ($1, $2) order by packet_id, share_no limit $3`,
			Lock:   lock(``),
			Update: `update claims set link = $1 where packet_id = $2 /*! and bucket = bucket_of($2) */ and share_no = $3`,
			first:  []any{"", int64(-1)},
		}, {
			New:    func() Stored { return new(StoredTransfer) },
			Read:   TransferRows + ` and link = 0 and (user_id, at, id) > ($1, $2, $3) order by user_id, at, id limit $4`,
			Lock:   lock(``),
			Update: `update transfers set link = $1 where user_id = $2 /*! and bucket = bucket_of($2) */ and at = $3 and id = $4`,
			first:  []any{"", int64(0), ""},
		},
	}
}

// stepRows is the highest number of rows in one step of AddRows.
const stepRows = 1000

// AddRows adds to hash chains all rows that have no link yet, and returns their number. It calls step for at most stepRows rows of
// one table at a time. args are the arguments of the table's Read. step returns the rows that it has committed.
func AddRows(tables []Table, step func(t Table, args []any) ([]Stored, error)) (n int, err error) {
	for _, t := range tables {
		for after := t.first; after != nil; {
			added, err := step(t, append(after[:len(after):len(after)], stepRows))
			if err != nil {
				return n, err
			}
			n += len(added)
			after = nil
			if len(added) == stepRows {
				after = added[stepRows-1].Key()
			}
		}
	}
	return n, nil
}
