package main

// secretMutants break what hides passphrases and seeds from a reader of the database.
var secretMutants = []mutant{
	{
		file:  "store/tables/users.go",
		old:   `set code_hash = null where id = $1 and code_hash = $2`,
		new:   `set code_hash = code_hash where id = $1 and code_hash = $2`,
		tests: "-run=Store ./store/sqlitestore",
		harm:  "a device code signs in twice: a later reader of the link takes the guest over",
	},
	{
		file: "store/tables/users.go",
		old: `do update set code_hash = null,
				not_before`,
		new:   `do update set not_before`,
		tests: "-run=Store ./store/sqlitestore",
		harm:  "a guest that was signed out everywhere is taken over with a device code",
	},
	{
		file:  "store/secret/keys.go",
		old:   `return []byte(column + "\x00" + row)`,
		new:   `return []byte(column)`,
		tests: "-run=Value ./store/secret",
		harm:  "a value that was copied from another row is believed",
	},
	{
		file:  "store/sqlitestore/send.go",
		old:   `o.Hash = w.keys.RequestHash(o.Hash)`,
		new:   `_ = w.keys`,
		tests: "-run=TestSecrets ./store/sqlitestore",
		harm:  "a reader of the database tries passphrases on the hash of the request",
	},
	{
		file:  "store/chain/chain.go",
		old:   `"hongbao/packet/2", nil, p.EncryptedSeed`,
		new:   `"hongbao/packet/2", nil, nil`,
		tests: "-run=AuditWithDataKey ./store/sqlitestore",
		harm:  "the audit does not find an encrypted seed that was changed",
	},
}

