package client

import (
	"context"
	"errors"
	"iter"
	"time"

	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// NewPacket is a red packet to be sent. Amounts are in minor currency units.
type NewPacket struct {
	Room       string
	Key        string // identifies this packet permanently; "": a random key and the known commitment are used
	Mode       string // lucky or equal; "": lucky
	Spread     string // calm, classic or wild; "": classic
	Total      int64
	Count      int // 0: the number of users in To
	Greeting   string
	To         []string      // only these users may grab; nil: all members of the room
	Passphrase string        // "": none is required
	TTL        time.Duration // rounded up to whole seconds; 0: the server's default
	Commitment string        // to the seed that the server must use for the shares; ignored without a Key

	EarlierMembers bool   // only users that have been members since before the packet was sent may grab
	OnePerPerson   bool   // at most one share for each person, whatever number of accounts the person has
	Skin           string // cloud, koi, plum, lantern, moon or one that the host brings; "": the plain envelope

	Opens time.Time // grabs before it are refused with ErrNotYet; zero: the packet is open once it is sent

	HoldFor  []string      // a share is held for each of these users
	HoldAway bool          // shares are held for members that are away
	Hold     time.Duration // for so long after the packet opens; rounded up to whole seconds

	Window time.Duration // users can enter for so long, and then the shares are drawn; rounded up to whole seconds; 0: first come, first served
	Rest   string        // of a draw with fewer participants than shares: refund the rest, or share the total among them; "": refund

	Waves   int           // the shares come up in so many waves, of which Count is a multiple; 0: the packet is no rain
	Over    time.Duration // of a rain: the waves come within so long; rounded up to whole seconds
	MaxWins int           // of a rain: waves that one user may win; 0: all
}

// SentPacket is a packet that was sent. Dup means that it had been sent before, with the same key.
type SentPacket struct {
	Packet  model.Packet
	Seq     int64
	At      time.Time
	Balance int64
	Dup     bool
}

// maxDraws is how many keys SendPacket draws for one packet. More would need as many devices that send at the same moment.
const maxDraws = 4

// maxUsed is the number of open packets whose seeds are checked when they end.
const maxUsed = 100

// SendPacket sends a red packet. It repeats the command until it is answered; the packet is sent once. Without a key it draws
// one, and uses the seed to which the server had committed before the key existed. If another device has used that seed, it
// retries with a new key and the next seed. The server must name the user's packet that has used the seed; otherwise SendPacket returns
// the conflict. If that packet ends with another seed, the event SeedMismatch says so. With a key it sends p unchanged, and returns a
// conflict as an error. A program that may send the same packet again must set Key.
func (c *Client) SendPacket(ctx context.Context, p NewPacket) (SentPacket, error) {
	if p.Key != "" {
		return c.sendPacket(ctx, p)
	}
	if _, err := c.Ready(ctx); err != nil {
		return SentPacket{}, err
	}
	p.Commitment = c.Account().NextCommitment
	for draws := 1; ; draws++ {
		p.Key = newKey()
		sent, err := c.sendPacket(ctx, p)
		var refused *Error
		if errors.As(err, &refused) && refused.Repeated && errors.Is(err, ErrConflict) {
			// An earlier try without an answer may have used the seed. Its packet is committed by now.
			sent, err = c.sendPacket(ctx, p)
		}
		if !errors.As(err, &refused) || !errors.Is(err, ErrConflict) || refused.Values["next_commitment"] == "" {
			return sent, err
		}
		next := refused.Values["next_commitment"]
		c.mu.Lock()
		c.updateAccountLocked(accountUpdate{NextCommitment: next}) // a later call uses it: the caller has seen the conflict then
		c.mu.Unlock()
		if draws >= maxDraws || !c.isUsed(ctx, refused.Values["packet"], p) {
			return sent, err
		}
		p.Commitment = next
	}
}

// isUsed reports whether a packet shows that another device of the user has used the seed of p: it is the user's, has the commitment, and
// its seed fits if it has ended. An open packet is checked by seedMismatchLocked.
func (c *Client) isUsed(ctx context.Context, id string, p NewPacket) bool {
	if id == "" {
		return false
	}
	info, err := c.Packet(ctx, id)
	used := info.Packet
	if err != nil || used.ID != id || used.From.ID != c.Me().ID || used.Commitment != p.Commitment || used.Key == p.Key {
		return false
	}
	if info.Proof != nil {
		return commitmentOf(info.Proof.Seed) == p.Commitment
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.used[id]; known || len(c.used) >= maxUsed {
		return false
	}
	c.used[id] = p.Commitment
	return true
}

// seedMismatchLocked checks the seed of a packet that has ended, if the packet was the reason of a conflict. It adds an event if the seed
// does not fit.
func (c *Client) seedMismatchLocked(event model.Event) {
	entry, _ := event.(model.Entry)
	done, ok := entry.Body.(model.PacketDone)
	if !ok {
		return
	}
	commitment, ok := c.used[done.Packet]
	delete(c.used, done.Packet)
	if ok && commitmentOf(done.Seed) != commitment {
		c.feed.AddLoose(model.SeedMismatch{Packet: done.Packet, Commitment: commitment})
	}
}

func (c *Client) sendPacket(ctx context.Context, p NewPacket) (SentPacket, error) {
	request := wire.SendPacketRequest{
		Room: p.Room, Key: p.Key, Mode: p.Mode, Spread: p.Spread, Total: p.Total, Greeting: p.Greeting,
		To: p.To, Passphrase: p.Passphrase, Commitment: p.Commitment, EarlierMembers: p.EarlierMembers, OnePerPerson: p.OnePerPerson, Skin: p.Skin, Rest: p.Rest,
		HoldFor: p.HoldFor, HoldAway: p.HoldAway,
	}
	if p.Count != 0 {
		request.Count = &p.Count
	}
	if p.TTL != 0 {
		request.TTLS = new(seconds(p.TTL))
	}
	if !p.Opens.IsZero() {
		request.OpensAt = new(p.Opens.UnixMilli())
	}
	if p.Hold != 0 {
		request.HoldS = new(seconds(p.Hold))
	}
	if p.Window != 0 {
		request.WindowS = new(seconds(p.Window))
	}
	if p.Waves != 0 {
		request.Waves, request.OverS = &p.Waves, new(seconds(p.Over))
	}
	if p.MaxWins != 0 {
		request.MaxWins = &p.MaxWins
	}
	var reply wire.SendPacketReply
	if err := c.Call(ctx, "send_packet", request, &reply); err != nil {
		return SentPacket{}, err
	}
	return SentPacket{Packet: model.PacketOf(reply.Packet), Seq: reply.Seq, At: model.TimeOf(reply.At), Balance: reply.Balance, Dup: reply.Dup}, nil
}

// seconds rounds up to whole seconds.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// PacketInfo is a packet with its state. Proof is set if the packet has ended.
type PacketInfo struct {
	Packet model.Packet
	State  model.State
	Proof  *model.Proof
}

// Packet reads a packet and its current state.
func (c *Client) Packet(ctx context.Context, packet string) (PacketInfo, error) {
	var reply wire.PacketReply
	err := c.Call(ctx, "packet", wire.PacketRequest{Packet: packet, Limit: 1}, &reply)
	return PacketInfo{Packet: model.PacketOf(reply.Packet), State: model.StateOf(reply.State), Proof: reply.Proof}, err
}

// Claim is the share that a user has claimed. Amount is 0 if the requesting user may not see it.
type Claim struct {
	User   model.User
	Rank   int
	At     time.Time
	Amount int64
}

// Claims iterates over the claims of a packet, ordered by rank.
func (c *Client) Claims(ctx context.Context, packet string) iter.Seq2[Claim, error] {
	return func(yield func(Claim, error) bool) {
		for rank, more := 0, true; more; {
			var reply wire.PacketReply
			if err := c.Call(ctx, "packet", wire.PacketRequest{Packet: packet, AfterRank: rank, Limit: pageLimit}, &reply); err != nil {
				yield(Claim{}, err)
				return
			}
			for _, w := range reply.Claims {
				rank = w.Rank
				if !yield(Claim{User: w.User, Rank: w.Rank, At: model.TimeOf(w.At), Amount: w.Amount}, nil) {
					return
				}
			}
			more = reply.More
		}
	}
}

// CancelPacket cancels the user's own packet, if no share of it has been grabbed.
func (c *Client) CancelPacket(ctx context.Context, packet string) (model.State, error) {
	var reply wire.CancelPacketReply
	err := c.Call(ctx, "cancel_packet", wire.CancelPacketRequest{Packet: packet}, &reply)
	return model.StateOf(reply.State), err
}
