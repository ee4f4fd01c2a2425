package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/redpacket/crashpoint"
	"hongbao/store/chain"
	"hongbao/store/pgstore/internal/batch"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/pgstore/internal/schema"
	"hongbao/store/tables"
)

// endJob is one call of End. The committer of ends fills in the result. It lasts over all runs of the transaction.
type endJob struct {
	redpacket.Close

	room, sender string // of the packet

	transferIDs map[redpacket.Grant]string // ids of transfers, drawn once: by them a later run recognises the work of an earlier one
	refundID    string                     // id of the refund's transfer
	refused     map[redpacket.Grant]bool   // grants that Postgres refuses, and those of users to whom no person is bound
	paidBefore  map[redpacket.Grant]bool   // grants that this call has paid in settleSeparately, before the transaction that ends the packet

	maybeCommitted bool              // an earlier run may have been committed
	book           redpacket.Book    // as the last run has read and changed it
	missing        []redpacket.Grant // grants without a claim in SQL, as the last run saw them; paid together with the end
	closed         redpacket.Closed  // the result
	err            error             // a refusal
	alone          bool              // it needs a transaction of its own, because grants are missing or there are very many shares
}

// End implements redpacket.Ledger. It returns chat.ErrNotFound if there is no such packet. Ends that are called at the same time share
// transactions. Otherwise many packets that expire together would wait for each other, because each end locks the room and the
// wallet of the sender. An end that must pay missing grants, or has very many shares, has a transaction of its own.
func (s *Store) End(ctx context.Context, c redpacket.Close) (redpacket.Closed, error) {
	ctx = arrived(ctx)
	j, err := s.newEndJob(ctx, c)
	if err == nil && !j.alone {
		err = s.ends.Do(ctx, j)
	}
	if err == nil && j.alone {
		err = s.endAlone(ctx, j)
	}
	if err == nil {
		err = j.err
	}
	if err != nil {
		return redpacket.Closed{}, tables.Outcome("end packet", err)
	}
	crashpoint.Here("close.after-commit")
	return j.closed, nil
}

func (s *Store) newEndJob(ctx context.Context, c redpacket.Close) (*endJob, error) {
	j := &endJob{
		Close: c, transferIDs: map[redpacket.Grant]string{}, refundID: chat.NewID(c.At),
		refused: map[redpacket.Grant]bool{}, paidBefore: map[redpacket.Grant]bool{},
	}
	err := s.withReader(ctx, func(r reader) error {
		var shares int
		found, err := r.Row(`select room_id, sender, count from packets where id = $1 /*! and bucket = bucket_of($1) */`, []any{c.ID}, &j.room, &j.sender, &shares)
		if err == nil && !found {
			err = chat.ErrNotFound
		}
		j.alone = shares > sharesTogether
		return err
	})
	return j, err
}

const (
	endsTogether   = 32    // most packets that one transaction ends
	sharesTogether = 1_000 // a packet with more shares has a transaction of its own: all claims of its packets are read under locks
)

// endWork returns how the committer of ends runs its jobs.
func (s *Store) endWork() batch.Work[*endJob] {
	return batch.Work[*endJob]{
		Span:     "postgres end",
		Most:     endsTogether,
		Run:      s.endAll,
		Keys:     keysOfEnd,
		Wrote:    func(j *endJob) bool { return j.closed.Done },
		Judge:    judge,
		Patience: pg.Patience,
	}
}

func keysOfEnd(j *endJob) [3]string {
	return [3]string{roomRow + j.room, packetRow + j.ID, walletRow + j.sender}
}

// endAll ends the packets of a batch of jobs in one transaction. For skipLocked and locked see work.run.
func (s *Store) endAll(ctx context.Context, jobs []*endJob, skipLocked bool) (locked []string, err error) {
	err = s.groupTx(ctx, func(w *writer) (committing bool, err error) {
		for _, j := range jobs { // also those that this run leaves out
			j.alone = false
			j.maybeCommitted = j.maybeCommitted || w.maybeCommitted
		}
		free := jobs
		if skipLocked {
			if locked, err = beginFreeEnds(w, jobs); err != nil {
				return false, err
			}
			free = unlocked(jobs, locked)
		} else if err := w.begin(boundGroup); err != nil {
			return false, err
		}
		if err := w.end(free); err != nil {
			return false, err
		}
		crashpoint.Here("close.before-commit")
		return true, w.commit()
	})
	return locked, err
}

