package pgstore

import (
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
	"hongbao/store/chain"
	"hongbao/store/eventlog"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/pgstore/internal/schema"
	"hongbao/store/tables"
)

// byBucket groups items by the buckets of their ids. order has the buckets in ascending order.
func byBucket[T any](all []T, id func(T) string) (groups map[int][]T, order []int) {
	groups = map[int][]T{}
	for _, one := range all {
		n := schema.Bucket(id(one))
		groups[n] = append(groups[n], one)
	}
	return groups, slices.Sorted(maps.Keys(groups))
}

// wantByBucket does what want does, for rows of a split table. It makes one statement for each bucket, because Citus cannot lock
// rows of several buckets with one statement.
func (f *freeLocks) wantByBucket(kind, table, column, mode string, ids []string) {
	groups, order := byBucket(ids, func(id string) string { return id })
	for _, n := range order {
		query := fmt.Sprintf(`select %s from %s where bucket = %d and %[1]s = any($1::text[])`, column, table, n)
		f.want(kind, query, mode, groups[n])
	}
}

// payOnCitus pays the claims of the batch that can be paid, and commits. After the transaction has begun, and a chain was
// opened if none was free, it sends up to three messages. The first one locks the packets, the second one inserts the claims,
// and the third one moves the money of those that were inserted and commits. Each statement in these messages about split
// tables is about rows of one bucket, and so of one worker.
func (s *Store) payOnCitus(w *writer, b *claimBatch) error {
	inserted, err := s.insertClaims(w, b)
	if err != nil {
		return err
	}
	b.paid, b.accounts = int64(len(inserted)), map[string]redpacket.Account{}
	var m pg.Message
	if unseeded := s.seeded.unknown(b.users); len(unseeded) > 0 {
		m.Run(nil, "", firstSeeds, unseeded, newSeeds(w.DataKeys, unseeded))
	}
	if len(inserted) == 0 {
		m.Add("commit")
		err := m.Send(w.reader)
		if err == nil {
			w.link.committedWithout()
		}
		return err
	}
	sums := map[string]redpacket.Money{}
	refs := eventlog.Collect(w.events)
	for _, r := range inserted {
		sums[r.User] += r.amount
		w.link.leaves = append(w.link.leaves, chain.ClaimLeaf(r.Claim, r.amount, r.transfer))
		refs.Claim(r.ID, r.Share)
	}
	users := slices.Sorted(maps.Keys(sums))
	sends := map[string]int64{}
	queueWallets(&m, users, sums, b.accounts, sends)
	queueClaimTransfers(&m, inserted)
	m.Run(func(rs pgx.Rows) error { return b.scanSeeds(rs, w, sends) }, "", `select id, sends, next_seed from users where id = any($1::text[])`, users)
	m.Add(w.link.insertLink())
	if w.refs.WantsClaims() {
		insert, err := w.link.insertEvents(&refs)
		if err != nil {
			return err
		}
		m.Add(insert)
	}
	m.Add("commit")
	w.link.sent = true
	if err := m.Send(w.reader); err != nil {
		return err
	}
	w.link.added = true
	return nil
}

// insertClaims begins the transaction, unless b.begun is set. It locks the open packets, inserts the claims whose share
// and user are both free, and returns these claims.
func (s *Store) insertClaims(w *writer, b *claimBatch) (inserted []*claimRow, err error) {
	if !b.begun {
		if err := w.begin(boundGroup); err != nil {
			return nil, err
		}
	}
	if _, err := w.takeLink(); err != nil { // inside the transaction: Citus cannot open a chain otherwise
		return nil, err
	}
	held, err := b.holdByBucket(w)
	if err != nil {
		return nil, err
	}
	var m pg.Message
	byTransfer := make(map[string]*claimRow, len(b.pay))
	open := slices.DeleteFunc(slices.Clone(b.pay), func(r *claimRow) bool { return !held[r.ID] })
	groups, order := byBucket(open, func(r *claimRow) string { return r.ID })
	for _, n := range order {
		for _, r := range groups[n] {
			byTransfer[r.transfer] = r
		}
		queueClaims(&m, n, groups[n], w.link.id, func(rs pgx.Rows) error {
			return pg.Each(rs, func(row tables.Row) error {
				transfer, err := tables.ScanText(row)
				inserted = append(inserted, byTransfer[transfer])
				return err
			})
		})
	}
	if len(open) == 0 {
		return nil, nil
	}
	return inserted, m.Send(w.reader)
}

