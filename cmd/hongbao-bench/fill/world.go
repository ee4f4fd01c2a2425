package fill

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"hongbao/chat"
	"hongbao/chat/words"
	"hongbao/redpacket"
	"hongbao/store/chain"
)

// Ids of what is larger than the rest.
var (
	Winner = userID(2)
	Joiner = userID(1)
	Crowd  = roomID(0)
)

// Ids of a public room of usual size, of a packet of which Winner has a share, and of an open draw in Crowd with many participants.
var (
	Public = roomID(10)
	Won    = packetID(20)
	Draw   = "p-draw"
)

func userID(n int) string { return fmt.Sprintf("u-%07d", n) }
func roomID(n int) string { return fmt.Sprintf("r-%07d", n) }

func packetID(n int) string { return fmt.Sprintf("p-%09d", n) }

const (
	leavesOfLink = 10                  // rows of one link: a busy server commits about as many at once
	mostMembers  = 8                   // of all rooms but Crowd
	busyRooms    = 500                 // rooms that get a third of the texts
	credit       = 1 << 34             // of each user; all together are less than a host may have given out
	day          = 24 * 60 * 60 * 1000 // milliseconds
)

// table collects rows of a table.
type table struct {
	name    string
	columns []string
	rows    [][]any
}

// world is what was made so far.
type world struct {
	size   Size
	random *rand.Rand
	clock  int64 // Unix milliseconds; each link is one later

	seqs, contents []int64 // by room
	balances       []int64 // by user
	funded         int64
	entries        int
	packets, wins  int
	claims         int
	collected      int // rows that are not written yet
	tables         []*table

	chain  int64 // its number
	last   int64 // id of the last link, or 0
	hash   chain.Hash
	leaves []chain.Hash // of the link that is being made

	userRows, walletRows, transferRows, linkRows, requestRows, entryRows, packetRows, drawRows, participantRows, claimRows, roomRows, memberRows, wordRows, entryWordRows, indexedRows *table
}

func newWorld(size Size) *world {
	w := &world{
		size: size, random: rand.New(rand.NewPCG(1, 2)), // the same rows in every run
		clock: time.Now().UnixMilli() - 365*day,
		seqs:  make([]int64, size.Rooms), contents: make([]int64, size.Rooms), balances: make([]int64, size.Users),
	}
	add := func(name, columns string) *table {
		t := &table{name: name, columns: strings.Fields(columns)}
		w.tables = append(w.tables, t)
		return t
	}
	w.linkRows = add("links", "chain id prev at leaves hash")
	w.userRows = add("users", "id name")
	w.transferRows = add("transfers", "id at debit credit amount kind user_id packet_id share_no key hash link actor")
	w.entryRows = add("entries", "room_id seq id at sender sender_name kind key body content_no link name_seal text_seal")
	w.requestRows = add("requests", "user_id key hash room_id seq ref")
	w.packetRows = add("packets", `id partition room_id sender sender_name mode spread total count shares greeting seed commitment key seq status
		created_at expires_at closed_at refunded claimed done_seq link name_seal text_seal`)
	w.drawRows = add("packets", `id partition room_id sender sender_name mode spread total count shares greeting seed commitment key seq status
		created_at expires_at window_s rest participants link name_seal text_seal`)
	w.participantRows = add("participants", "packet_id wave user_id leaf at link")
	w.claimRows = add("claims", "packet_id share_no user_id amount at transfer luckiest link")
	w.roomRows = add("rooms", "id name kind members last_seq content_no created_at")
	w.memberRows = add("members", "room_id user_id state role read_seq joined_at")
	w.wordRows = add("room_words", "word room_id")
	w.entryWordRows = add("entry_words", "word at seq")
	w.indexedRows = add("indexed_rooms", "room_id seq")
	w.walletRows = add("wallets", "user_id balance version")
	return w
}

func (w *world) put(t *table, values ...any) {
	t.rows = append(t.rows, values)
	w.collected++
}

// link adds a row to the link that is being made, and returns the id of the link.
func (w *world) link(leaf chain.Hash) int64 {
	if len(w.leaves) == leavesOfLink {
		w.endLink()
	}
	w.leaves = append(w.leaves, leaf)
	return chain.LinkID(w.chain, w.last, w.clock)
}

// endLink adds the link that is being made to the chain. The first link of a chain has no rows.
func (w *world) endLink() {
	if len(w.leaves) == 0 && w.last != 0 {
		return
	}
	l := chain.Link{ID: chain.LinkID(w.chain, w.last, w.clock), Prev: w.last, At: w.clock, Leaves: int64(len(w.leaves)), Digest: chain.Digest(w.leaves)}
	hash := l.Hash(w.hash)
	w.put(w.linkRows, w.chain, l.ID, l.Prev, l.At, l.Leaves, hash[:])
	w.hash = hash
	w.last, w.leaves = l.ID, w.leaves[:0]
	w.clock++
}