// beginFreeEnds begins a transaction and locks the rows that the jobs need, without waiting. For each job, it returns the key of a row
// that another transaction has locked, or "".
func beginFreeEnds(w *writer, jobs []*endJob) (locked []string, err error) {
	packets, senders, rooms := make([]string, len(jobs)), make([]string, len(jobs)), make([]string, len(jobs))
	for i, j := range jobs {
		packets[i], senders[i], rooms[i] = j.ID, j.sender, j.room
	}
	f := newFreeLocks(w.Citus)
	if w.Citus {
		f.wantByBucket(packetRow, "packets", "id", ` for update`, packets)
		f.wantByBucket(walletRow, "wallets", "user_id", ` for no key update`, senders)
	} else {
		f.want(packetRow, `select id from packets where id = any($1::text[])`, ` for update`, packets)
		f.want(walletRow, `select user_id from wallets where user_id = any($1::text[])`, ` for no key update`, senders)
	}
	f.want(roomRow, `select id from rooms where id = any($1::text[])`, ` for update`, rooms)
	taken, err := f.begin(w)
	return lockedKeys(jobs, keysOfEnd, taken), err
}

// endAlone ends a packet in a transaction of its own, which pays the missing grants.
func (s *Store) endAlone(ctx context.Context, j *endJob) error {
	run := func(w *writer) error {
		j.maybeCommitted = j.maybeCommitted || w.maybeCommitted
		err := w.end([]*endJob{j})
		crashpoint.Here("close.before-commit")
		return err
	}
	err := s.tx(ctx, run)
	if err != nil && poisonous(err) && len(j.missing) > 0 { // one of the missing grants may have caused the error
		if err = s.settleSeparately(ctx, j); err == nil {
			err = s.tx(ctx, run)
		}
	}
	if errors.Is(err, errBlocked) || errors.Is(err, pg.ErrPatience) {
		err = &batch.BusyError{Err: err}
	}
	return err
}

// end ends the packets of the jobs in a transaction that has begun, and stores the answer in each job. A packet that is closed already
// keeps its state. A job with missing grants is only done if it is marked to run alone. Otherwise end marks it.
func (w *writer) end(jobs []*endJob) error {
	first, repeats := w.sortEnds(jobs)
	if err := w.lockBooks(first); err != nil {
		return err
	}
	var open []*endJob
	if err := w.readUnbound(first); err != nil {
		return err
	}
	for _, j := range first {
		ending, err := w.examineEnd(j)
		if err != nil {
			return err
		}
		switch {
		case ending && len(j.missing) > 0 && !j.alone:
			j.alone = true
		case ending:
			open = append(open, j)
		}
	}
	if len(open) > 0 {
		if err := w.payOut(open); err != nil {
			return err
		}
		if err := w.writeEnds(open); err != nil {
			return err
		}
	}
	for j, of := range repeats {
		j.closed, j.err, j.alone = redpacket.Closed{Book: of.book}, of.err, of.alone
	}
	return nil
}

// sortEnds resets the results of the jobs, and sorts the jobs in the order in which packets are locked. Of several jobs with the same
// packet only the first is in the list; repeats has the others, each with that first one.
func (w *writer) sortEnds(jobs []*endJob) (first []*endJob, repeats map[*endJob]*endJob) {
	byPacket := map[string]*endJob{}
	repeats = map[*endJob]*endJob{}
	for _, j := range jobs {
		j.book, j.missing, j.closed, j.err = redpacket.Book{}, nil, redpacket.Closed{}, nil
		if of := byPacket[j.ID]; of != nil {
			repeats[j] = of
			continue
		}
		byPacket[j.ID] = j
		first = append(first, j)
	}
	slices.SortFunc(first, func(a, b *endJob) int {
		if w.Citus {
			return cmp.Or(cmp.Compare(schema.Bucket(a.ID), schema.Bucket(b.ID)), cmp.Compare(a.ID, b.ID))
		}
		return cmp.Compare(a.ID, b.ID)
	})
	return first, repeats
}

// lockBooks locks the packets and reads each with its claims, in one round trip. It waits until all transactions that settle claims of
// the packets have ended.
func (w *writer) lockBooks(jobs []*endJob) error {
	var b tables.Batch
	for _, j := range jobs {
		b.Exec(`select from packets where id = $1 /*! and bucket = bucket_of($1) */ for update`, j.ID)
		tables.QueueBook(w, &b, j.ID, &j.book)
	}
	return w.Send(&b)
}