// sqliteMutants break the rules of the embedded store.
var sqliteMutants = []mutant{
	{
		file:  "store/sqlitestore/settle.go",
		old:   `&& !errors.Is(err, errWholeCommit)`,
		new:   `&& err != errWholeCommit`,
		tests: "-run=FailedCommitBlames ./store/sqlitestore",
		harm:  "a commit whose link or event row is refused puts all its claims into quarantine",
	},
	{
		file:  "store/sqlitestore/events.go",
		old:   `coalesce((select max(id) from events where chain = 0), 0), coalesce((select max(id) from event_marks)`,
		new:   `coalesce((select max(id) from events), 0), coalesce((select max(id) from event_marks)`,
		tests: "-run=TestStatementsReadFewRows$ ./store/sqlitestore",
		harm:  "each commit reads all rows of the event stream: with a million of them a grab takes 100 ms",
	},
	{
		file:  "store/tables/consumers.go",
		old:   `queueAdvance(&b, c, no+int64(len(held)))`,
		new:   `queueAdvance(&b, c, no)`,
		tests: "-run=TestEvents/the_number ./store/sqlitestore",
		harm:  "an instance that has lost its lease drops an event that was held later",
	},
	{
		file:  "store/sqlitestore/commit.go",
		old:   `return s.files.check()`,
		new:   `return nil`,
		tests: "-run=LostFiles ./store/sqlitestore",
		harm:  "commits into a deleted write-ahead log are acknowledged, and lost at the next start",
	},
	{
		file:  "store/sqlitestore/commit.go",
		old:   `			continue // its caller has given it up`,
		new:   `			_ = j // its caller has given it up`,
		tests: "-run=NeverBegins ./store/sqlitestore",
		harm:  "a job whose caller was answered runs later, and writes into memory that the caller uses",
	},
	{
		file:  "chat/change.go",
		old:   `case (target.Standing.Left || target.Refuses || !target.Known) && !c.By.IsSystem():`,
		new:   `case (target.Refuses || !target.Known) && !c.By.IsSystem():`,
		tests: "-run=ComesBackToAPrivateRoom ./chat",
		harm:  "an invitation drags a user back to a room that the user has left",
	},
	{
		file: "chat/change.go",
		old: `	case !target.Known && c.By.IsSystem():
		return Ruling{}, unknownUser()`,
		new: `	case !target.Known:
		return Ruling{}, unknownUser()`,
		tests: "-run=TestUnknownUsers ./chat",
		harm:  "a user finds out which ids exist by banning them from a room of their own",
	},
	{
		file:  "store/tables/contacts.go",
		old:   `if err = row.Scan(&u.ID, &u.Name, &u.Avatar, &known); !known {`,
		new:   `if err = row.Scan(&u.ID, &u.Name, &u.Avatar, &known); false {`,
		tests: "-run=TestProbesOfIDs ./web",
		harm:  "a user learns the name and avatar of any other by a block",
	},
	{
		file:  "chat/rooms.go",
		old:   `(r.Kind != Public || r.Deleted`,
		new:   `(r.Deleted`,
		tests: "-run=RoomIsFoundByItsID ./chat",
		harm:  "anyone that knows the id of a private room reads its name and its size, also without a token",
	},
	{
		file:  "chat/links.go",
		old:   `err := by.MaySend(now)`,
		new:   `err := by.MayRead()`,
		tests: "-run=TestWhoMayInvite ./chat",
		harm:  "a muted member brings helpers into the room",
	},
	{
		file:  "chat/links.go",
		old:   `r.Inviters() == AdminsInvite &&`,
		new:   `r.Invite == AdminsInvite &&`,
		tests: "-run=TestWhoMayInvite ./chat",
		harm:  "every member brings others into a private room",
	},
	{
		file:  "chat/links.go",
		old:   `l.MaxUses == 0 || l.Uses < l.MaxUses`,
		new:   `l.MaxUses == 0 || l.Uses <= l.MaxUses`,
		tests: "-run=TestInviteLink ./chat",
		harm:  "a link for one friend lets in two",
	},
	{
		file:  "chat/links.go",
		old:   ` && room.mayInvite(l.By, now) == nil`,
		new:   ``,
		tests: "-run=TestInviteLink ./chat",
		harm:  "a banned member comes back as another user, by a link made before",
	},
	{
		file:  "chat/chat.go",
		old:   `if r.NoGuests && (User{ID: user}).Guest() {`,
		new:   `if r.NoGuests && user == GuestPrefix {`,
		tests: "-run=TestGuestsStayOut ./chat",
		harm:  "a banned guest comes back as another guest",
	},
	{
		file:  "store/tables/append.go",
		old:   `if deserted && e.Kind.Content() {`,
		new:   `if deserted && !e.Kind.Content() {`,
		tests: "-run=BringsBackOnlyTheCaller ./chat",
		harm:  "a blocked user writes into the direct room",
	},
	{
		file:  "store/sqlitestore/db.go",
		old:   `"synchronous(FULL)"`,
		new:   `"synchronous(NORMAL)"`,
		tests: "-run=PowerLoss ./store/sqlitestore",
		harm:  "a power cut takes back payments that were answered",
	},
	{
		file:  "store/sqlitestore/db.go",
		old:   `"secure_delete(ON)"`,
		new:   `"secure_delete(OFF)"`,
		tests: "-run=Recalled ./store/sqlitestore",
		harm:  "a recalled text stays readable in the database file",
	},
	{
		file: "store/sqlitestore/send.go",
		old: `	if err := standing.MaySend(o.Packet.CreatedAt); err != nil {
		return redpacket.Sent{}, err
	}
`,
		new:   `	_ = standing` + "\n",
		tests: "-run=^TestLedger$ ./store/sqlitestore",
		harm:  "a muted or kicked user sends packets",
	},
	{
		file:  "store/sqlitestore/settle.go",
		old:   `if status == redpacket.Open {`,
		new:   `if status != "" {`,
		tests: "-run=^TestLedger$ ./store/sqlitestore",
		harm:  "a share is paid after its refund",
	},
	{
		file:  "store/sqlitestore/settle.go",
		old:   `n == 0 {`,
		new:   `err != nil || n < 0 {`,
		tests: "-run=^TestLedger$ ./store/sqlitestore",
		harm:  "a repeated claim is credited once more",
	},
	{
		file:  "store/sqlitestore/account.go",
		old:   `where user_id = ? and balance >= ? and frozen_at = 0 returning 1`,
		new:   `where user_id = ? and balance > ? and frozen_at = 0 returning 1`,
		tests: "-run=^TestLedger$ ./store/sqlitestore",
		harm:  "a user cannot spend its whole balance",
	},
	{
		file:  "store/sqlitestore/end.go",
		old:   `case len(b.Claims) == b.Packet.Count:`,
		new:   `case len(b.Claims) >= b.Packet.Count-1:`,
		tests: "-run=^TestLedger$ ./store/sqlitestore",
		harm:  "a packet with a free share counts as drained",
	},
	{
		file: "store/sqlitestore/commit.go",
		old: `		if _, err := w.Exec("rollback to job"); err != nil {
			return err
		}
`,
		new:   ``,
		tests: "-run=FailingJob ./store/sqlitestore",
		harm:  "a refused request is committed as far as it came",
	},
	{
		file:  "store/tables/requests.go",
		old:   `if !q.Keys().SameRequest(stored, hash) {`,
		new:   `if false && !q.Keys().SameRequest(stored, hash) {`,
		tests: "-run=^TestLedger$|^TestStore$ ./store/sqlitestore",
		harm:  "a key that is reused for another request is answered with the first one's result",
	},
	{
		file:  "store/tables/wallets.go",
		old:   `if credit <= 0 || circulating <= redpacket.MaxMoney {`,
		new:   `if true {`,
		tests: "-run=^TestLedger$ ./store/sqlitestore",
		harm:  "more money is credited than the sums can hold",
	},
	{
		file:  "store/tables/leaving.go",
		old:   `set role = 'owner', muted_until = 0`,
		new:   `set role = 'owner'`,
		tests: "-run=^TestStore$ ./store/sqlitestore",
		harm:  "a muted member becomes an owner that nobody can unmute",
	},
}

