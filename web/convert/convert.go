package convert

import (
	"time"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/redpacket"
	"hongbao/redpacket/proof"
	"hongbao/web/wire"
)

// List converts each element of a list. The result is never nil, so that an empty list is [] on the wire.
func List[From, To any](list []From, convert func(From) To) []To {
	out := make([]To, len(list))
	for i, item := range list {
		out[i] = convert(item)
	}
	return out
}

// Mention converts an entry that mentions a user.
func Mention(e chat.Entry) wire.Mention { return wire.Mention{Room: e.Room, Entry: Entry(e)} }

// Hit converts an entry that a search has found.
func Hit(h chat.Hit) wire.Hit {
	return wire.Hit{Room: h.Entry.Room, Entry: Entry(h.Entry), Places: List(h.Places, func(p chat.Place) wire.Place { return wire.Place(p) })}
}

// File converts a file of a text.
func File(f chat.File) wire.File {
	return wire.File{
		ID: f.ID, Kind: string(f.Kind), Name: f.Name, Type: f.Type, Size: f.Size, Width: f.Width, Height: f.Height, Blur: f.Blur, DurationMS: f.DurationMS, Wave: f.Wave,
	}
}

// FileState converts how far an upload has come.
func FileState(f files.Stored) wire.FileState {
	return wire.FileState{File: File(f.File), State: string(f.State), Received: f.Received}
}

// Millis converts a time to Unix milliseconds. The zero time becomes 0, which optional fields omit.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// FromMillis returns the time of an optional field in Unix milliseconds. A missing field is the zero time.
func FromMillis(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return time.UnixMilli(*ms)
}

// User converts a user to its form on the wire. chat.LobbyHost is not shown as a guest, although it has the id of one.
func User(u chat.User) wire.User {
	return wire.User{ID: u.ID, Name: u.Name, Avatar: u.Avatar, Guest: u.Guest() && u.ID != chat.LobbyHost}
}

// Room converts a room to its form on the wire, without what differs between its members: role and preferences.
func Room(r chat.Room) wire.Room {
	room := wire.Room{
		ID: r.ID, Name: r.Name, Kind: string(r.Kind), Announcement: r.Announcement,
		Members: r.Members, LastSeq: r.LastSeq, CreatedAt: Millis(r.CreatedAt),
	}
	if in := r.Inviters(); in != r.Kind.Inviters() {
		room.Invite = string(in)
	}
	if r.NoGuests {
		room.Guests = new(false)
	}
	if r.NoPackets {
		room.Packets = new(false)
	}
	room.Frozen = r.Frozen
	return room
}

// Membership converts a membership to the room's form on the wire, with the member's role and preferences.
func Membership(m chat.Membership) wire.Room {
	r := Room(m.Room)
	r.Role = string(m.Role)
	r.Silent, r.SilentUntil, r.Pinned, r.Archived = m.Prefs.Silent, Millis(m.Prefs.SilentUntil), m.Prefs.Pinned, m.Prefs.Archived
	return r
}

// MyRoom converts a membership to its form in the replies of connect and rooms.
func MyRoom(m chat.Membership) wire.MyRoom {
	return wire.MyRoom{Room: Membership(m), ReadSeq: m.ReadSeq, Unread: m.Unread}
}

// Member converts a member to its form on the wire. The caller sets Online.
func Member(m chat.Member) wire.Member {
	return wire.Member{User: User(m.User), Role: string(m.Role), MutedUntil: Millis(m.MutedUntil), ReadSeq: m.ReadSeq}
}

// Link converts an invite link to its form on the wire.
func Link(l chat.Link) wire.Link {
	return wire.Link{ID: l.ID, By: User(l.Creator), CreatedAt: Millis(l.CreatedAt), ExpiresAt: Millis(l.ExpiresAt), Uses: l.Uses, MaxUses: l.MaxUses, Approval: l.Approval}
}

// JoinRequest converts a request to enter a room.
func JoinRequest(r chat.JoinRequest) wire.AskingUser {
	return wire.AskingUser{User: User(r.User), At: Millis(r.At)}
}

// Face converts a user to what visitors without a token see of it.
func Face(u chat.User) wire.Face { return wire.Face{Name: u.Name, Avatar: u.Avatar} }