// readUnbound refuses the grants without a claim of users to whom no person is bound, in packets that pay one share a person. There are few:
// settleLacking has paid nearly all.
func (w *writer) readUnbound(jobs []*endJob) error {
	var claims []*settleJob
	cut := map[string]tables.Payout{}
	unclaimed := map[*endJob][]redpacket.Grant{}
	for _, j := range jobs {
		if !j.book.Packet.OnePerPerson {
			continue
		}
		cut[j.ID], unclaimed[j] = tables.Payout{OnePerPerson: true}, j.unclaimed()
		for _, g := range unclaimed[j] {
			claims = append(claims, &settleJob{Claim: redpacket.Claim{Ref: j.Ref, User: g.User}})
		}
	}
	bound, err := boundUsers(w, claims, cut)
	if err != nil {
		return err
	}
	for j, grants := range unclaimed {
		for _, g := range grants {
			j.refused[g] = j.refused[g] || !bound[claimKey{packet: j.ID, user: g.User}]
		}
	}
	return nil
}

// unclaimed returns the grants without a claim in the book.
func (j *endJob) unclaimed() []redpacket.Grant {
	winners := make(map[int]string, len(j.book.Claims)) // by share
	for _, p := range j.book.Claims {
		winners[p.Share] = p.User.ID
	}
	return slices.DeleteFunc(slices.Clone(j.Grants), func(g redpacket.Grant) bool { return winners[g.Share] == g.User })
}

// examineEnd reports whether the packet of the job, whose book was read, is to be ended. If not, it stores the answer in the job. The
// answer has Done only if an earlier run of this job has ended the packet.
func (w *writer) examineEnd(j *endJob) (ending bool, err error) {
	switch {
	case j.book.Packet.ID == "":
		j.err = chat.ErrNotFound
	case j.book.Status == redpacket.Open:
		j.findMissing()
		j.book.Refunded, err = j.refundAmount()
		return err == nil, err
	case j.maybeCommitted:
		j.closed, err = w.endedBefore(j)
	default:
		j.closed = redpacket.Closed{Book: j.book}
	}
	return false, err
}

// writeEnds writes the end of each packet, with its entry in the room. The money is paid out.
func (w *writer) writeEnds(jobs []*endJob) error {
	rooms := make([]string, len(jobs))
	for i, j := range jobs {
		rooms[i] = j.book.Packet.Room
	}
	tails, err := w.lockTails(rooms)
	if err != nil {
		return err
	}
	var entries newEntries
	for _, j := range jobs {
		b, c := &j.book, tails[j.book.Packet.Room]
		if c == nil {
			return fmt.Errorf("packet %s: room %s is missing", j.ID, b.Packet.Room)
		}
		b.Status = b.EndStatus(j.Reason)
		body, err := redpacket.DoneBody(*b)
		if err != nil {
			return err
		}
		c.count(chat.KindPacketDone)
		j.closed.Done, j.closed.Book, j.closed.Inserted = true, *b, j.inserted()
		j.closed.Entry = chat.Entry{
			Room: b.Packet.Room, Seq: c.lastSeq, ID: j.EntryID, At: tables.Millis(j.At.UnixMilli()), From: b.Packet.From, Kind: chat.KindPacketDone, Body: body,
		}
		entries.add(j.closed.Entry, nil, c.contentNo)
	}
	link, err := w.Chained(entries.leaves...)
	if err != nil {
		return err
	}
	var last pgx.Batch // one round trip: the rooms are locked
	entries.queueEntries(&last, link)
	queueTails(&last, tails)
	for _, j := range jobs {
		j.queueClosed(&last)
	}
	if err := w.SendBatch(&last); err != nil {
		return err
	}
	entries.note(&w.refs)
	return nil
}

func (j *endJob) queueClosed(batch *pgx.Batch) {
	b := &j.book
	if best := redpacket.Luckiest(b.Packet, b.Claims); best != nil {
		batch.Queue(`update claims set luckiest = true where packet_id = $1 /*! and bucket = bucket_of($1) */ and share_no = $2`, j.ID, best.Share)
	}
	batch.Queue(`update packets set status = $2, closed_at = $3, refunded = $4, claimed = $5, done_seq = $6,
		seed = $7, shares = case when encrypted_seed = '' or parts > 0 then shares else $8 end where id = $1 /*! and bucket = bucket_of($1) */`,
		j.ID, b.Status, j.At.UnixMilli(), b.Refunded, len(b.Claims), j.closed.Entry.Seq, b.Seed[:], b.Shares)
}