// postgresMutants break the rules of the store that several instances share.
var postgresMutants = []mutant{
	{
		file:  "store/pgstore/internal/batch/batch.go",
		old:   `errs[i] = c.answer(waiting, t)`,
		new:   `errs[i] = c.answer(context.WithoutCancel(waiting), t)`,
		tests: "-run=HungBatch ./store/pgstore/internal/batch",
		harm:  "while commits hang, callers wait for the batches before their own and get no answer in 5 s",
	},
	{
		file:  "store/pgstore/faults.go",
		old:   `return c == "57014" || c == "53200" || pg.SQLClass(c) == "58"`,
		new:   `return c == "53200" || pg.SQLClass(c) == "58"`,
		tests: "-run=ExhaustedMachine ./store/pgstore",
		harm:  "healthy claims go into quarantine while statements of a busy server are cancelled",
	},
	{
		file:  "store/pgstore/internal/batch/lanes.go",
		old:   `now.Sub(s.last) > starvedGap || s.wrote == l.wrote {`,
		new:   `now.Sub(s.last) > starvedGap {`,
		tests: "-run=ExhaustedRow ./store/pgstore/internal/batch",
		harm:  "claims go into quarantine during an outage that lasts for minutes",
	},
	{
		file:  "store/pgstore/settle.go",
		old:   `[]string{begin, boundStatement(), boundGroup, onlyIndexes}`,
		new:   `[]string{begin, boundGroup, onlyIndexes}`,
		tests: "-run=WritesBoundTheirStatements ./store/pgstore",
		harm:  "the statement_timeout of a role cancels payments",
	},
	{
		file:  "store/pgstore/append.go",
		old:   `mine := j.maybeCommitted && req.entry.ID == d.ID`,
		new:   `mine := req.entry.ID == d.ID`,
		tests: "-run=TriageOfKnownKeys ./store/pgstore",
		harm:  "a message that is sent again is published again",
	},
	{
		file:  "store/pgstore/append.go",
		old:   `mine := j.maybeCommitted && req.entry.ID == d.ID`,
		new:   `mine := j.maybeCommitted`,
		tests: "-run=TriageOfKnownKeys ./store/pgstore",
		harm:  "two calls with one key are both told that they have made the entry",
	},
	{
		file:  "store/pgstore/chains.go",
		old:   `(errors.Is(err, errLost) || pg.SQLState(err) == "")`,
		new:   `errors.Is(err, errLost)`,
		tests: "-run=ReleaseChain ./store/pgstore",
		harm:  "a chain whose newest link is unknown is used again: its next commit is taken for a loss, and a new epoch begins",
	},
	{
		file:  "store/pgstore/send.go",
		old:   `return acc, standings[0].MaySend(p.CreatedAt)`,
		new:   `return acc, nil`,
		tests: "-run=SendDuringAKick ./store/pgstore",
		harm:  "a user that is kicked while it sends gets its packet into the room",
	},
	{
		file:  "store/pgstore/send.go",
		old:   `queueReadStanding(&b, p.Room, p.From.ID, " for update", &standings)`,
		new:   `queueReadStanding(&b, p.Room, p.From.ID, "", &standings)`,
		tests: "-run=SendDuringAKick ./store/pgstore",
		harm:  "a user that is kicked while it sends gets its packet into the room",
	},
	{
		file:  "store/pgstore/send.go",
		old:   `sent.Dup = !w.maybeCommitted || sent.Packet.ID != o.Packet.ID`,
		new:   `sent.Dup = true`,
		tests: "-run=SendWhoseCommitWasLost ./store/pgstore",
		harm:  "a packet whose commit was lost on the way is not published",
	},
	{
		file: "store/pgstore/send.go",
		old: `for update` + "`" + `, user).QueryRow(func(row pgx.Row) error {
		return noRowsOK`,
		new: "`" + `, user).QueryRow(func(row pgx.Row) error {
		return noRowsOK`,
		tests: "-run=InstancesSendFromOneWallet ./store/pgstore",
		harm:  "two packets of one user have the same seed: the shares of the second are known in advance",
	},
	{
		file:  "store/pgstore/chains.go",
		old:   `func (l *link) committedWithout() { l.opened, l.sent = false, false }`,
		new:   `func (l *link) committedWithout() { l.opened = false }`,
		tests: "-run=TestUnpaidClaimsKeepTheirChain ./store/pgstore",
		harm:  "repeated grabs use up the hash chains",
	},
	{
		file:  "store/tables/joining.go",
		old:   `else count(*) - $3 end`,
		new:   `else 0 end`,
		tests: "-run=TestStore/writing_into_rooms ./store/pgstore",
		harm:  "others put a user into rooms without end",
	},
	{
		file:  "store/pgstore/settle.go",
		old:   `where id = i.id and closed_at is null for share) p` + "\n)",
		new:   `where id = i.id for share) p` + "\n)",
		tests: "-run=NewClaimsOfAPacketThatHasEnded|SettleWaitsForEnd ./store/pgstore",
		harm:  "a share is paid after its refund",
	},
	{
		file:  "store/pgstore/settle.go",
		old:   `where id = i.id and closed_at is null for share) p` + "\n)",
		new:   `where id = i.id and closed_at is null) p` + "\n)",
		tests: "-run=EndWaitsForSettle|SettleWaitsForEnd ./store/pgstore",
		harm:  "a close overtakes claims: shares are refunded and paid",
	},
	{
		file:  "store/pgstore/settle.go",
		old:   `m.Run(nil, names[1], holdPackets, b.packets)`,
		new:   `_ = holdPackets`,
		tests: "-run=SettleAndEndDoNotDeadlockOnSeeds ./store/pgstore",
		harm:  "a claim and the end of its packet that pay a user without a seed wait for each other",
	},
	{
		file:  "store/pgstore/settle.go",
		old:   `boundStatement(), boundGroup, onlyIndexes}`,
		new:   `boundStatement(), boundGroup}`,
		tests: "-run=PaymentsUseIndexes ./store/pgstore",
		harm:  "while tables of a new database grow, each payment reads them from end to end",
	},
	{
		file:  "store/pgstore/settle.go",
		old:   `ok && n > r.n {`,
		new:   `ok && n < 0 {`,
		tests: "-run=SameClaimTwice|^TestLedger$|Twins ./store/pgstore",
		harm:  "of two claims of one user in a batch, the earlier one is answered as a duplicate of the later one",
	},
	{
		file:  "store/pgstore/end.go",
		old:   `for update` + "`" + `, j.ID)`,
		new:   "`" + `, j.ID)`,
		tests: "-run=EndWaitsForSettle|InstancesEnd ./store/pgstore",
		harm:  "a close overtakes claims: shares are refunded and paid",
	},
	{
		file:  "store/pgstore/end.go",
		old:   `|| users[g.User] || j.refused[g] {`,
		new:   `|| users[g.User] {`,
		tests: "-run=PoisonGrant ./store/pgstore",
		harm:  "one claim that Postgres refuses keeps its packet open for ever",
	},
	{
		file:  "store/pgstore/end.go",
		old:   `case ending && len(j.missing) > 0 && !j.alone:`,
		new:   `case false:`,
		tests: "-run=PoisonGrant ./store/pgstore",
		harm:  "an end that pays a claim which Postgres refuses fails, and the claim is never found",
	},
	{
		file:  "store/pgstore/end.go",
		old:   `if of := byPacket[j.ID]; of != nil {`,
		new:   `if of := byPacket[""]; of != nil {`,
		tests: "-run=EndsShareOneTransaction ./store/pgstore",
		harm:  "two ends of one packet in the same transaction refund it twice",
	},
	{
		file: "store/pgstore/end.go",
		old: `			j.alone = false
			j.maybeCommitted = j.maybeCommitted || w.maybeCommitted`,
		new:   `			j.alone = false`,
		tests: "-run=RerunLeavesOut ./store/pgstore",
		harm:  "the end of a packet whose commit was lost, and whose room was locked then, is told to nobody",
	},
	{
		file:  "store/pgstore/faults.go",
		old:   `return pg.SQLState(err) == "57P01"`,
		new:   `return pg.SQLState(err) == "none"`,
		tests: "-run=EndedSessions ./store/pgstore",
		harm:  "a few sessions that an operator ends by hand make all instances refuse all calls",
	},
	{
		file: "store/sqlitestore/commit.go",
		old: `		if j.taken.CompareAndSwap(false, true) {
			return tables.Unavailable`,
		new: `		if false {
			return tables.Unavailable`,
		tests: "-run=ForeignLock ./store/sqlitestore",
		harm:  "while another process holds the write lock, calls wait for longer than their patience",
	},
	{
		file:  "store/sqlitestore/database.go",
		old:   "return clockFunction + `()`",
		new:   "return clockFunction + `() * 0 + cast(unixepoch('subsec') * 1000 as integer)`",
		tests: "-run=LeaseEndsByTheClock ./store/sqlitestore",
		harm:  "tests of takeovers fail on a machine that stalls for the time of a lease",
	},
	{
		file:  "store/redisstore/store.go",
		old:   `		err = s.pool.Ready(ctx)`,
		new:   `		err = nil`,
		tests: "-run=ReadyRunsWhatAGrabRuns ./store/redisstore",
		harm:  "load balancers send clients to an instance whose Redis refuses every grab",
	},
	{
		file:  "store/pgstore/internal/batch/lanes.go",
		old:   `slices.Chunk(batch, c.work.Most)`,
		new:   `slices.Chunk(batch, maxBatch)`,
		tests: "-run=TransactionsAreBounded ./store/pgstore/internal/batch",
		harm:  "a lane ends hundreds of packets in one transaction, which never finishes in time",
	},
	{
		file: "store/pgstore/append.go",
		old: `	case inserted < int64(len(l.rooms)):
		return tables.ErrRetry
	}`,
		new: `	case inserted < 0:
		return tables.ErrRetry
	}`,
		tests: "-run=InstancesAppend|RepeatedKeys ./store/pgstore",
		harm:  "a text that is sent twice at once through two instances appears twice",
	},
	{
		file:  "store/pgstore/append.go",
		old:   `mine := j.maybeCommitted && req.entry.ID == d.ID`,
		new:   `mine := false`,
		tests: "-run=AppendWhoseCommitWasLost ./store/pgstore",
		harm:  "a text whose commit was lost on the way is not published",
	},
	{
		file: "store/tables/leaving.go",
		old: `	if !now.In || now.Role != role {
		return "", ErrRetry
	}
`,
		new:   `	_ = now.In` + "\n",
		tests: "-run=OneOwner|Concurrent ./store/pgstore",
		harm:  "two members that leave at once leave a room without an owner",
	},
	{
		file:  "store/pgstore/settle.go",
		old:   `b.packets = append(b.packets, j.ID)`,
		new:   `for id := range cut { b.packets = append(b.packets, id) }`,
		tests: "-run=TestClaimBatchLocks ./store/pgstore",
		harm:  "claims wait for the locked packet of a claim that was left out of their batch",
	},
	{
		file:  "store/pgstore/account.go",
		old:   `if recorded == 0 || *unused == 0 {`,
		new:   `if recorded < 0 {`,
		tests: "-run=Adjust|^TestLedger$ ./store/pgstore",
		harm:  "a credit that is requested twice at once is credited twice",
	},
	{
		file:  "store/pgstore/tx.go",
		old:   `w.maybeCommitted = w.maybeCommitted || committing && lost`,
		new:   `w.maybeCommitted = committing && lost && false`,
		tests: "-run=WhoseCommitWasLost ./store/pgstore",
		harm:  "what was committed and lost on the way is answered as a repetition, and never published",
	},
	{
		file:  "store/pgstore/tx.go",
		old:   `w.idled++`,
		new:   `w.idled = 0`,
		tests: "-run=^TestSlowClientGetsMoreTime$ ./store/pgstore",
		harm:  "a change of thousands of members on a busy machine is ended by Postgres in each of its runs",
	},
	{
		file:  "store/pgstore/amend.go",
		old:   `	b.Exec(` + "`update entries set body = $3 `+sealed+` where room_id = $1 /*! and bucket = bucket_of($1) */ and target = $2 and kind = 'edit'`" + `, room, seq, string(chat.EmptyEdit(seq)))` + "\n",
		new:   ``,
		tests: "-run=Recalled ./store/pgstore",
		harm:  "a recalled text stays readable in its edits",
	},
}
