package pgstore

import (
	"strings"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
)

// payClaims holds the packets open and inserts the claims that find their share and their user free. Wallet and
// transfer hang on the inserted claim alone. It gives how many were inserted and the account of each user it has paid.
//
// It is written such that the planner has no choice, for it knows little: each packet is looked up, in the order given;
// "is true" makes no join of it; and status is not asked, lest it search the whole index of open packets for each.
const payClaims = `
with held as materialized (
	select p.id from unnest($7::text[]) i (id)
	cross join lateral (select id from packets where id = i.id and closed_at is null for share) p
), paid as (
	insert into claims (packet_id, share_no, user_id, amount, at, transfer)
	select packet_id, share_no, user_id, amount, at, transfer
	from unnest($1::text[], $2::int[], $3::text[], $4::bigint[], $5::bigint[], $6::text[])
		with ordinality i (packet_id, share_no, user_id, amount, at, transfer, n)
	where (packet_id in (select id from held)) is true order by n
	on conflict do nothing returning packet_id, share_no, user_id, amount, at, transfer
), credited as (
	insert into wallets (user_id, balance)
	select user_id, sum(amount)::bigint from paid group by user_id order by user_id
	on conflict (user_id) do update set balance = wallets.balance + excluded.balance returning user_id, balance
), moved as (
	insert into transfers (id, at, debit, credit, amount, kind, user_id, packet_id, share_no)
	select transfer, at, 'packet:' || packet_id, 'user:' || user_id, amount, 'claim', user_id, packet_id, share_no from paid
)
select (select count(*) from paid), user_id, balance, (select next_seed from users where id = user_id) from credited`

// payNewClaims fails with alreadyThere where a claim does not find its share and its user free. To look for that before
// each insert is a sixth of what payClaims costs, and nearly always for nothing.
var payNewClaims = strings.Replace(payClaims, "on conflict do nothing", "", 1)

const alreadyThere = "23505"

// holdPackets locks the packets as payClaims does, for what has to come after them and before the claims.
const holdPackets = `select from unnest($1::text[]) i (id)
	cross join lateral (select from packets where id = i.id for share) p`

// payBatch pays what can be paid and commits it, in one round trip; in one more if there are claims that cannot be paid,
// though all looked new.
func (s *Store) payBatch(w *writer, b *batch) error {
	if len(b.pay) == 0 {
		return nil
	}
	pay := payClaims
	if b.fresh && !w.again {
		pay = payNewClaims
	}
	err := s.payBy(w, b, pay)
	if pay == payNewClaims && code(err) == alreadyThere {
		if err = rollback(w.ctx, w.conn); err == nil {
			err = s.payBy(w, b, payClaims)
		}
	}
	if err != nil {
		s.seeded.forget()
		return err
	}
	s.seeded.add(b.users)
	b.answer()
	return nil
}

func (s *Store) payBy(w *writer, b *batch, pay string) error {
	if err := w.plan(pay, holdPackets, firstSeeds); err != nil {
		return err
	}
	var q pgx.Batch
	q.Queue(`begin isolation level read committed`)
	b.queue(&q, pay, s.seeded.unknown(b.users))
	q.Queue(`commit`).Exec(committed)
	return w.batch(&q)
}

// queue has the batch pay. Unseeded are those of its users who may have no seed.
func (b *batch) queue(q *pgx.Batch, pay string, unseeded []string) {
	if len(unseeded) > 0 {
		q.Queue(holdPackets, b.packets)
		queueSeeds(q, unseeded)
	}
	q.Queue(pay, b.rows()...).Query(func(rs pgx.Rows) error {
		b.paid, b.accounts = 0, make(map[string]redpacket.Account, len(b.users))
		return scanAccounts(rs, b.accounts, &b.paid)
	})
}

// answer answers what was paid, if that was all. Else it is left to those who find out about the rest: most often there
// is none, and then nobody needs to be named.
func (b *batch) answer() {
	if b.paid < int64(len(b.pay)) {
		b.rest = append(b.rest, b.pay...)
		return
	}
	for _, o := range b.pay {
		o.paid = true
		o.answer = paidNow(o.Claim, o.amount, b.accounts[o.User])
	}
}

func paidNow(c redpacket.Claim, amount redpacket.Money, acc redpacket.Account) redpacket.Settlement {
	return redpacket.Settlement{
		Verdict: redpacket.PaidNow, Share: c.Share, Amount: amount, At: fromMillis(c.At.UnixMilli()), Account: acc,
	}
}

// rows are the arguments of payClaims.
func (b *batch) rows() []any {
	n := len(b.pay)
	packets, shares, users := make([]string, n), make([]int32, n), make([]string, n)
	amounts, ats, transfers := make([]int64, n), make([]int64, n), make([]string, n)
	for i, o := range b.pay {
		packets[i], shares[i], users[i] = o.ID, int32(o.Share), o.User
		amounts[i], ats[i], transfers[i] = int64(o.amount), o.At.UnixMilli(), o.transfer
	}
	return []any{packets, shares, users, amounts, ats, transfers, b.packets}
}