func (w *world) user(n int) chat.User { return chat.User{ID: userID(n), Name: name(n)} }

// addUser adds a user with money from the host.
func (w *world) addUser(n int) {
	w.put(w.userRows, userID(n), name(n))
	t := chain.Transfer{
		ID: fmt.Sprintf("c-%07d", n), At: w.clock, Debit: "outside", Credit: "user:" + userID(n), Amount: credit, Kind: "credit", User: userID(n),
		Key: "fill " + userID(n), Request: []byte("fill"), Actor: "fill",
	}
	w.put(w.transferRows, t.ID, t.At, t.Debit, t.Credit, t.Amount, t.Kind, t.User, nil, nil, t.Key, t.Request, w.link(t.Leaf()), t.Actor)
	w.balances[n] += credit
	w.funded += credit
}

// addEvent adds a text or a packet. There are as many events as texts and packets together.
func (w *world) addEvent(i int) {
	events := w.size.Entries - w.size.Packets
	if (i+1)*w.size.Packets/events > w.packets {
		w.addPacket()
		return
	}
	room := i % w.size.Rooms
	if i%3 == 0 {
		room = w.random.IntN(min(busyRooms, w.size.Rooms))
	}
	body := fmt.Appendf(nil, `{"text":%q}`, w.text()) // no word needs an escape
	w.addEntry(room, w.member(room, w.random.IntN(w.members(room))), chat.KindText, fmt.Sprint("k", i), body, "")
}

// addEntry adds an entry, and the request that made it, if it has a key. It returns its seq.
func (w *world) addEntry(room, sender int, kind chat.EntryKind, key string, body []byte, ref string) int64 {
	w.seqs[room]++
	if kind.Content() {
		w.contents[room]++
	}
	w.entries++
	e := chat.Entry{
		Room: roomID(room), Seq: w.seqs[room], ID: fmt.Sprintf("e-%09d", w.entries), At: time.UnixMilli(w.clock), From: w.user(sender),
		Kind: kind, Key: key, Body: body,
	}
	var hash []byte
	if key != "" {
		hash = []byte("fill")
		w.put(w.requestRows, e.From.ID, key, hash, e.Room, e.Seq, ref)
	}
	seals := chain.NewSeals()
	w.put(w.entryRows, e.Room, e.Seq, e.ID, e.At.UnixMilli(), e.From.ID, e.From.Name, string(kind), key, string(body), w.contents[room],
		w.link(chain.EntryLeaf(e, hash, 0, seals)), seals.Name, seals.Text)
	for _, word := range e.IndexedWords() {
		w.put(w.entryWordRows, words.Hash(e.Room, word), e.At.UnixMilli(), e.Seq)
	}
	return e.Seq
}

// addRoom adds a room in its last state, with its members.
func (w *world) addRoom(n int) {
	kind := chat.Private
	if n%10 == 0 {
		kind = chat.Public
	}
	id, called, members := roomID(n), roomName(n), w.members(n)
	w.put(w.roomRows, id, called, string(kind), int64(members), w.seqs[n], w.contents[n], w.clock-365*day+int64(n))
	w.put(w.indexedRows, id, w.seqs[n])
	if kind == chat.Public {
		for _, part := range words.Parts(called) {
			w.put(w.wordRows, part, id)
		}
	}
	for k := range members {
		role := chat.Plain
		if k == 0 {
			role = chat.Owner
		}
		w.put(w.memberRows, id, userID(w.member(n, k)), "in", string(role), w.seqs[n], w.clock-365*day+int64(n))
	}
}

// members returns how many members a room has.
func (w *world) members(room int) int {
	if room == 0 {
		return w.size.Members
	}
	return 2 + room%(mostMembers-1)
}

// member returns the member k of a room. Joiner, the user 1, is the first one of rooms 1 to Joined, and in no other room but Crowd. In all
// other rooms, the members are as many different users from 3 on.
func (w *world) member(room, k int) int {
	switch {
	case room == 0:
		return k
	case k == 0 && room <= w.size.Joined:
		return 1
	}
	return 3 + (room*31+k*(1+room%97))%(w.size.Users-3)
}

func (w *world) addWallet(n int) { w.put(w.walletRows, userID(n), w.balances[n], int64(1)) }

