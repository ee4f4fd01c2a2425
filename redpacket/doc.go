// Package redpacket owns splitting, granting and settling money exactly once. It imports chat, for rooms, users and entries.
//
// These words are used in all comments of the package:
//
//   - The mode of a packet says how its total is split: into equal shares, of which some are one unit larger if the total
//     cannot be divided evenly, or into lucky ones, which are random. Its spread says how much lucky shares vary.
//   - A grant is the Pool's decision that a user gets a share. To settle the claim of the grant is to commit the claim in SQL
//     together with the payment into the user's wallet, or to find that it can never be committed. Until then the claim
//     waits in the Pool's outbox. To ack a claim is to remove it from the outbox.
//   - To close a packet is to stop its grants in the Pool and to end the packet in SQL.
//   - The image of a packet is the part of it that the Pool needs, with the claims that SQL has. To copy a packet is to
//     read its image from SQL and to load it into the Pool, which merges it with what the Pool has. To retire a packet is
//     to load its image after SQL has closed or lost the packet. The Pool then grants no share of it, and only answers grabs.
//   - The sweep asks the Pool for packets that are due: their deadline has come, their last share is granted, or a close of
//     them has not ended. The backstop asks SQL for open packets whose deadline is near or has passed, in case the Pool has
//     lost them. Each instance runs both.
//   - An epoch of the database ends when the database goes back in time, for example to a backup (store/lineage).
//
// It must always hold, whatever crashes or loses data in between:
//
//   - The money in wallets and the unpaid money of open packets together equal all credits minus all debits, at
//     every committed state.
//   - A packet pays each share at most once and each user at most once, and refunds the rest exactly once.
//   - A user that was answered "won" has the claim on disk, with that amount. Only a database that loses commits loses it.
//   - A packet that SQL has open is closed soon after its deadline. If no instance can close it then (none runs, an engine is
//     out of reach, or the clocks differ too much), it is closed soon after one can.
//
// Two engines share the work:
//
//   - The Ledger (SQL) is the truth. It makes the first three hold, with unique keys on (packet, share) and
//     (packet, user). Settling and closing lock the same packet row, so neither overtakes the other.
//   - The Pool (memory or Redis) decides, at memory speed, which user gets which share, and refuses the users that come
//     too late. It may lose its data at any time. That costs extra work, never money.
//
// # A packet's life
//
//	         Send (one transaction)
//	              │ commit
//	              ▼
//	┌────────── open ◄───────────────────────────┐
//	│             │ copy: Image reads the packet  │ Missing, Conflict: copy
//	│             ▼ from SQL, Load merges it      │
//	│      granted by the Pool ──► outbox         │
//	│             │ Settle (group commit)         │
//	│             ▼                               │
//	│   PaidNow   ──► publish, queue Ack, answer  │
//	│   Duplicate ──► queue Ack, answer           │
//	│   Conflict ──► queue Ack, copy, grab again ─┘
//	│   Unbound ──► queue Ack, bind the person, grab again
//	│   TooLate  ──► queue Ack, copy, answer expired or empty
//	│
//	│  last share settled │ due (sweep) │ overdue (backstop) │ cancel │ room deleted │ from before the epoch
//	▼
//	Pool.Close: the packet never grants again; returns the grants that the Pool has
//	│ claims that SQL lacks are settled in ordinary batches
//	▼
//	Ledger.End (one transaction, shared by packets that end together): inserts the claims still missing, refunds total - sum(claims),
//	│ reveals the seed, appends packet_done
//	▼
//	drained | expired | cancelled ──► Load, which retires it
//
// A draw (draw.go) takes another way to its grants. The Pool has no part in it: Ledger.Enter adds participants, Ledger.Draw ends the
// entering, and the seed says which participant is granted which share. From there on it is closed like every packet.
//
// # The rules, and what goes wrong without each (simulator_test.go shows it)
//
//   - Load merges SQL's image with the one in the Pool. It drops only grants that contradict SQL, and reopens no packet.
//     Otherwise it loses grants that are not in SQL yet, their shares are given to other users, and the users that were
//     granted them first are refused.
//   - Closing settles every grant that the Pool has, except those that can never be paid. Otherwise a close overtakes claims,
//     refunds their money, and their users are refused. A packet that the Pool does not have is copied first, for the same
//     reason.
//   - After a close, the packet is loaded into the Pool as SQL has it. Otherwise winners whose grant the Pool lost get
//     "expired".
//   - The image of a closed packet stays in the Pool for an hour. Otherwise a winner that grabs again late gets "expired"
//     instead of "already".
//   - A packet that is open, with free shares and before its deadline, is not closed, unless it is cancelled, its room is
//     deleted, or it is from before the epoch. Suppose that the Pool has granted the last share, and then lost that grant.
//     The instance that got the grant tries to close the packet. Without this rule the packet would end with a free share.
//   - A user that already has a share gets it as the answer, whatever the checks of the user and of the packet's state find.
//     So the results of the checks of the user (member, recipient, earlier member, passphrase, limit per day) are passed to
//     Pool.Grab (May), which applies them. Otherwise a winner that grabs again after the end, or after leaving the room, is
//     refused.
//   - The status is read inside the settling transaction, and unique keys guard share and user. Otherwise a share is paid
//     after its refund, or twice.
//   - A packet that pays one share a person pays only users to whom a person is bound, and they are bound before they are granted a share.
//     Otherwise two accounts of a person get shares: a database that has lost a binding binds the person to another account, while the Pool
//     still has the grant of the first.
//   - A claim leaves the outbox when Settle has paid or refused it for good, or when it is put into quarantine because it can
//     never be paid. A claim that cannot be settled now stays in the outbox and is paused: recovery tries it again later.
//     Otherwise one bad row keeps all others unpaid.
//   - A packet or claim that cannot be closed, copied or settled hides no other: lists are read on beyond it, and after a
//     failure it is paused or left to the next pass. Otherwise the packets of one dead node keep all others open.
//   - Nothing is granted while the ledger is known to be out of reach. Otherwise grants pile up that cannot be settled.
//   - A close leaves a due date behind, and the backstop asks SQL for overdue packets. Otherwise a packet is never closed
//     if the instance that was closing it died, or if the packet was never loaded into the Pool.
//   - Packets that were open when an epoch of the database began are ended early (closing.go). Otherwise a packet whose end
//     the database has lost stays open although its seed is known.
//   - Each instance asks SQL for deleted rooms with open packets. Otherwise no instance closes these packets before their
//     deadlines if the instance that deleted the room dies. With the same list, SQL removes the members of these rooms in steps.
//
// # Clocks
//
// The instance that sends a packet sets its deadline. The Pool and every instance compare the deadline with their own
// clocks. When a packet opens, only the Pool decides, and of a draw the Ledger. So each instance compares its clock with those of the Pool and the Ledger at regular intervals (clocks.go). While
// it knows that they are too far apart, it sends, grants and closes nothing.
//
// Files: flow.go holds these rules as plain sequential code, which the simulator runs step by step. recovery.go holds
// the rules of unsettled claims. closing.go holds the sweep, and the rules of deleted rooms and of lost commits. send.go,
// early.go, hold.go, persons.go, grab.go, draw.go, details.go and books.go hold most calls of users, together.go lets users of one packet share transactions, and
// document.go makes receipts and proofs. wallet.go holds what the host's back end does with wallets, and
// the limits per day. memory.go caches packets, events.go publishes, and service.go runs the goroutines.
package redpacket