// holdByBucket locks the open packets of the batch, and returns which these are.
func (b *claimBatch) holdByBucket(w *writer) (held map[string]bool, err error) {
	var m pg.Message
	held = map[string]bool{}
	groups, order := byBucket(b.packets, func(id string) string { return id })
	for _, n := range order {
		m.Run(scanInto(held), "", fmt.Sprintf(`select id from packets where bucket = %d and id = any($1::text[]) and closed_at is null order by id for share`, n), groups[n])
	}
	return held, m.Send(w.reader)
}

// queueClaims adds the statement that inserts the claims of one bucket, in their order. scan reads its result: the ids
// of the transfers of those claims that were inserted.
func queueClaims(m *pg.Message, bucket int, claims []*claimRow, link int64, scan func(pgx.Rows) error) {
	rows := make([][]any, len(claims))
	for i, r := range claims {
		rows[i] = []any{bucket, r.ID, r.Share, r.User, int64(r.amount), r.At.UnixMilli(), r.transfer, link, r.Wave}
	}
	m.Insert(scan, `insert into claims (bucket, packet_id, share_no, user_id, amount, at, transfer, link, wave) values `, rows, ` on conflict do nothing returning transfer`)
}

// queueWallets adds the statements that add the sums to the wallets. Their results go into accounts, which get no
// commitments yet, and into sends: how many packets each user has sent.
func queueWallets(m *pg.Message, users []string, sums map[string]redpacket.Money, accounts map[string]redpacket.Account, sends map[string]int64) {
	groups, order := byBucket(users, func(user string) string { return user })
	for _, n := range order {
		rows := make([][]any, len(groups[n]))
		for i, user := range groups[n] {
			rows[i] = []any{n, user, int64(sums[user]), 1}
		}
		m.Insert(func(rs pgx.Rows) error {
			return pg.Each(rs, func(row tables.Row) error {
				var (
					user string
					acc  redpacket.Account
					n    int64
				)
				if err := row.Scan(&user, &acc.Balance, &acc.Version, &n); err != nil {
					return err
				}
				accounts[user], sends[user] = acc, n
				return nil
			})
		}, `insert into wallets (bucket, user_id, balance, version) values `, rows,
			` on conflict (bucket, user_id) do update set balance = wallets.balance + excluded.balance, version = wallets.version + 1
			returning user_id, balance, version, sends`)
	}
}

// queueClaimTransfers adds the statements that insert the transfers of the claims.
func queueClaimTransfers(m *pg.Message, claims []*claimRow) {
	groups, order := byBucket(claims, func(r *claimRow) string { return r.User })
	for _, n := range order {
		rows := make([][]any, len(groups[n]))
		for i, r := range groups[n] {
			rows[i] = []any{n, r.transfer, r.At.UnixMilli(), tables.PacketParty(r.ID), tables.UserParty(r.User), int64(r.amount), "claim", r.User, r.ID, r.Share}
		}
		m.Insert(nil, `insert into transfers (bucket, id, at, debit, credit, amount, kind, user_id, packet_id, share_no) values `, rows, ``)
	}
}

// scanSeeds adds the next commitments to the accounts. If the user's row counts another number of sends than the wallet, its
// seed belongs to another version of the account. That account gets no commitment here, and readMissingAccounts reads it
// again.
func (b *claimBatch) scanSeeds(rs pgx.Rows, w *writer, sends map[string]int64) error {
	return pg.Each(rs, func(row tables.Row) error {
		var (
			user   string
			n      int64
			stored []byte
		)
		if err := row.Scan(&user, &n, &stored); err != nil {
			return err
		}
		seed, drawn, err := w.DataKeys.NextSeed(user, stored)
		if err == nil && drawn && n == sends[user] {
			acc := b.accounts[user]
			acc.NextCommitment = redpacket.Commitment(seed)
			b.accounts[user] = acc
		}
		return err
	})
}
