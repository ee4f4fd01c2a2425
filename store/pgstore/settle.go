package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/redpacket/crashpoint"
	"hongbao/store/chain"
	"hongbao/store/pgstore/internal/batch"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/secret"
	"hongbao/store/tables"
)

// settleJob is one claim to settle. The committer of claims fills in the answer.
type settleJob struct {
	redpacket.Claim

	transfer string // id of the transfer, drawn once: by it a later run of the transaction recognises the work of an earlier one
	answer   redpacket.Settlement
}

// Settle implements redpacket.Ledger. Each claim is a job of its own: if Postgres refuses a row, the committer halves
// the batch until the failing claim is alone.
func (s *Store) Settle(ctx context.Context, claims []redpacket.Claim) []redpacket.Settlement {
	jobs := make([]*settleJob, len(claims))
	for i, c := range claims {
		jobs[i] = &settleJob{Claim: c, transfer: chat.NewID(c.At)}
	}
	settled := make([]redpacket.Settlement, len(claims))
	for i, err := range s.claims.DoAll(ctx, jobs) {
		switch why := rowRefusal(err); {
		case err == nil:
			settled[i] = jobs[i].answer
		case why == "":
			settled[i].Err = tables.Outcome("settle claim", err)
		default:
			settled[i] = unpayable(why)
		}
	}
	crashpoint.Here("settle.after-commit")
	return settled
}

// settleAll settles a batch. One transaction pays the claims that can be paid. Afterwards the other claims are
// answered, outside a transaction. Their answers cannot become wrong: claims are never deleted, and a closed packet stays
// closed.
func (s *Store) settleAll(ctx context.Context, jobs []*settleJob, skipLocked bool) (locked []string, err error) {
	err = s.groupTx(ctx, func(w *writer) (committing bool, err error) {
		cut, unreadable, err := s.shares(w, packetsOf(jobs))
		if err != nil {
			return false, err
		}
		free := jobs
		if skipLocked {
			if locked, err = s.beginFreeClaims(w, jobs); err != nil {
				return false, err
			}
			free = unlocked(jobs, locked)
		}
		bound, err := boundUsers(w, free, cut)
		if err != nil {
			return false, err
		}
		b := newClaimBatch(free, cut, bound, unreadable)
		b.begun = skipLocked
		crashpoint.Here("settle.before-commit")
		if err := s.payBatch(w, b); err != nil {
			return true, err
		}
		return true, s.classify(w, b)
	})
	return locked, err
}

// beginFreeClaims begins a transaction and locks the rows that the claims need, without waiting. For each claim it
// returns the key of a row that another transaction has locked, or "".
func (s *Store) beginFreeClaims(w *writer, jobs []*settleJob) (locked []string, err error) {
	users := make([]string, len(jobs))
	for i, j := range jobs {
		users[i] = j.User
	}
	f := newFreeLocks(w.Citus)
	if w.Citus {
		f.wantByBucket(packetRow, "packets", "id", ` for share`, packetsOf(jobs))
	} else {
		f.want(packetRow, `select id from packets where id = any($1::text[])`, ` for share`, packetsOf(jobs))
	}
	if unseeded := s.seeded.unknown(users); len(unseeded) > 0 {
		f.want(walletRow, `select id from users where id = any($1::text[])`, ` for no key update`, unseeded)
	}
	if w.Citus {
		f.wantByBucket(walletRow, "wallets", "user_id", ` for no key update`, users)
	} else {
		f.want(walletRow, `select user_id from wallets where user_id = any($1::text[])`, ` for no key update`, users)
	}
	taken, err := f.begin(w)
	return lockedKeys(jobs, keysOfClaim, taken), err
}

// settleWork returns how the committer of claims runs its jobs.
func (s *Store) settleWork() batch.Work[*settleJob] {
	return batch.Work[*settleJob]{
		Span:     "postgres settle",
		Run:      s.settleAll,
		Keys:     keysOfClaim,
		Wrote:    func(j *settleJob) bool { return j.answer.Verdict == redpacket.PaidNow },
		Judge:    judge,
		Patience: pg.Patience,
	}
}

func keysOfClaim(j *settleJob) [3]string { return [3]string{packetRow + j.ID, walletRow + j.User} }

// OutOfReach implements redpacket.Ledger.
func (s *Store) OutOfReach() error { return s.pool.Err() }

