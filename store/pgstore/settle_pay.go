package pgstore

import (
	"fmt"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
	"hongbao/store/chain"
)

// payClaims locks the open packets and inserts the claims whose share and user are both free. Wallets and transfers
// are written only for inserted claims. It returns the number of inserted claims and the account of each paid user.
//
// While it waits for a user's wallet, that user may send a packet and so draw a new seed. The returned balance is
// then the one after that packet, but the seed in this statement's snapshot is the old one. In that case it returns
// null as the seed, and the account must be read again.
//
// The statement leaves the planner of Postgres no choice, because its statistics of these tables are poor. Each
// packet is looked up in the given order. The "is true" prevents a join. The status is not tested, because the
// planner might then scan the whole index of open packets for each.
//
// It adds a link with the leaves of the inserted claims, if there are any. $9 holds the link's chain, id, previous link and
// time.
var payClaims = payClaimsWith(`on conflict do nothing`, `
	select count(*) as n, sha256(string_agg(i.leaf, ''::bytea order by i.leaf)) as digest
	from paid join unnest($6::text[], $8::bytea[]) i (transfer, leaf) on i.transfer = paid.transfer having count(*) > 0`)

// payNewClaims is payClaims without the check, before each insert, whether share and user are free. The check is a
// sixth of the cost and rarely finds anything. The digest of the leaves is computed in advance, and $9 also holds their
// number. If a claim is not inserted, the statement fails and notAllNew is true of its error.
var payNewClaims = payClaimsWith("", `
	select case when count(*) = ($9::bigint[])[5] then count(*) end as n, ($8::bytea[])[1] as digest from paid`)

func payClaimsWith(onConflict, leaves string) string {
	return `
with held as materialized (
	select p.id from unnest($7::text[]) i (id)
	cross join lateral (select id from packets where id = i.id and closed_at is null for share) p
), paid as (
	insert into claims (packet_id, share_no, user_id, amount, at, transfer, link)
	select packet_id, share_no, user_id, amount, at, transfer, ($9::bigint[])[2]
	from unnest($1::text[], $2::int[], $3::text[], $4::bigint[], $5::bigint[], $6::text[])
		with ordinality i (packet_id, share_no, user_id, amount, at, transfer, n)
	where (packet_id in (select id from held)) is true order by n
	` + onConflict + ` returning packet_id, share_no, user_id, amount, at, transfer
), linked as (
	insert into links (chain, id, prev, at, leaves, hash)
	select l[1], l[2], l[3], l[4], n, sha256(` + bytea(chain.Prefix()) + ` || ` + fmt.Sprintf(prevHash, "l[1]", "l[3]") + `
		|| int8send(l[2]) || int8send(l[3]) || int8send(l[4]) || int8send(n) || digest)
	from (` + leaves + `) leaves cross join (select $9::bigint[] as l offset 0) link
), credited as (
	insert into wallets (user_id, balance, version)
	select user_id, sum(amount)::bigint, 1 from paid group by user_id order by user_id
	on conflict (user_id) do update set balance = wallets.balance + excluded.balance, version = wallets.version + 1
	returning user_id, balance, version, sends
), moved as (
	insert into transfers (id, at, debit, credit, amount, kind, user_id, packet_id, share_no)
	select transfer, at, 'packet:' || packet_id, 'user:' || user_id, amount, 'claim', user_id, packet_id, share_no from paid
)
select (select count(*) from paid), user_id, balance, version,
	(select case when users.sends = credited.sends then next_seed end from users where id = user_id) from credited`
}

// notAllNew reports whether payNewClaims failed because a share or user has a claim already, or a packet is not open.
func notAllNew(err error) bool { return sqlState(err) == "23505" || nullInLink(err, "leaves") }

// holdPackets locks the packets as payClaims does. It is run first if rows must be written before the claims.
const holdPackets = `select p.id from unnest($1::text[]) i (id)
	cross join lateral (select id from packets where id = i.id for share) p`

