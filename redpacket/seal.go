package redpacket

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"hongbao/chat"
	"hongbao/redpacket/proof"
)

// Seed is the secret from which a packet's shares are derived. Until the packet has ended, the seed must not appear in a log,
// event or metric.
type Seed = proof.Seed

// NewSeed draws a seed.
func NewSeed() Seed { return proof.NewSeed() }

// Commitment returns the hash of a seed, which is published before the seed is used.
func Commitment(s Seed) string { return proof.Commitment(s) }

// Cut divides the packet's total into its shares, in the order in which they are claimed. The result depends on the seed, and
// on the packet's sender id, Key, Mode, Spread, Total and Count.
func Cut(seed Seed, p Packet) ([]Money, error) {
	amounts, err := proof.Shares(seed, proof.Terms{
		Sender: p.From.ID, Key: p.Key, Mode: string(p.Mode), Spread: string(p.Spread), Total: int64(p.Total), Count: p.Count,
	})
	if err != nil {
		return nil, err
	}
	shares := make([]Money, len(amounts))
	for i, amount := range amounts {
		shares[i] = Money(amount)
	}
	return shares, nil
}

// Seal completes the packet with the sender's seed, inside the ledger's transaction. It returns the packet with its
// commitment, its shares, and the body of the entry that announces it.
func (u UnsealedPacket) Seal(seed Seed) (p Packet, shares []Money, body json.RawMessage, err error) {
	p = u.Packet
	p.Commitment = Commitment(seed)
	if shares, err = Cut(seed, p); err != nil {
		return Packet{}, nil, nil, err
	}
	p.Hold = p.Hold.sealed(seed, p)
	body, err = chat.Body(packetBody{
		ID: p.ID, Room: p.Room, From: p.From, Mode: p.Mode, Spread: p.Spread, Total: p.Total, Count: p.Count,
		Greeting: p.Greeting, To: p.To, Locked: p.Passphrase != "",
		CreatedAt: p.CreatedAt.UnixMilli(), ExpiresAt: p.ExpiresAt.UnixMilli(), Commitment: p.Commitment, Key: p.Key,
		EarlierMembers: p.EarlierMembers, OnePerPerson: p.OnePerPerson, Skin: p.Skin, OpensAt: millisOf(p.OpensAt), Held: len(p.Hold.For), HeldUntil: millisOf(p.Hold.Until),
	}.withDraw(p))
	return p, shares, body, err
}

// packetBody is a packet as JSON: the object Packet of web/docs/protocol/objects.md.
type packetBody struct {
	ID         string    `json:"id"`
	Room       string    `json:"room"`
	From       chat.User `json:"from"`
	Mode       Mode      `json:"mode"`
	Spread     Spread    `json:"spread"`
	Total      Money     `json:"total"`
	Count      int       `json:"count"`
	Greeting   string    `json:"greeting"`
	To         []string  `json:"to,omitempty"`
	Locked     bool      `json:"locked"`
	CreatedAt  int64     `json:"created_at"`
	ExpiresAt  int64     `json:"expires_at"`
	Commitment string    `json:"commitment"`
	Key        string    `json:"key"`

	EarlierMembers bool `json:"earlier_members,omitempty"`
	OnePerPerson   bool `json:"one_per_person,omitempty"`
	Skin           Skin `json:"skin,omitempty"`

	OpensAt   int64 `json:"opens_at,omitempty"`
	Held      int   `json:"held,omitempty"`
	HeldUntil int64 `json:"held_until,omitempty"`

	WindowS int  `json:"window_s,omitempty"`
	Rest    Rest `json:"rest,omitempty"`

	Waves   int `json:"waves,omitempty"`
	OverS   int `json:"over_s,omitempty"`
	MaxWins int `json:"max_wins,omitempty"`
}

// withDraw returns the body with what only a draw or a rain has.
func (b packetBody) withDraw(p Packet) packetBody {
	if seconds := int(p.Window / time.Second); p.Rain.Waves > 0 {
		b.Waves, b.OverS, b.MaxWins = p.Rain.Waves, seconds, p.Rain.MaxWins
	} else {
		b.WindowS, b.Rest = seconds, p.Rest
	}
	return b
}

// millisOf returns the time in Unix milliseconds, or 0 for the zero time.
func millisOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

type stateBody struct {
	Packet   string        `json:"packet"`
	Status   Status        `json:"status"`
	Claimed  int           `json:"claimed"`
	Luckiest *luckiestBody `json:"luckiest,omitempty"`
	Refunded Money         `json:"refunded,omitempty"`
	Draw     *drawBody     `json:"draw,omitempty"`
}

type drawBody struct {
	Participants int    `json:"participants"`
	Root         string `json:"root"`
}

type luckiestBody struct {
	User   string `json:"user"`
	Amount Money  `json:"amount"`
	Rank   int    `json:"rank"`
}

type doneBody struct {
	Packet string    `json:"packet"`
	Reason Status    `json:"reason"`
	State  stateBody `json:"state"`
	Seed   string    `json:"seed"`
}

// DoneBody returns the body of the entry that ends a packet. The body reveals the seed, so the packet must be closed.
func DoneBody(b Book) (json.RawMessage, error) {
	body := doneBody{
		Packet: b.Packet.ID, Reason: b.Status, Seed: hex.EncodeToString(b.Seed[:]),
		State: stateBody{Packet: b.Packet.ID, Status: b.Status, Claimed: len(b.Claims), Refunded: b.Refunded},
	}
	if d := b.Draw; d != nil {
		body.State.Draw = &drawBody{Participants: d.Participants, Root: d.Root}
	}
	if l := Luckiest(b.Packet, b.Claims); l != nil {
		body.State.Luckiest = &luckiestBody{User: l.User.ID, Amount: l.Amount, Rank: l.Rank()}
	}
	return chat.Body(body)
}

// Luckiest returns the claim with the largest amount. Of equal amounts it returns the claim with the lowest rank. It returns
// nil if the packet is not lucky, has only one share, or has no claim. The result is final only when the packet has ended.
func Luckiest(p Packet, claims []Paid) *Paid {
	if p.Mode != Lucky || p.Count < 2 {
		return nil
	}
	var best *Paid
	for i := range claims {
		c := &claims[i]
		if best == nil || c.Amount > best.Amount || c.Amount == best.Amount && c.Share < best.Share {
			best = c
		}
	}
	return best
}

// StateOf returns the packet's state as the user may see it.
func (b Book) StateOf(user string) State {
	s := State{Packet: b.Packet.ID, Status: b.Status, Claimed: len(b.Claims), Refunded: b.Refunded}
	for i := range b.Claims {
		if b.Claims[i].User.ID == user {
			s.Mine = &b.Claims[i]
		}
	}
	if b.Status != Open {
		s.Luckiest = Luckiest(b.Packet, b.Claims)
	}
	return s
}
