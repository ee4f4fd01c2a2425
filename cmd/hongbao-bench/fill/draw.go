package fill

import (
	"encoding/hex"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/redpacket/proof"
	"hongbao/store/chain"
)

// drawWindow is how long users can enter Draw: as long as a database of fill is in use. No sender may choose that long.
const drawWindow = 30 * 24 * time.Hour

const drawKey = "draw"

// addDraw adds the packet Draw, of the user 0, which begins now.
func (w *world) addDraw() {
	w.endLink()
	w.clock = time.Now().UnixMilli()
	seed := redpacket.Seed(w.bytes(32))
	p := redpacket.Packet{
		Ref: redpacket.Ref{ID: Draw, Partition: -1}, Room: Crowd, From: w.user(0), Mode: redpacket.Lucky, Spread: redpacket.Classic,
		Total: 10_000, Count: 100, Greeting: "抽奖", CreatedAt: time.UnixMilli(w.clock), ExpiresAt: time.UnixMilli(w.clock).Add(drawWindow),
		Key: drawKey, Seq: w.seqs[0] + 1, Window: drawWindow, Rest: redpacket.RestRefund,
	}
	p, shares, body, err := redpacket.UnsealedPacket{Packet: p}.Seal(seed)
	if err != nil {
		panic(err) // the packet is as the rules want it, but for its window
	}
	w.addEntry(0, 0, chat.KindPacket, p.Key, body, p.ID)
	w.balances[0] -= int64(p.Total)
	w.put(w.transferRows, "s"+p.ID, p.CreatedAt.UnixMilli(), "user:"+p.From.ID, "packet:"+p.ID, int64(p.Total), "send", p.From.ID, p.ID, nil, nil, nil, int64(0), "")
	seals := chain.NewSeals()
	link := w.link(packetLeaf(redpacket.Book{Packet: p, Status: redpacket.Open, Seed: seed, Shares: shares}, seals))
	w.put(w.drawRows, p.ID, int64(p.Partition), p.Room, p.From.ID, p.From.Name, string(p.Mode), string(p.Spread), int64(p.Total), int64(p.Count),
		amounts(shares), p.Greeting, seed[:], p.Commitment, p.Key, p.Seq, string(redpacket.Open), p.CreatedAt.UnixMilli(), p.ExpiresAt.UnixMilli(),
		int64(drawWindow/time.Second), string(p.Rest), int64(w.size.Entered), link, seals.Name, seals.Text)
}

// addParticipant lets one more user enter Draw. There may be more than users: only their ids matter until the draw.
func (w *world) addParticipant(n int) {
	user := userID(w.size.Users + n)
	p := redpacket.Participant{User: user, Leaf: proof.Leaf(userID(0), drawKey, 0, user), At: time.UnixMilli(w.clock)}
	w.put(w.participantRows, Draw, int64(0), user, hex.EncodeToString(p.Leaf[:]), p.At.UnixMilli(), w.link(chain.ParticipantLeaf(Draw, p)))
}

func amounts(shares []redpacket.Money) []int64 {
	all := make([]int64, len(shares))
	for i, share := range shares {
		all[i] = int64(share)
	}
	return all
}
