package pgstore

import (
	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
)

// payClaims holds the packets open and inserts the claims that find their share and their user free. Wallet and
// transfer hang on the inserted claim alone. It gives the transfers' ids.
//
// It is written such that the planner has no choice, for it knows little: each packet is looked up, in the order given;
// "is true" makes no join of it, and so it expects about as many claims as there are, and hashes them.
const payClaims = `
with input as (
	select packet_id, share_no, user_id, amount, at, transfer, n from unnest($1::text[], $2::int[], $3::text[], $4::bigint[], $5::bigint[], $6::text[])
		with ordinality i (packet_id, share_no, user_id, amount, at, transfer, n)
), held as materialized (
	select p.id from unnest($7::text[]) i (id)
	cross join lateral (select id from packets where id = i.id and status = 'open' for share) p
), paid as (
	insert into claims (packet_id, share_no, user_id, amount, at)
	select packet_id, share_no, user_id, amount, at from input
	where (packet_id in (select id from held)) is true order by n
	on conflict do nothing returning packet_id, share_no, user_id, amount, at
), credited as (
	insert into wallets (user_id, balance)
	select user_id, sum(amount)::bigint from paid group by user_id order by user_id
	on conflict (user_id) do update set balance = wallets.balance + excluded.balance
)
insert into transfers (id, at, debit, credit, amount, kind, user_id, packet_id, share_no)
select i.transfer, p.at, 'packet:' || p.packet_id, 'user:' || p.user_id, p.amount, 'claim', p.user_id, p.packet_id, p.share_no
from paid p join input i on i.packet_id = p.packet_id and i.share_no = p.share_no and i.user_id = p.user_id
returning id`

// payBatch pays what can be paid and answers it; all else goes to the rest. Users are all whom it may pay, unseeded
// those of them who may have no seed.
func (w *writer) payBatch(b *batch, users, unseeded []string) error {
	if len(b.pay) == 0 {
		return nil
	}
	var (
		q    pgx.Batch
		byID = make(map[string]*order, len(b.pay))
	)
	for _, o := range b.pay {
		byID[o.transfer] = o
	}
	if len(unseeded) > 0 {
		queueSeeds(&q, unseeded)
	}
	q.Queue(payClaims, b.rows()...).Query(func(rs pgx.Rows) error {
		paid, err := collect(rs, scanText)
		for _, id := range paid {
			byID[id].paid = true
		}
		return err
	})
	queueAccounts(&q, users, &b.accounts)
	if err := w.batch(&q); err != nil {
		return err
	}
	for _, o := range b.pay {
		if o.paid {
			o.answer = paidNow(o.Claim, o.amount, b.accounts[o.User])
		} else {
			b.rest = append(b.rest, o)
		}
	}
	return nil
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
