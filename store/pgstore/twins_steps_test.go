package pgstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// step makes a random call that is usually allowed.
func (h *history) step() {
	h.Helper()
	h.now = h.now.Add(time.Duration(1+h.random.IntN(1000)) * time.Millisecond)
	switch n := h.random.IntN(40); {
	case n < 4 || len(h.packets) == 0:
		h.send()
	case n < 13:
		h.settle()
	case n < 15:
		h.end()
	case n < 17:
		h.adjust()
	case n < 18:
		h.appendToFirstRoom()
	case n < 19:
		h.quarantine()
	case n < 39:
		h.roomStep()
	default:
		h.compare()
	}
}

func (h *history) send() {
	h.Helper()
	key := h.id("key")
	o := redpacket.UnsealedPacket{
		Packet: redpacket.Packet{
			Ref: redpacket.Ref{ID: h.id("p"), Partition: h.random.IntN(redpacket.Partitions)}, Room: h.name,
			From: chat.User{ID: pick(h, h.users), Name: "as it was then"}, Mode: redpacket.Lucky,
			Spread: pick(h, []redpacket.Spread{redpacket.Calm, redpacket.Classic, redpacket.Wild}),
			Count:  1 + h.random.IntN(5), Greeting: "<恭喜> & \"发财\"", CreatedAt: h.now, ExpiresAt: h.now.Add(time.Hour), Key: key,
		},
		Hash: []byte(key), NextSeed: h.seed(), EntryID: h.id("e"),
	}
	o.Packet.Total = redpacket.Money(o.Packet.Count + h.random.IntN(2000))
	switch h.random.IntN(8) {
	case 0:
		o.Packet.Mode, o.Packet.Spread = redpacket.Equal, ""
	case 1:
		o.Packet.To = h.users[:2]
	case 2:
		o.Packet.Passphrase = "open sesame"
	case 3:
		o.Expect = "another commitment"
	case 4, 5:
		if len(h.keys) > 0 { // repeats a request, or uses its key with other content
			again := pick(h, h.keys)
			if h.random.IntN(2) == 0 {
				again.Hash = []byte("other")
			}
			o = again
		}
	}
	h.keys = append(h.keys, o)
	known := func(p redpacket.Packet) bool { return p.ID == o.Packet.ID }
	both(h, "send", func(ctx context.Context, e engine) (redpacket.Sent, error) {
		sent, err := e.Send(ctx, o)
		if err == nil && !slices.ContainsFunc(h.packets, known) {
			h.packets = append(h.packets, sent.Packet)
		}
		return sent, err
	})
}

// settle settles claims of several packets, most of which can be paid. One call contains no two claims for the same
// user or share, because their order is not defined.
func (h *history) settle() {
	h.Helper()
	var claims []redpacket.Claim
	rival := map[string]bool{}
	for range 1 + h.random.IntN(5) {
		p := pick(h, h.packets)
		c := redpacket.Claim{Ref: p.Ref, Share: h.random.IntN(p.Count), User: pick(h, h.users), At: h.now}
		switch h.random.IntN(12) {
		case 0:
			c.Share = pick(h, []int{-1, p.Count, 1 << 40})
		case 1:
			c.ID = "none"
		}
		share, user := fmt.Sprint(c.ID, c.Share), fmt.Sprint(c.ID, c.User)
		if !rival[share] && !rival[user] {
			rival[share], rival[user] = true, true
			claims = append(claims, c)
		}
	}
	both(h, fmt.Sprintf("settle %+v", claims), func(ctx context.Context, e engine) ([]redpacket.Settlement, error) {
		settled := e.Settle(ctx, claims)
		if len(claims) > 1 {
			for i := range settled {
				settled[i].Account.Balance = 0 // it may be the balance after this claim or after all claims of the call
			}
		}
		return settled, redpacket.UnsettledErr(settled)
	})
}

func (h *history) end() {
	h.Helper()
	p := pick(h, h.packets)
	c := redpacket.Close{Ref: p.Ref, Reason: pick(h, []redpacket.Status{redpacket.Drained, redpacket.Expired, redpacket.Cancelled}),
		At: h.now, EntryID: h.id("done")}
	for range h.random.IntN(4) {
		c.Grants = append(c.Grants, redpacket.Grant{User: pick(h, h.users), Share: h.random.IntN(p.Count)})
	}
	if h.random.IntN(10) == 0 {
		c.ID = "none"
	}
	both(h, fmt.Sprintf("end %+v", c), func(ctx context.Context, e engine) (redpacket.Closed, error) { return e.End(ctx, c) })
}

func (h *history) adjust() {
	h.Helper()
	key := h.id("adjust")
	a := redpacket.Adjustment{ID: "t-" + key, User: pick(h, h.users), Amount: redpacket.Money(h.random.IntN(20_000) - 5000),
		Key: key, Hash: []byte(key), Note: "a note", At: h.now}
	switch h.random.IntN(6) {
	case 0:
		a.Amount = pick(h, []redpacket.Money{0, 1 << 53, 1 << 60, -1 << 60})
	case 1:
		if len(h.adjusts) > 0 {
			a = pick(h, h.adjusts)
			if h.random.IntN(2) == 0 {
				a.Hash = []byte("other")
			}
		}
	}
	h.adjusts = append(h.adjusts, a)
	both(h, fmt.Sprintf("adjust %+v", a), func(ctx context.Context, e engine) (answer[redpacket.Account], error) {
		acc, dup, err := e.Adjust(ctx, a)
		return answer[redpacket.Account]{acc, dup}, err
	})
}

func (h *history) appendToFirstRoom() {
	h.Helper()
	key := h.id("text")
	d := chat.Draft{ID: h.id("e"), Room: h.name, From: chat.User{ID: pick(h, h.users), Name: "N"}, Kind: chat.KindText, Key: key,
		Hash: []byte(key), Body: []byte(`{"text":"hello"}`), At: h.now}
	both(h, "text", func(ctx context.Context, e engine) (answer[chat.Entry], error) {
		entry, dup, err := e.Append(ctx, d)
		return answer[chat.Entry]{entry, dup}, err
	})
}

func (h *history) quarantine() {
	h.Helper()
	c := redpacket.Claim{Ref: pick(h, h.packets).Ref, Share: h.random.IntN(3), User: pick(h, h.users), At: h.now}
	both(h, "quarantine", func(ctx context.Context, e engine) (any, error) {
		return nil, e.Quarantine(ctx, []redpacket.Claim{c, c}, "why not")
	})
}
