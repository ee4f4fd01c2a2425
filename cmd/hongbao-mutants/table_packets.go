package main

// packetMutants break the rules of package redpacket.
var packetMutants = []mutant{
	{
		file: "redpacket/flow.go",
		old: `	if err := f.pool.Load(ctx, i); err != nil {
		return poolError{err}
	}
	return nil`,
		new:   `	return f.pool.Load(ctx, i)`,
		tests: "-run=PoolThatCannotLoad ./redpacket",
		harm:  "packets that a sick Redis cannot take are closed half a minute later, as if they were at fault themselves",
	},
	{
		file:  "redpacket/closing.go",
		old:   `	s.wallets.clear()` + "\n",
		new:   ``,
		tests: "-run=WalletPushAfterForget ./redpacket",
		harm:  "after a loss of commits users see a balance that the database does not have",
	},
	{
		file:  "redpacket/grab.go",
		old:   `most != NoLimit && int64(used.Received) >= most`,
		new:   `most != NoLimit && int64(used.Received) > most`,
		tests: "-run=ReceivedLimitCounts ./redpacket",
		harm:  "a user that has received exactly the limit of the day gets another share",
	},
	{
		file:  "redpacket/closing.go",
		old:   `	s.unknown.clear()` + "\n",
		new:   ``,
		tests: "-run=PacketThatCameBack ./redpacket",
		harm:  "a packet that a failover has hidden for a moment is not found on this instance",
	},
	{
		file:  "redpacket/memory.go",
		old:   `case age >= 2*r.keep:`,
		new:   `case age >= 2000*r.keep:`,
		tests: "-run=PacketThatCameBack ./redpacket",
		harm:  "a packet that was looked up before its commit was visible is found only seconds later than promised",
	},
	{
		file:  "redpacket/memory.go",
		old:   `context.WithTimeout(context.WithoutCancel(ctx), detachedTimeout)`,
		new:   `context.WithTimeout(ctx, detachedTimeout)`,
		tests: "-run=SharedImage ./redpacket",
		harm:  "one caller that gives up fails the lookups of all that share its read",
	},
	{
		file:  "redpacket/closing.go",
		old:   `		s.busyCloses.fail(p.ID, s.o.Now())`,
		new:   `		s.recloses.fail(p.ID, s.o.Now())`,
		tests: "-run=BusyClose ./redpacket",
		harm:  "packets of one room that expire together are closed half a minute late",
	},
	{
		file:  "redpacket/closing.go",
		old:   ` || errors.Is(err, context.DeadlineExceeded)`,
		new:   ``,
		tests: "-run=SlowClose ./redpacket",
		harm:  "packets whose closes had no answer on a busy machine are closed half a minute late",
	},
	{
		file:  "redpacket/grab.go",
		old:   `err == nil && book.Status != Open {`,
		new:   `err == nil {`,
		tests: "-run=CloseInProgress ./redpacket",
		harm:  "the unfinished book of an open packet is kept as its end: winners that are paid later are answered expired",
	},
	{
		file:  "redpacket/grab.go",
		old:   `	case v.last:`,
		new:   `	case v.last && v.ended:`,
		tests: "-run=NinePeople|OtherInstances ./redpacket",
		harm:  "a packet whose last share is claimed is closed only two seconds later, by the sweep",
	},
	{
		file: "redpacket/grab.go",
		old: `	if !standing.Ever {
		return Result{}, chat.ErrNotFound
	}
	r := Result{`,
		new:   `	r := Result{`,
		tests: "-run=OrderOfChecks ./redpacket",
		harm:  "a stranger learns how a packet of a private room has ended",
	},
	{
		file:  "redpacket/grab.go",
		old:   `if k.stall.refuses(s.o.Now()) {`,
		new:   `if false && k.stall.refuses(s.o.Now()) {`,
		tests: "-run=LockedPacketLeavesTheOutboxToOthers ./redpacket",
		harm:  "grabs of one locked packet fill the outbox of all packets of its partition",
	},
	{
		file:  "redpacket/persons.go",
		old:   `context.WithoutCancel(ctx)`,
		new:   `ctx`,
		tests: "-run=HangsUp ./redpacket",
		harm:  "a grab whose client hangs up after the grant is settled only seconds later, by recovery",
	},
	{
		file: "redpacket/flow.go",
		old: `		if err := f.ledger.OutOfReach(); err != nil {
			return grabbed{}, err
		}
		ans, err`,
		new:   `		ans, err`,
		tests: "-run=NothingIsGrantedWhileTheLedgerIsDown ./redpacket",
		harm:  "shares are granted while SQL is down, and fill the outbox with claims that cannot be settled",
	},
	{
		file:  "redpacket/flow.go",
		old:   `if ans.Decision == Granted && s.Share == ans.Share {`,
		new:   `if ans.Decision == Granted {`,
		tests: "-run=Duplicate ./redpacket",
		harm:  "a user that has a share already is told a second time that it has won",
	},
	{
		file:  "redpacket/flow.go",
		old:   `if s.Share != c.Share {`,
		new:   `if false {`,
		tests: "-run=Duplicate ./redpacket",
		harm:  "a share that the Pool has granted to a user with another share stays taken, and is refunded at the end",
	},
	{
		file: "redpacket/flow.go",
		old: `		case Conflict, TooLate:
			wrong = append(wrong, c.ID)
		case Unpayable`,
		new: `		case Conflict, TooLate:
		case Unpayable`,
		tests: "-run=StaleGrant|Simulator$ ./redpacket",
		harm:  "the Pool grants the same taken share again and again",
	},
	{
		file: "redpacket/flow.go",
		old: `cmp.Or(err, failed)
			continue
		}
		for _, c := range group {`,
		new: `cmp.Or(err, failed)
		}
		for _, c := range group {`,
		tests: "-run=Quarantine|Unpayable|Simulator$ ./redpacket",
		harm:  "a claim whose quarantine has failed leaves the outbox, and nothing in the system knows of it any more",
	},
	{
		file:  "redpacket/flow.go",
		old:   `_ = f.load(ctx, closed.Book.image())`,
		new:   `_ = f.load(ctx, Image{Ref: p, Status: closed.Book.Status})`,
		tests: "-run=Simulator$ ./redpacket",
		harm:  "winners whose grant the Pool has lost are answered expired for an hour",
	},
	{
		file:  "redpacket/flow.go",
		old:   `case !closing.Missing:`,
		new:   `case copies == 0:`,
		tests: "-run=Simulator$|Backstop ./redpacket",
		harm:  "a packet that the Pool does not have is closed without its grants, and their users are refused",
	},
	{
		file:  "redpacket/flow.go",
		old:   `case o.ExpiresAt.Add(overdueBy).Before(now), `,
		new:   `case `,
		tests: "-run=Backstop ./redpacket",
		harm:  "a packet whose due date the Pool has lost stays open, and its sender gets no refund",
	},
	{
		file:  "redpacket/flow.go",
		old:   `slices.Chunk(lacking, settleBatch) {`,
		new:   `slices.Chunk(lacking[:0], settleBatch) {`,
		tests: "-run=UnpayableClaim ./redpacket",
		harm:  "one claim that SQL refuses keeps its packet open for ever",
	},
	{
		file:  "redpacket/flow.go",
		old:   `				grants = slices.DeleteFunc(slices.Clone(grants), func(g Grant) bool { return g == Grant{User: c.User, Share: c.Share, Wave: c.Wave} })`,
		new:   ``,
		tests: "-run=UnpayableClaim|Simulator$ ./redpacket",
		harm:  "one claim that SQL refuses keeps its packet open for ever",
	},
	{
		file:  "redpacket/flow.go",
		old:   `if f.full[i].Swap(false) && i != f.counted {`,
		new:   `if false {`,
		tests: "-run=Recount ./redpacket",
		harm:  "a partition whose count is wrong refuses all grabs for a minute",
	},
	{
		file: "redpacket/recovery.go",
		old: `	if down := r.flow.ledger.OutOfReach(); err != nil && down != nil {
		return down
	}
`,
		new:   ``,
		tests: "-run=NoClaimIsSetAside ./redpacket",
		harm:  "after an outage of SQL all claims wait up to a minute longer than needed",
	},
	{
		file:  "redpacket/recovery.go",
		old:   `s.packets[c.ID] || !goesOn[c.ID]`,
		new:   `true`,
		tests: "-run=StuckRows ./redpacket",
		harm:  "one locked wallet delays all other claims of its packet to the next pass",
	},
	{
		file:  "redpacket/closing.go",
		old:   `if p.used[at] >= closesAtOnce || p.lost[at] && p.used[at] > 0 {`,
		new:   `if p.used[at] >= closesAtOnce {`,
		tests: "-run=CloseSlots ./redpacket",
		harm:  "closes on a dead node of Redis occupy 32 goroutines instead of one",
	},
	{
		file:  "redpacket/send.go",
		old:   `if !used {`,
		new:   `if !used || bad != nil {`,
		tests: "-run=KeyOfAPacket|Recipients|Clocks ./redpacket",
		harm:  "a repeated request is refused although its packet was sent: the client sends the money once more",
	},
	{
		file:  "redpacket/send.go",
		old:   `if err != nil || sent.Dup {`,
		new:   `if err != nil {`,
		tests: "-run=RepeatedSend ./redpacket",
		harm:  "a repeated request publishes the packet's entry and the change of the wallet once more",
	},
	{
		file:  "redpacket/send.go",
		old:   `r.TTL.String(), r.Passphrase,`,
		new:   `r.TTL.String(),`,
		tests: "-run=KeyOfAPacketForSome ./redpacket",
		harm:  "a key that is reused with another passphrase is taken for a repetition",
	},
	{
		file:  "redpacket/send.go",
		old:   `err := sender.MaySend(s.o.Now()); err != nil {`,
		new:   `err := sender.MaySend(s.o.Now()); err != nil && sender.Ever {`,
		tests: "-run=Recipient ./redpacket",
		harm:  "a stranger finds out which users are members of a private room",
	},
	{
		file: "redpacket/events.go",
		old: `	if k.final.Load() != nil {
		return nil, false
	}
`,
		new:   ``,
		tests: "-run=Progress ./redpacket",
		harm:  "progress of a packet is published after its end",
	},
	{
		file: "redpacket/service.go",
		old: `	if !c.Done {
		return
	}
`,
		new:   ``,
		tests: "-run=EndIsPublishedOnce ./redpacket",
		harm:  "an instance that finds a packet ended by another one publishes its end once more",
	},
	{
		file: "redpacket/grab.go",
		old: `	if !known {
		if err := g.takeGuess`,
		new: `	if known {
		if err := g.takeGuess`,
		tests: "-run=Guess|Passphrase ./redpacket",
		harm:  "passphrases can be guessed without limit",
	},
	{
		file:  "redpacket/grab.go",
		old:   `"passphrase-packet:"+packet`,
		new:   `"passphrase-packet:"+guesser`,
		tests: "-run=Guess|Passphrase ./redpacket",
		harm:  "each account of an attacker adds its own tries at a passphrase",
	},
	{
		file:  "redpacket/proof/proof.go",
		old:   `lo, hi := int64(1), max(1, 2*left/k-1)`,
		new:   `lo, hi := int64(1), max(1, 2*left/k)`,
		tests: "-run=Cut ./redpacket/proof",
		harm:  "shares differ from the published rule: every proof fails",
	},
	{
		file:  "redpacket/proof/proof.go",
		old:   `for i := len(shares) - 1; i >= 1; i-- {`,
		new:   `for i := len(shares) - 1; i >= 2; i-- {`,
		tests: "-run=Cut ./redpacket/proof",
		harm:  "the first two places in the order of claims are not equally good",
	},
	{
		file:  "redpacket/proof/draw.go",
		old:   `cmp.Compare(a.ticket, b.ticket)`,
		new:   `cmp.Compare(a.leaf, b.leaf)`,
		tests: "-run=Draw ./redpacket/proof",
		harm:  "the first to enter wins the draw",
	},
	{
		file:  "redpacket/proof/draw.go",
		old:   `		mac.Write(leaves[i][:])`,
		new:   `		mac.Write(append(leaves[i][:], byte(len(leaves))))`,
		tests: "-run=Steered ./redpacket/proof",
		harm:  "a server that knows the seed has users enter until its friends win",
	},
	{
		file: "redpacket/proof/merkle.go",
		old: `	text[0] = 1
`,
		new:   ``,
		tests: "-run=Draw|Root ./redpacket/proof",
		harm:  "the root is none of RFC 6962: an inner node can be shown as a participant",
	},
	{
		file:  "redpacket/proof/merkle.go",
		old:   `	return last == 0 && node == root`,
		new:   `	return node == root`,
		tests: "-run=Inclu|Included ./redpacket/proof",
		harm:  "a path that is too short proves that a participant was included",
	},
	{
		file:  "redpacket/proof/document.go",
		old:   `r.Wave, r.User); !strings.EqualFold(`,
		new:   `r.Wave, r.User); false && !strings.EqualFold(`,
		tests: "-run=ProofsGolden ./redpacket/proof",
		harm:  "a receipt for the leaf of another user passes",
	},
	{
		file:  "redpacket/proof/document.go",
		old:   `	if Root(leaves) != root {`,
		new:   `	if false && Root(leaves) != root {`,
		tests: "-run=ProofsGolden ./redpacket/proof",
		harm:  "a proof passes from which a participant was dropped",
	},
	{
		file:  "redpacket/proof/document.go",
		old:   `bytes.Compare(leaves[i-1][:], leaves[i][:]) >= 0 {`,
		new:   `bytes.Compare(leaves[i-1][:], leaves[i][:]) > 0 {`,
		tests: "-run=ProofsGolden ./redpacket/proof",
		harm:  "a proof passes in which one user took part twice",
	},
	{
		file:  "redpacket/grab.go",
		old:   `p.EarlierMembers && standing.JoinedBefore(p.Seq) {`,
		new:   `false && p.EarlierMembers {`,
		tests: "-run=ReturnByAnotherInstance ./redpacket",
		harm:  "a user that comes back by another instance grabs a packet for earlier members",
	},
	{
		file:  "redpacket/grab.go",
		old:   `case p.EarlierMembers && !standing.JoinedBefore(p.Seq):`,
		new:   `case p.EarlierMembers && !standing.In:`,
		tests: "-run=OnlyEarlierMembersGrab ./redpacket",
		harm:  "robots that join for a packet for earlier members empty it",
	},
	{
		file:  "redpacket/lobby/lobby.go",
		old:   `if hasShares || l.o.Now().Sub(l.last.CreatedAt) < minPause {`,
		new:   `if hasShares {`,
		tests: "-run=Pause ./redpacket/lobby",
		harm:  "a program of many guests draws money from the lobby without end",
	},
	{
		file:  "redpacket/lobby/lobby.go",
		old:   `"welcome-"+cmp.Or(l.last.ID, "first")`,
		new:   `"welcome-"+cmp.Or(chat.NewID(l.o.Now()), l.last.ID)`,
		tests: "-run=Instances ./redpacket/lobby",
		harm:  "each instance pays for a welcome packet of its own",
	},
	{
		file:  "redpacket/send.go",
		old:   `if r.EarlierMembers { //`,
		new:   `if false { //`,
		tests: "-run=KeyOfAPacketForSome ./redpacket",
		harm:  "a key that was used for a packet for all members answers for one for earlier members",
	},
	{
		file:  "redpacket/send.go",
		old:   `if r.Skin != "" {`,
		new:   `if false {`,
		tests: "-run=KeyOfAPacketForSome ./redpacket",
		harm:  "a key that was used for a packet answers for one with another skin",
	},
	{
		file:  "store/tables/joining.go",
		old:   `joined_seq = excluded.joined_seq, chosen`,
		new:   `chosen`,
		tests: "-run=OnlyEarlierMembersGrab ./redpacket",
		harm:  "for packets for earlier members, a user that comes back counts from the first joining",
	},
	{
		file:  "store/sqlitestore/send.go",
		old:   `open >= o.MaxOpen`,
		new:   `open > o.MaxOpen`,
		tests: "-run=^TestLedger$/send ./store/sqlitestore",
		harm:  "a user has one packet more open than allowed",
	},
}
