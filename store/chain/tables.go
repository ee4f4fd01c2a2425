package chain

// Queries for all chained columns of a table, in the order that the comments of StoredEntry, StoredClaim and StoredTransfer
// list. Both databases understand them.
const (
	EntryRows = `select e.link, e.room_id, e.seq, e.id, e.at, e.sender, e.kind, e.key, r.hash, e.target,
		e.name_seal, e.sender_name, e.sender_avatar, e.text_seal, e.body
	from entries e left join requests r on e.key <> '' and r.user_id = e.sender and r.key = e.key`

	ClaimRows = `select link, packet_id, share_no, user_id, amount, at, transfer from claims`

	ParticipantRows = `select link, packet_id, leaf, at from participants`

	// DrawRows reads the ends of entering. A draw that has not ended has no link.
	DrawRows = `select link, id, drawn_at, participants, parts, root
	from (select draw_link as link, id, drawn_at, participants, parts, root from packets where draw_link > 0) d`

	// TransferRows reads the credits and debits.
	TransferRows = `select link, id, at, debit, credit, amount, kind, user_id, coalesce(key, ''), hash, note, actor, request_id, reason
	from transfers where kind in ('credit', 'debit')`
)

// WaveRows returns the query for waves. winners is an expression for this column as JSON.
func WaveRows(winners string) string {
	return `select link, packet_id, wave, drawn_at, participants, first_share, root, ` + winners + ` from rain_waves`
}

// PacketRows returns the query for packets. shares and recipients are expressions for these columns as JSON.
func PacketRows(shares, recipients string) string {
	return `select link, id, partition, room_id, sender, mode, spread, total, count, ` + shares + `, ` + recipients + `,
		seed, commitment, key, seq, created_at, expires_at,
		name_seal, sender_name, sender_avatar, text_seal, greeting, passphrase, encrypted_seed, held, held_until
	from packets`
}