func unpayable(why string) redpacket.Settlement {
	return redpacket.Settlement{Verdict: redpacket.Unpayable, Why: why}
}

// rowRefusal returns why Postgres refuses the row of a claim, or "" if that row is not the cause of the error.
func rowRefusal(err error) string {
	var (
		failed *pgconn.PgError
		poison *batch.PoisonedError
	)
	switch {
	case errors.As(err, &poison) && pg.SQLState(err) != "": // if the error is not from Postgres, the claim may have been committed
		return poison.Error()
	case invalidRow(err) && errors.As(err, &failed):
		return failed.Message
	}
	return ""
}

// claimBatch is the claims of one transaction.
type claimBatch struct {
	packets []string    // ids of the packets to lock, sorted: those of the jobs, without missing and unreadable ones
	users   []string    // users that the transaction may pay, unique and sorted
	pay     []*claimRow // claims that may be paid, in the order of insertion
	rest    []*claimRow // claims that cannot be paid now; classify answers them
	allNew  bool        // all claims of pay are in the outbox, so they are probably new, and no two are for the same user or share
	begun   bool        // the transaction has begun and has locked the rows of the claims

	paid     int64                        // number of claims of pay that were paid
	accounts map[string]redpacket.Account // accounts of the paid users after the transaction
}

// claimRow is a claim about to be inserted.
type claimRow struct {
	*settleJob

	n       int             // index of its job
	amount  redpacket.Money // 0: there is no such share
	unbound bool            // the packet pays one share a person, and no person is bound to the user
	round   int             // of a claim of pay: more than that of any earlier claim for the same user or share; otherwise 0
	paid    bool
}

// claimKey identifies a user in a packet (share -1), a share of a packet (user ""), or a claim (both). At most one
// stored claim has each key.
type claimKey struct {
	packet string
	share  int
	user   string
}