// Entry converts an entry of a room to its form on the wire.
func Entry(e chat.Entry) wire.Entry {
	return wire.Entry{
		Seq: e.Seq, ID: e.ID, At: Millis(e.At), From: User(e.From), Kind: string(e.Kind), Key: e.Key, Body: e.Body,
	}
}

// Packet converts the part of a packet that never changes.
func Packet(p redpacket.Packet) wire.Packet {
	out := wire.Packet{
		ID: p.ID, Room: p.Room, From: User(p.From), Mode: string(p.Mode), Spread: string(p.Spread),
		Total: int64(p.Total), Count: p.Count, Greeting: p.Greeting, To: p.To, Locked: p.Passphrase != "",
		CreatedAt: Millis(p.CreatedAt), ExpiresAt: Millis(p.ExpiresAt), Commitment: p.Commitment, Key: p.Key,
		EarlierMembers: p.EarlierMembers, OnePerPerson: p.OnePerPerson, Skin: string(p.Skin), OpensAt: Millis(p.OpensAt), Held: len(p.Hold.For), HeldUntil: Millis(p.Hold.Until),
	}
	if seconds := int(p.Window / time.Second); p.Rain.Waves > 0 {
		out.Waves, out.OverS, out.MaxWins = p.Rain.Waves, seconds, p.Rain.MaxWins
	} else {
		out.WindowS, out.Rest = seconds, string(p.Rest)
	}
	return out
}

// State converts the state of a packet, as one user may see it.
func State(s redpacket.State) wire.State {
	out := wire.State{Packet: s.Packet, Status: string(s.Status), Claimed: s.Claimed, Refunded: int64(s.Refunded)}
	if m := s.Mine; m != nil {
		out.Mine = &wire.Mine{Amount: int64(m.Amount), Rank: m.Rank(), At: Millis(m.At)}
	}
	if l := s.Luckiest; l != nil {
		out.Luckiest = &wire.Luckiest{User: l.User.ID, Amount: int64(l.Amount), Rank: l.Rank()}
	}
	if d := s.Draw; d != nil {
		out.Draw = &wire.Draw{Participants: d.Participants, Root: d.Root, Receipt: Receipt(d.Receipt)}
	}
	if r := s.Rain; r != nil {
		out.Rain = &wire.RainState{Wave: r.Wave, EndsAt: Millis(r.Ends), Drawn: r.Drawn}
		for _, w := range r.Wins {
			out.Rain.Wins = append(out.Rain.Wins, wire.Win{Wave: w.Wave, Amount: int64(w.Amount), Rank: w.Rank()})
		}
	}
	return out
}

// Wave converts the beginning of a wave, or what has become of it.
func Wave(e redpacket.WaveEvent) *wire.WavePush {
	out := &wire.WavePush{Packet: e.Packet, Room: e.Room, Wave: e.Wave, EndsAt: Millis(e.Ends)}
	if d := e.Drawn; d != nil {
		out.Result = &wire.WaveResult{Participants: d.Participants, Won: d.Won, Winners: List(d.Winners, func(p redpacket.Paid) wire.WaveWinner {
			return wire.WaveWinner{User: p.User.ID, Amount: int64(p.Amount), Rank: p.Rank()}
		})}
	}
	return out
}

// Totals converts the totals of a period.
func Totals(t redpacket.Totals) wire.Totals {
	totals := wire.Totals{Count: t.Count, Amount: int64(t.Amount), Luckiest: t.Luckiest}
	if t.Best != nil {
		totals.BestDay = &wire.BestDay{At: Millis(t.Best.At), Amount: int64(t.Best.Amount)}
	}
	return totals
}

// PacketState converts a packet with its state.
func PacketState(p redpacket.PacketState) wire.PacketState {
	return wire.PacketState{Packet: Packet(p.Packet), State: State(p.State), Seq: p.Packet.Seq}
}

// GrabReply converts the result of a grab.
func GrabReply(r redpacket.Result) wire.GrabReply {
	reply := wire.GrabReply{
		Waiting: r.Waiting,
		Packet:  r.Packet, Outcome: string(r.Outcome),
		Amount: int64(r.Amount), Rank: r.Rank, At: Millis(r.At),
		Claimed: r.Claimed, Count: r.Count, Participants: r.Participants, Wave: r.Wave, Receipt: Receipt(r.Receipt), User: r.Other,
	}
	if r.Account != nil {
		reply.Balance, reply.AccountVersion = (*int64)(&r.Account.Balance), r.Account.Version
	}
	return reply
}

