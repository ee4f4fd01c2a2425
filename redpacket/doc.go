// Package redpacket owns splitting, granting and settling money exactly once.
//
// It must always hold, whatever dies or forgets in between:
//
//   - Wallets + open packets = what was funded, at every committed state.
//   - A packet pays each share at most once and each user at most once, and refunds the rest exactly once.
//   - Whoever was told "won" has his claim on disk, with that amount, for ever.
//   - A packet that SQL has open is closed soon after its deadline, even if every instance died meanwhile.
//
// Two engines share the work. The Ledger (SQL) is the truth: its unique keys on (packet, share) and
// (packet, user), and the packet row that settling holds open against closing, make the first three hold.
// The Pool (memory or Redis) is the arbiter at the door: it decides at memory speed who may have which
// share, and turns late-comers away. It may forget everything at any time; the price is work, not money.
//
// # A packet's life
//
//	         Send (one transaction)
//	              │ commit
//	              ▼
//	┌────────── open ◄───────────────────────────┐
//	│             │ Load: a join of SQL's claims  │ Missing, Conflict: Join
//	│             ▼                               │ (Image, then Load)
//	│      granted by the Pool ──► outbox         │
//	│             │ Settle (group commit)         │
//	│             ▼                               │
//	│   PaidNow/Duplicate ──► told ──► Ack        │
//	│   Conflict ──► Ack, Join, grant once more ──┘
//	│   TooLate  ──► Ack, Join, told expired or empty
//	│
//	│  last share settled │ due (sweep) │ overdue (backstop) │ cancel
//	▼
//	Pool.Close: closed is sticky; returns every grant ever given
//	│ claims that SQL lacks are settled in ordinary batches
//	▼
//	Ledger.End (one transaction): inserts those still lacking, refunds total - sum(claims),
//	│ reveals the seed, appends packet_done
//	▼
//	drained | expired | cancelled ──► Load, which retires it
//
// # The rules, and what goes wrong without each (simulator_test.go shows it)
//
//   - Load joins, it never overwrites and never reopens. Else grants that are on their way to SQL are
//     forgotten, their shares given again, and their holders refused.
//   - Closing settles the set of grants the Pool has given. Else a close overtakes claims, refunds their money,
//     and their holders are refused. A packet the Pool does not know is joined first, for the same reason.
//   - Whoever has closed a packet loads it as SQL has it. Else winners that the Pool forgot are told "expired".
//   - A closed packet's image stays for an hour. Else the late answer "you had won" becomes "expired".
//   - A packet that is open, with free shares and before its deadline, is not closed. Else one whose last grab the
//     Pool forgot is closed by the due date that this grab left, or by its holder.
//   - A stored share is answered before any other check. Else a winner who asks again after the end hears "no".
//   - The status is read inside the settling transaction, and unique keys guard share and user. Else a share is
//     paid after its refund, or twice.
//   - Whoever closes leaves a due date behind, and the backstop asks SQL what is overdue. Else a packet
//     whose closer died, or which was never loaded, is stuck.
//
// Files: flow.go holds these rules as plain sequential code, which the simulator drives step by step;
// service.go and its neighbours put goroutines, caches and publishing around it.
package redpacket