// endedBefore returns the result of an earlier run of this call, if that run has ended the packet. Otherwise it returns
// only the book.
func (w *writer) endedBefore(j *endJob) (redpacket.Closed, error) {
	b := j.book
	var seq int64
	if found, err := w.Row(`select done_seq from packets where id = $1 /*! and bucket = bucket_of($1) */`, []any{j.ID}, &seq); err != nil || !found {
		return redpacket.Closed{}, err
	}
	done, err := tables.ReadEntry(w, b.Packet.Room, seq)
	if err != nil {
		return redpacket.Closed{}, err
	}
	if done.ID != j.EntryID {
		return redpacket.Closed{Book: b}, nil
	}
	if j.missing, err = tables.List(w, scanGrant, `select user_id, share_no, wave from claims where packet_id = $1 /*! and bucket = bucket_of($1) */ and transfer = any($2)`, j.ID, j.ids()); err != nil {
		return redpacket.Closed{}, err
	}
	closed := redpacket.Closed{Done: true, Book: b, Entry: done, Inserted: j.inserted()}
	closed.Accounts, err = w.accounts(j.paidUsers())
	if err != nil {
		return redpacket.Closed{}, fmt.Errorf("read accounts: %w", err)
	}
	return closed, nil
}

// findMissing finds the caller's grants without a claim in SQL whose user and share have no other claim either. It
// leaves out grants that Postgres has refused, and those of shares that do not exist.
func (j *endJob) findMissing() {
	type winner struct { // wins at most one share
		user string
		wave int
	}
	users, shares := map[winner]bool{}, make([]bool, len(j.book.Shares))
	for _, p := range j.book.Claims {
		users[winner{p.User.ID, p.Wave}], shares[p.Share] = true, true
	}
	j.missing = nil
	for _, g := range j.Grants {
		if g.Share < 0 || g.Share >= len(shares) || shares[g.Share] || users[winner{g.User, g.Wave}] || j.refused[g] {
			continue
		}
		users[winner{g.User, g.Wave}], shares[g.Share] = true, true
		j.missing = append(j.missing, g)
		if j.transferIDs[g] == "" {
			j.transferIDs[g] = chat.NewID(j.At)
		}
	}
}

// refundAmount returns what no claim or missing grant takes. It goes back to the sender.
func (j *endJob) refundAmount() (redpacket.Money, error) {
	b := &j.book
	left := b.Packet.Total
	for _, p := range b.Claims {
		left -= p.Amount
	}
	for _, g := range j.missing {
		left -= b.Shares[g.Share]
	}
	if left < 0 { // impossible unless the database was tampered with: fail, so that no wrong amount is paid
		return 0, fmt.Errorf("packet %s has paid %d more than its total", j.ID, -left)
	}
	return left, nil
}

// inserted returns those claims that this call has added.
func (j *endJob) inserted() (found []redpacket.Paid) {
	added := maps.Clone(j.paidBefore)
	for _, g := range j.missing {
		added[g] = true
	}
	for _, p := range j.book.Claims {
		if added[redpacket.Grant{User: p.User.ID, Share: p.Share}] {
			found = append(found, p)
		}
	}
	return found
}

// paidUsers returns the users that this call pays, sorted and unique. They include the sender if there is a refund.
func (j *endJob) paidUsers() []string {
	users := map[string]bool{}
	for _, g := range j.missing {
		users[g.User] = true
	}
	for g := range j.paidBefore {
		users[g.User] = true
	}
	if j.book.Refunded > 0 {
		users[j.book.Packet.From.ID] = true
	}
	return slices.Sorted(maps.Keys(users))
}

func (j *endJob) ids() []string { return slices.Collect(maps.Values(j.transferIDs)) }

// settleSeparately settles each missing grant as a claim of its own, to find those that Postgres refuses. The money of
// a refused grant becomes part of the refund. settleSeparately returns an error if it stays unknown whether a grant is
// refused. Other grants may then be paid already.
func (s *Store) settleSeparately(ctx context.Context, j *endJob) error {
	claims := make([]redpacket.Claim, len(j.missing))
	for i, g := range j.missing {
		claims[i] = redpacket.Claim{Ref: j.Ref, Share: g.Share, Wave: g.Wave, User: g.User, At: j.At}
	}
	settled := s.Settle(ctx, claims)
	for i, v := range settled {
		switch v.Verdict {
		case redpacket.PaidNow:
			j.paidBefore[j.missing[i]] = true
		case redpacket.Unpayable, redpacket.Unbound:
			j.refused[j.missing[i]] = true
			s.log.Error("grant refused by Postgres", "packet", j.ID, "share", j.missing[i].Share, "why", v.Why)
		}
	}
	return redpacket.UnsettledErr(settled)
}