// Receipt converts the receipt of a participant of a draw. nil means that there is none.
func Receipt(r *proof.Receipt) *wire.Receipt {
	if r == nil {
		return nil
	}
	return &wire.Receipt{Packet: r.Packet, Wave: int(r.Wave), User: r.User, Leaf: r.Leaf, At: r.At, Key: r.Key, Signature: r.Signature}
}

// Claims converts the claims of a packet for one user. Amounts of other users are included only if Details.ShowAmounts is
// set.
func Claims(d redpacket.Details, user string) []wire.Claim {
	return List(d.Claims, func(p redpacket.Paid) wire.Claim {
		c := wire.Claim{User: User(p.User), Rank: p.Rank(), At: Millis(p.At)}
		if d.ShowAmounts || p.User.ID == user {
			c.Amount = int64(p.Amount)
		}
		return c
	})
}

// Proof converts the proof of a finished packet. nil means that there is none.
func Proof(p *redpacket.Proof) *wire.Proof {
	if p == nil {
		return nil
	}
	return &wire.Proof{
		Seed: p.Seed, Commitment: p.Commitment,
		Shares: List(p.Shares, func(m redpacket.Money) int64 { return int64(m) }),
	}
}

// DayLimit converts the sum of a user's day, the limit that applies to it, and what the user has set.
func DayLimit(today redpacket.Money, limit int64, own redpacket.SelfLimit) wire.DayLimit {
	l := wire.DayLimit{Today: int64(today), Limit: Limit(limit), Own: own.Most}
	if !own.From.IsZero() {
		l.Next, l.NextAt = own.Next, Millis(own.From)
		if own.Next == nil {
			l.Next = new(redpacket.NoLimit)
		}
	}
	return l
}

// Limit returns a limit as it is on the wire: nil for no limit.
func Limit(limit int64) *int64 {
	if limit == redpacket.NoLimit {
		return nil
	}
	return &limit
}

// Transfer converts a transfer to or from a wallet.
func Transfer(t redpacket.Transfer) wire.Transfer {
	return wire.Transfer{
		ID: t.ID, At: Millis(t.At), Amount: int64(t.Amount), Kind: string(t.Kind), Packet: t.Packet, Note: t.Note,
	}
}

// Audit converts the report of an audit.
func Audit(a redpacket.AuditReport) wire.AuditReply {
	difference := func(d redpacket.Difference) wire.Difference { return wire.Difference(d) }
	return wire.AuditReply{
		OK:     len(a.Differences) == 0,
		Funded: int64(a.Funded), InWallets: int64(a.InWallets), InPackets: int64(a.InPackets),
		Wallets: a.Wallets, Packets: a.Packets, OpenPackets: a.OpenPackets, Claims: a.Claims, Transfers: a.Transfers,
		Rooms: a.Rooms, Entries: a.Entries, Quarantined: a.Quarantined,
		Differences: List(a.Differences, difference), Notes: List(a.Notes, difference),
		At: Millis(a.At), WholeAt: Millis(a.Checkpoint.Whole), Heads: List(a.Heads, redpacket.Head.String),
	}
}

// Heads converts the heads of the hash chains.
func Heads(heads []redpacket.Head) wire.HeadsReply {
	return wire.HeadsReply{Heads: List(heads, redpacket.Head.String)}
}

// OwnReport converts a report as one of its sides may see it.
func OwnReport(r chat.Report, user string) wire.OwnReport {
	out := wire.OwnReport{
		Report: r.ID, Side: string(r.SideOf(user)), Kind: string(r.Kind), Room: r.Room, Seq: r.Seq, Packet: r.Packet, At: Millis(r.At),
		State: string(r.State), Outcome: r.Outcome, Cause: r.Cause, MayAppeal: r.MayAppeal(user),
	}
	if r.SideOf(user) == chat.Reporter {
		out.About, out.Reason = r.About, r.Reason
	}
	if r.State != chat.ReportOpen {
		out.ResolvedAt = Millis(r.ResolvedAt)
	}
	if r.Appeal.By == user {
		out.Appeal = r.Appeal.Text
	}
	return out
}