// addPacket adds a packet that has ended, with its claims and its money. Some packets are in Crowd, where Winner wins, and many others do that
// had no share where rooms are small.
func (w *world) addPacket() {
	room := 1 + w.packets%(w.size.Rooms-1)
	w.packets++
	if w.packets*w.size.Wins/w.size.Packets > w.wins {
		w.wins++
		room = 0
	}
	due := w.packets*w.size.Claims/w.size.Packets - w.claims
	others := w.members(room) - 1
	if room == 0 { // where Winner is always one of them, and the users 0 and 1 never are
		others -= 2
	}
	claims := max(1, min(due, others, 100))
	w.claims += claims
	count := claims
	if w.packets%20 == 0 { // some end with a share left
		count++
	}
	sender, winners := w.choose(room, claims)
	seed := redpacket.Seed(w.bytes(32))
	p := redpacket.Packet{
		Ref:  redpacket.Ref{ID: packetID(w.packets), Partition: w.packets % redpacket.Partitions},
		Room: roomID(room), From: w.user(sender), Mode: redpacket.Lucky, Spread: redpacket.Classic, Total: redpacket.Money(count * (100 + w.random.IntN(900))),
		Count: count, Greeting: "恭喜发财，大吉大利", CreatedAt: time.UnixMilli(w.clock), ExpiresAt: time.UnixMilli(w.clock + day), Key: fmt.Sprint("p", w.packets),
		Seq: w.seqs[room] + 1,
	}
	p, shares, body, err := redpacket.UnsealedPacket{Packet: p}.Seal(seed)
	if err != nil {
		panic(err) // the packet is as the rules want it
	}
	w.addEntry(room, sender, chat.KindPacket, p.Key, body, p.ID)
	b := redpacket.Book{Packet: p, Status: redpacket.Drained, Refunded: p.Total, Seed: seed, Shares: shares}
	for i, winner := range winners {
		b.Claims = append(b.Claims, redpacket.Paid{Share: i, User: chat.User{ID: userID(winner)}, Amount: shares[i], At: time.UnixMilli(w.clock)})
		b.Refunded -= shares[i]
	}
	if count > claims {
		b.Status = redpacket.Expired
	}
	w.addClaims(b, winners)
	w.addEnd(b, room, sender)
}

// choose returns the sender of a packet in the room, and the users that open it.
func (w *world) choose(room, claims int) (sender int, winners []int) {
	all := w.members(room)
	from := w.random.IntN(all)
	if room == 0 && from <= 2 {
		from = 3
	}
	if room == 0 {
		winners = append(winners, 2)
	}
	for k := from + 1; len(winners) < claims; k++ {
		if n := w.member(room, k%all); room != 0 || n > 2 {
			winners = append(winners, n)
		}
	}
	return w.member(room, from), winners
}

// addClaims adds the claims of a packet, and moves its money.
func (w *world) addClaims(b redpacket.Book, winners []int) {
	p := b.Packet
	best := redpacket.Luckiest(p, b.Claims)
	w.put(w.transferRows, "s"+p.ID, p.CreatedAt.UnixMilli(), "user:"+p.From.ID, "packet:"+p.ID, int64(p.Total), "send", p.From.ID, p.ID, nil, nil, nil, int64(0), "")
	for i, c := range b.Claims {
		transfer := fmt.Sprintf("t%s-%d", p.ID, i)
		link := w.link(chain.ClaimLeaf(redpacket.Claim{Ref: p.Ref, Share: i, User: c.User.ID, At: c.At}, c.Amount, transfer))
		at := c.At.UnixMilli()
		w.put(w.claimRows, p.ID, int64(i), c.User.ID, int64(c.Amount), at, transfer, best != nil && best.Share == i, link)
		w.put(w.transferRows, transfer, at, "packet:"+p.ID, "user:"+c.User.ID, int64(c.Amount), "claim", c.User.ID, p.ID, int64(i), nil, nil, int64(0), "")
		w.balances[winners[i]] += int64(c.Amount)
	}
}

// addEnd adds the packet itself and the entry that ends it, and pays the refund.
func (w *world) addEnd(b redpacket.Book, room, sender int) {
	p, closed := b.Packet, w.clock
	body, err := redpacket.DoneBody(b)
	if err != nil {
		panic(err) // the book is as the rules want it
	}
	done := w.addEntry(room, sender, chat.KindPacketDone, "", body, "")
	w.balances[sender] += int64(b.Refunded - p.Total)
	if b.Refunded > 0 {
		w.put(w.transferRows, "r"+p.ID, closed, "packet:"+p.ID, "user:"+p.From.ID, int64(b.Refunded), "refund", p.From.ID, p.ID, nil, nil, nil, int64(0), "")
	}
	seals := chain.NewSeals()
	link := w.link(packetLeaf(b, seals))
	w.put(w.packetRows, p.ID, int64(p.Partition), p.Room, p.From.ID, p.From.Name, string(p.Mode), string(p.Spread), int64(p.Total), int64(p.Count), amounts(b.Shares),
		p.Greeting, b.Seed[:], p.Commitment, p.Key, p.Seq, string(b.Status), p.CreatedAt.UnixMilli(), p.ExpiresAt.UnixMilli(), closed,
		int64(b.Refunded), int64(len(b.Claims)), done, link, seals.Name, seals.Text)
}

func (w *world) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(w.random.Uint32())
	}
	return b
}