// packetsOf returns the packets of the claims, unique and sorted.
func packetsOf(jobs []*settleJob) []string {
	ids := make([]string, 0, len(jobs))
	for _, j := range jobs {
		if n := len(ids); n == 0 || ids[n-1] != j.ID {
			ids = append(ids, j.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// newClaimBatch answers the claims of missing and of unreadable packets, and separates the others into claims that may
// be paid and the rest. The claims that may be paid are sorted, so that two instances with the same claims do not deadlock. A
// later claim for the same user or share stays behind the earlier one.
func newClaimBatch(jobs []*settleJob, cut map[string]tables.Payout, bound map[claimKey]bool, unreadable map[string]error) *claimBatch {
	b := &claimBatch{pay: make([]*claimRow, 0, len(jobs)), accounts: map[string]redpacket.Account{}, allNew: true}
	seen := make(map[claimKey]struct{}, len(jobs))
	rounds := make(map[claimKey]int, 2*len(jobs))
	for n, j := range jobs {
		pays, ok := cut[j.ID]
		if err := unreadable[j.ID]; err != nil {
			j.answer = redpacket.Settlement{Err: tables.Outcome("settle claim", err)}
			continue
		}
		if !ok {
			j.answer = unpayable("no such packet")
			continue
		}
		b.packets = append(b.packets, j.ID)
		r := &claimRow{settleJob: j, n: n}
		if j.Share >= 0 && j.Share < len(pays.Shares) {
			r.amount = pays.Shares[j.Share]
		}
		r.unbound = pays.OnePerPerson && !bound[claimKey{packet: j.ID, user: j.User}]
		key := claimKey{j.ID, j.Share, j.User}
		if _, twice := seen[key]; twice || r.amount == 0 || r.unbound {
			b.rest = append(b.rest, r)
			continue
		}
		seen[key] = struct{}{}
		share, user := claimKey{packet: j.ID, share: j.Share}, r.perUser()
		r.round = max(rounds[share], rounds[user]) + 1
		rounds[share], rounds[user] = r.round, r.round
		b.allNew = b.allNew && r.round == 1 && j.Entry != ""
		b.pay = append(b.pay, r)
	}
	slices.Sort(b.packets)
	b.packets = slices.Compact(b.packets)
	slices.SortFunc(b.pay, func(x, y *claimRow) int {
		return cmp.Or(cmp.Compare(x.ID, y.ID), cmp.Compare(x.round, y.round), cmp.Compare(x.Share, y.Share))
	})
	for _, r := range b.pay {
		b.users = append(b.users, r.User)
	}
	slices.Sort(b.users)
	b.users = slices.Compact(b.users)
	return b
}

// boundUsers returns those users of the claims to whom a person is bound, of packets that pay one share a person. A binding is never removed.
func boundUsers(q tables.Querier, jobs []*settleJob, cut map[string]tables.Payout) (map[claimKey]bool, error) {
	var packets, users []string
	for _, j := range jobs {
		if cut[j.ID].OnePerPerson {
			packets, users = append(packets, j.ID), append(users, j.User)
		}
	}
	if len(packets) == 0 {
		return nil, nil
	}
	bound := make(map[claimKey]bool, len(users))
	return bound, q.Each(func(row tables.Row) error {
		var k claimKey
		err := row.Scan(&k.packet, &k.user)
		bound[k] = true
		return err
	}, boundUsersQuery, packets, users)
}

// The lateral join makes Postgres look up each user by the index.
var boundUsersQuery = tables.FirstOnCitus(tables.Of("n", "persons", `bucket = any(buckets_of($1::text[])) and packet_id = any($1::text[]) and user_id = any($2::text[])`)) +
	`select i.packet_id, i.user_id from unnest($1::text[], $2::text[]) i (packet_id, user_id)
	cross join lateral (select from ` + tables.Named("persons", "n") + ` b where b.packet_id = i.packet_id and b.user_id = i.user_id limit 1) b`

// perUser returns the key for the user of the claim: a user can have one claim in a packet, or in a wave.
func (r *claimRow) perUser() claimKey {
	return claimKey{packet: r.ID, share: -1 - r.Wave, user: r.User}
}

// claimFactsQuery reads, for each claim, the facts that decide its answer: the packet's status, the user's claim in
// that packet, whether the share is taken, and whether this very claim took it.
var claimFactsQuery = tables.FirstOnCitus(
	tables.Of("p", "packets", `bucket = any(buckets_of($1::text[])) and id = any($1::text[])`),
	tables.Of("c", "claims", `bucket = any(buckets_of($1::text[])) and packet_id = any($1::text[])
		and (share_no = any($2::bigint[]) or user_id = any($3::text[]))`)) + `select coalesce(p.status, ''), m.share_no, m.amount, m.at, s.user_id is not null, coalesce(s.transfer = i.transfer, false)
from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[])
	with ordinality i (packet_id, share_no, user_id, transfer, wave, n)
left join /*one*/ packets /*end*/ p on p.id = i.packet_id
left join ` + tables.Named("claims", "c") + ` m on m.packet_id = i.packet_id and m.user_id = i.user_id and m.wave = i.wave
left join ` + tables.Named("claims", "c") + ` s on s.packet_id = i.packet_id and s.share_no = i.share_no
order by i.n`

// claimFacts is one row of claimFactsQuery.
type claimFacts struct {
	status     redpacket.Status
	mine       storedShare
	taken, own bool
}

// storedShare scans the claim of a user, or nulls from an outer join.
type storedShare struct{ share, amount, at pgtype.Int8 }

func (s *storedShare) paid() *redpacket.Paid {
	if !s.share.Valid {
		return nil
	}
	return &redpacket.Paid{Share: int(s.share.Int64), Amount: redpacket.Money(s.amount.Int64), At: tables.Millis(s.at.Int64)}
}

func scanClaimFacts(rs tables.Row) (f claimFacts, err error) {
	err = rs.Scan(&f.status, &f.mine.share, &f.mine.amount, &f.mine.at, &f.taken, &f.own)
	return f, err
}

// classify answers the rest of the batch. Its query is a separate statement, so that it sees the claims that other
// transactions committed during the insert.
func (s *Store) classify(q tables.Querier, b *claimBatch) error {
	if len(b.rest) == 0 {
		return nil
	}
	n := len(b.rest)
	packets, shares, users, transfers, waves := make([]string, n), make([]int64, n), make([]string, n), make([]string, n), make([]int64, n)
	for i, r := range b.rest {
		packets[i], shares[i], users[i], transfers[i], waves[i] = r.ID, int64(r.Share), r.User, r.transfer, int64(r.Wave)
	}
	all, err := tables.List(q, scanClaimFacts, claimFactsQuery, packets, shares, users, transfers, waves)
	if err != nil {
		return err
	}
	for i, r := range b.rest {
		r.paid = all[i].own
	}
	if err := b.readPaidAccounts(q); err != nil {
		return err
	}
	paid := b.paidJobs()
	for i, r := range b.rest {
		if n, ok := paid[r.perUser()]; ok && n > r.n {
			all[i].mine = storedShare{} // a later job of the batch paid the claim that SQL has of this user: this job is no duplicate of it
		}
		if all[i].status == "" { // SQL lacks the packet: it was lost in a failover
			s.cuts.Drop(r.ID)
		}
		if r.answer, err = r.verdict(all[i], b.accounts); err != nil {
			return err
		}
	}
	return nil
}

// readPaidAccounts reads the accounts of users that an earlier run of the same transaction has paid.
func (b *claimBatch) readPaidAccounts(q tables.Querier) error {
	var users []string
	for _, r := range b.rest {
		if _, known := b.accounts[r.User]; r.paid && !known {
			users = append(users, r.User)
		}
	}
	return readAccountsInto(q, b.accounts, users)
}

// paidJobs returns, for each user of a packet, the index of the job that paid the user.
func (b *claimBatch) paidJobs() map[claimKey]int {
	paid := map[claimKey]int{}
	for _, r := range slices.Concat(b.pay, b.rest) {
		if r.paid {
			paid[r.perUser()] = r.n
		}
	}
	return paid
}

// verdict returns the settlement of a claim. Whether the user already has a claim decides first, because that never
// changes. It returns tables.ErrRetry if the claim should have been paid, but was not.
func (r *claimRow) verdict(f claimFacts, accounts map[string]redpacket.Account) (redpacket.Settlement, error) {
	switch mine := f.mine.paid(); {
	case r.paid: // paid by this run or by an earlier run of the same transaction
		return paidNow(r.Claim, r.amount, accounts[r.User]), nil
	case mine != nil:
		return redpacket.Settlement{Verdict: redpacket.Duplicate, Share: mine.Share, Amount: mine.Amount, At: mine.At}, nil
	case f.status == "":
		return unpayable("no such packet"), nil
	case r.amount == 0:
		return unpayable("no such share"), nil
	case f.taken:
		return redpacket.Settlement{Verdict: redpacket.Conflict}, nil
	case f.status == redpacket.Open && r.unbound:
		return redpacket.NotBound(), nil
	case f.status == redpacket.Open: // the packet is open, but the claim was not paid: whatever prevented it is gone
		return redpacket.Settlement{}, tables.ErrRetry
	}
	return redpacket.Settlement{Verdict: redpacket.TooLate, Status: f.status}, nil
}

// payClaims locks the open packets and inserts the claims whose share and user are both free. Wallets and transfers
// are written only for inserted claims. It returns the number of inserted claims and the account of each paid user.
//
// While it waits for a user's wallet, that user may send a packet and so draw a new seed. The returned balance is
// then the one after that packet, but the seed in this statement's snapshot is the old one. In that case it returns
// null as the seed, and the account must be read again.
//
// The statement leaves the planner of Postgres no choice, because its statistics of these tables are poor. Each
// packet is looked up in the given order. The "is true" prevents a join. The status is not tested, because the
// planner might then scan the whole index of open packets for each packet.
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
	return `/*one*/
with held as materialized (
	select p.id from unnest($7::text[]) i (id)
	cross join lateral (select id from packets where id = i.id and closed_at is null for share) p
), paid as (
	insert into claims (packet_id, share_no, user_id, amount, at, transfer, link, wave)
	select packet_id, share_no, user_id, amount, at, transfer, ($9::bigint[])[2], wave
	from unnest($1::text[], $2::int[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $10::int[])
		with ordinality i (packet_id, share_no, user_id, amount, at, transfer, wave, n)
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
	(select case when users.sends = credited.sends then next_seed end from users where id = user_id) from credited /*end*/`
}

// notAllNew reports whether payNewClaims failed because a share or user has a claim already, or a packet is not open.
func notAllNew(err error) bool { return pg.SQLState(err) == "23505" || nullInLink(err, "leaves") }

// holdPackets locks the packets as payClaims does, but also closed ones. It runs before payClaims if first seeds must
// be drawn, because packets are locked before users.
const holdPackets = `select p.id from unnest($1::text[]) i (id)
	cross join lateral (select id from packets where id = i.id for share) p`

// beginPaying returns the statements that begin the transaction of a payment. boundIdle is not needed, because the whole
// transaction is one message.
func beginPaying() []string { return []string{begin, boundStatement(), boundGroup, onlyIndexes} }

// payBatch pays the claims that may be paid, and commits. This is one round trip if the statements are prepared and a
// chain is open. If all claims looked new but some cannot be paid, it rolls back and pays again with payClaims. That takes at
// least two more round trips. For Citus see payOnCitus.
func (s *Store) payBatch(w *writer, b *claimBatch) error {
	if len(b.pay) == 0 {
		if b.begun {
			return pg.Rollback(w.Ctx, w.Conn)
		}
		return nil
	}
	if w.Citus {
		return s.paid(w, b, s.payOnCitus(w, b))
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
		if err = pg.Rollback(w.Ctx, w.Conn); err == nil {
			err = s.payBy(w, b, payClaims)
		}
	}
	return s.paid(w, b, err)
}

// paid completes the accounts after a payment and answers the claims. err is the error of the payment. If the payment or the
// reading of accounts has failed, paid clears the cache of seeds and returns the error.
func (s *Store) paid(w *writer, b *claimBatch, err error) error {
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
	if !b.begun { // once rows are locked, nothing is prepared: between the messages for that, no idle timer runs
		var err error
		if names, err = w.PrepareAll(pay, holdPackets, firstSeeds); err != nil {
			return err
		}
	}
	m := pg.Message{}
	m.Grow(1<<10 + claimBytes*len(b.pay))
	if !b.begun {
		for _, sql := range beginPaying() {
			m.Add(sql)
		}
	}
	b.queue(&m, pay, names, s.seeded.unknown(b.users), w)
	if err := b.queueEvents(&m, w, pay == payNewClaims); err != nil {
		return err
	}
	m.Add("commit")
	w.link.sent = true
	err := m.Send(w.reader)
	switch {
	case err != nil:
	case b.paid > 0:
		w.link.added = true
	default:
		w.link.committedWithout()
	}
	return err
}

// claimBytes is the approximate size of a claim in a message, all columns together.
const claimBytes = 200

// queue adds the statements that pay the batch to the message. names are the names of pay, holdPackets and firstSeeds
// on this connection. unseeded are the users that may have no seed.
func (b *claimBatch) queue(m *pg.Message, pay string, names, unseeded []string, w *writer) {
	if len(unseeded) > 0 {
		m.Run(nil, names[1], holdPackets, b.packets)
		m.Run(nil, names[2], firstSeeds, unseeded, newSeeds(w.DataKeys, unseeded))
	}
	scan := func(rs pgx.Rows) error { return b.scan(rs, w.DataKeys) }
	m.Run(scan, names[0], pay, b.args(w.link, pay == payNewClaims)...)
}

func (b *claimBatch) scan(rs pgx.Rows, keys *secret.Keys) error {
	b.paid, b.accounts = 0, make(map[string]redpacket.Account, len(b.users))
	return pg.Each(rs, scanAccount(keys, b.accounts, &b.paid))
}

// readMissingAccounts reads the accounts that the payment returned without a seed.
func (b *claimBatch) readMissingAccounts(q tables.Querier) error {
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
		Verdict: redpacket.PaidNow, Share: c.Share, Amount: amount, At: c.At.Truncate(time.Millisecond).UTC(), Account: acc,
	}
}

// args returns the arguments of payClaims, or those of payNewClaims if allNew is set.
func (b *claimBatch) args(l *link, allNew bool) []any {
	n := len(b.pay)
	packets, shares, users := make([]string, n), make([]int64, n), make([]string, n)
	amounts, ats, transfers := make([]int64, n), make([]int64, n), make([]string, n)
	waves, hashes := make([]int64, n), make([]chain.Hash, n)
	for i, r := range b.pay {
		waves[i] = int64(r.Wave)
		packets[i], shares[i], users[i] = r.ID, int64(r.Share), r.User
		amounts[i], ats[i], transfers[i] = int64(r.amount), r.At.UnixMilli(), r.transfer
		hashes[i] = chain.ClaimLeaf(r.Claim, r.amount, r.transfer)
	}
	if allNew {
		hashes = []chain.Hash{chain.Digest(hashes)}
	}
	leaves := make([][]byte, len(hashes))
	for i := range hashes {
		leaves[i] = hashes[i][:]
	}
	return []any{packets, shares, users, amounts, ats, transfers, b.packets, leaves, []int64{l.chain.number, l.id, l.chain.last, l.at, int64(n)}, waves}
}