// payOut pays the missing grants and the refunds of the jobs, and stores the accounts after that. The packets must be locked, so that
// no other claim is added. If a job has missing grants, payOut reads the packet's claims again.
func (w *writer) payOut(jobs []*endJob) error {
	paid := map[string]bool{}
	for _, j := range jobs {
		j.closed.Accounts = map[string]redpacket.Account{}
		for _, user := range j.paidUsers() {
			paid[user] = true
		}
	}
	if len(paid) == 0 {
		return nil
	}
	users := slices.Sorted(maps.Keys(paid))
	var accounts map[string]redpacket.Account
	var batch pgx.Batch
	w.queueSeeds(&batch, users)
	for _, j := range jobs {
		if err := j.queueMissing(w, &batch); err != nil {
			return err
		}
	}
	w.queueCredits(&batch, jobs)
	for _, j := range jobs {
		if b := &j.book; b.Refunded > 0 {
			w.queueTransfer(&batch, tables.RefundTransfer(j.refundID, j.ID, b.Packet.From.ID, b.Refunded, j.At))
		}
		if len(j.missing) > 0 {
			batch.Queue(tables.ClaimsQuery, j.ID).Query(func(rs pgx.Rows) (err error) {
				j.book.Claims, err = pg.Collect(rs, tables.ScanPaid)
				return err
			})
		}
	}
	w.queueAccounts(&batch, users, &accounts)
	if err := w.SendBatch(&batch); err != nil {
		return err
	}
	for _, j := range jobs {
		for _, user := range j.paidUsers() {
			j.closed.Accounts[user] = accounts[user]
		}
	}
	return nil
}

// queueCredits makes the batch add each user's money to the wallet with one write. Wallets are locked in order of
// users, on Citus by bucket first.
func (w *writer) queueCredits(batch *pgx.Batch, jobs []*endJob) {
	sums := map[string]redpacket.Money{}
	for _, j := range jobs {
		for _, g := range j.missing {
			sums[g.User] += j.book.Shares[g.Share]
		}
		if j.book.Refunded > 0 {
			sums[j.book.Packet.From.ID] += j.book.Refunded
		}
	}
	users := slices.Sorted(maps.Keys(sums))
	groups, order := map[int][]string{0: users}, []int{0}
	if w.Citus { // one statement would lock rows of several buckets in any order
		groups, order = byBucket(users, func(user string) string { return user })
	}
	for _, n := range order {
		amounts := make([]redpacket.Money, len(groups[n]))
		for i, user := range groups[n] {
			amounts[i] = sums[user]
		}
		if len(amounts) > 0 {
			queueCredit(batch, groups[n], amounts)
		}
	}
}

// queueMissing makes the batch insert the claims and the transfers of the missing grants.
func (j *endJob) queueMissing(w *writer, batch *pgx.Batch) error {
	n := len(j.missing)
	if n == 0 {
		return nil
	}
	shares, users, amounts, transfers, waves := make([]int32, n), make([]string, n), make([]redpacket.Money, n), make([]string, n), make([]int32, n)
	leaves := make([]chain.Hash, n)
	for i, g := range j.missing {
		shares[i], users[i], amounts[i], transfers[i] = int32(g.Share), g.User, j.book.Shares[g.Share], j.transferIDs[g]
		waves[i] = int32(g.Wave)
		w.refs.Claim(j.ID, g.Share)
		leaves[i] = chain.ClaimLeaf(redpacket.Claim{Ref: j.Ref, Share: g.Share, User: g.User, At: j.At}, amounts[i], transfers[i])
	}
	link, err := w.Chained(leaves...)
	if err != nil {
		return err
	}
	batch.Queue(`insert into claims (/*! bucket, */ packet_id, share_no, user_id, amount, at, transfer, link, wave)
		select /*! bucket_of($1), */ $1, i.share_no, i.user_id, i.amount, $2, i.id, $7, i.wave
		from unnest($3::int[], $4::text[], $5::bigint[], $6::text[], $8::int[]) i (share_no, user_id, amount, id, wave)`,
		j.ID, j.At.UnixMilli(), shares, users, amounts, transfers, link, waves)
	batch.Queue(`insert into transfers (/*! bucket, */ id, at, debit, credit, amount, kind, user_id, packet_id, share_no)
		select /*! bucket_of(i.user_id), */ i.id, $2::bigint, 'packet:' || $1::text, 'user:' || i.user_id, i.amount, 'claim', i.user_id, $1::text, i.share_no
		from unnest($3::int[], $4::text[], $5::bigint[], $6::text[]) i (share_no, user_id, amount, id)`,
		j.ID, j.At.UnixMilli(), shares, users, amounts, transfers)
	return nil
}

func scanGrant(rs tables.Row) (g redpacket.Grant, err error) {
	err = rs.Scan(&g.User, &g.Share, &g.Wave)
	return g, err
}