// payBatch pays the claims that may be paid, and commits, in one round trip. It takes one more if all claims looked
// new but some cannot be paid.
func (s *Store) payBatch(w *writer, b *claimBatch) error {
	if len(b.pay) == 0 {
		if b.begun {
			return rollback(w.ctx, w.conn)
		}
		return nil
	}
	if _, err := w.takeLink(); err != nil {
		return err
	}
	pay := payClaims
	if b.allNew && !w.maybeCommitted && !b.begun {
		pay = payNewClaims
	}
	err := s.payBy(w, b, pay)
	if pay == payNewClaims && notAllNew(err) {
		if err = rollback(w.ctx, w.conn); err == nil {
			err = s.payBy(w, b, payClaims)
		}
	}
	if err == nil {
		err = b.readMissingAccounts(w)
	}
	if err != nil {
		s.seeded.forget()
		return err
	}
	s.seeded.add(b.users)
	b.answerPaid()
	return nil
}

func (s *Store) payBy(w *writer, b *claimBatch, pay string) error {
	names := make([]string, 3)
	if !b.begun { // not once rows are locked: no idle timer runs between the messages that prepare statements
		var err error
		if names, err = w.prepareAll(pay, holdPackets, firstSeeds); err != nil {
			return err
		}
	}
	m := message{text: make([]byte, 0, 1<<10+claimBytes*len(b.pay))}
	if !b.begun {
		m.add(begin)
		m.add(boundGroup)
	}
	b.queue(&m, pay, names, s.seeded.unknown(b.users), w.link)
	m.add("commit")
	w.link.sent = true
	err := m.send(w.reader)
	w.link.added = err == nil && b.paid > 0
	return err
}

// claimBytes is the approximate size of a claim in a message, all columns together.
const claimBytes = 270

// queue adds the statements that pay the batch to the message. names are the names of pay, holdPackets and firstSeeds
// on this connection. unseeded are the users that may have no seed.
func (b *claimBatch) queue(m *message, pay string, names, unseeded []string, l *link) {
	if len(unseeded) > 0 {
		m.run(nil, names[1], holdPackets, b.packets)
		m.run(nil, names[2], firstSeeds, unseeded, newSeeds(len(unseeded)))
	}
	m.run(b.scan, names[0], pay, b.args(l, pay == payNewClaims)...)
}

func (b *claimBatch) scan(rs pgx.Rows) error {
	b.paid, b.accounts = 0, make(map[string]redpacket.Account, len(b.users))
	return scanAccounts(rs, b.accounts, &b.paid)
}

// readMissingAccounts reads the accounts that payClaims returned without a seed.
func (b *claimBatch) readMissingAccounts(q querier) error {
	var users []string
	for user, acc := range b.accounts {
		if acc.NextCommitment == "" {
			users = append(users, user)
		}
	}
	return readAccountsInto(q, b.accounts, users)
}

// answerPaid answers the claims if all were paid. Otherwise it adds them to the rest, which classify answers: the
// result of payClaims does not say which were paid, because nearly always all are.
func (b *claimBatch) answerPaid() {
	if b.paid < int64(len(b.pay)) {
		b.rest = append(b.rest, b.pay...)
		return
	}
	for _, r := range b.pay {
		r.paid = true
		r.answer = paidNow(r.Claim, r.amount, b.accounts[r.User])
	}
}

func paidNow(c redpacket.Claim, amount redpacket.Money, acc redpacket.Account) redpacket.Settlement {
	return redpacket.Settlement{
		Verdict: redpacket.PaidNow, Share: c.Share, Amount: amount, At: fromMillis(c.At.UnixMilli()), Account: acc,
	}
}

// args returns the arguments of payClaims, or those of payNewClaims if allNew is set.
func (b *claimBatch) args(l *link, allNew bool) []any {
	n := len(b.pay)
	packets, shares, users := make([]string, n), make([]int64, n), make([]string, n)
	amounts, ats, transfers := make([]int64, n), make([]int64, n), make([]string, n)
	hashes := make([]chain.Hash, n)
	for i, r := range b.pay {
		packets[i], shares[i], users[i] = r.ID, int64(r.Share), r.User
		amounts[i], ats[i], transfers[i] = int64(r.amount), r.At.UnixMilli(), r.transfer
		hashes[i] = chain.ClaimLeaf(r.Claim, r.amount, r.transfer)
	}
	leaves := make([][]byte, 0, n)
	if allNew {
		digest := chain.Digest(hashes)
		leaves = append(leaves, digest[:])
	} else {
		for i := range hashes {
			leaves = append(leaves, hashes[i][:])
		}
	}
	return []any{packets, shares, users, amounts, ats, transfers, b.packets, leaves, []int64{l.chain.number, l.id, l.chain.last, l.at, int64(n)}}
}
