package eventlog

import (
	"encoding/json"
	"fmt"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// Ref refers to one fact, or to several similar facts: claims of one packet, or the same change of several users. It is stored as JSON,
// so the names of its fields are short.
type Ref struct {
	Kind     string          `json:"k,omitempty"` // "" for claims: each is an event of two kinds, PacketClaimed and TransferClaim
	Room     string          `json:"r,omitempty"`
	Seq      int64           `json:"s,omitempty"` // of an entry of the room
	Packet   string          `json:"p,omitempty"` // of claims
	Shares   []int           `json:"n,omitempty"` // of these claims
	Transfer string          `json:"t,omitempty"` // id of a transfer; its key also has the user and the time
	At       int64           `json:"a,omitempty"` // of the transfer, in Unix milliseconds
	Users    []string        `json:"u,omitempty"` // one event for each user
	Data     json.RawMessage `json:"d,omitempty"`
}

// Refs collects the references of one transaction. It ignores facts whose kind is not wanted. The zero value ignores all facts.
type Refs struct {
	wanted Kinds
	refs   []Ref
	marked int // the references before it stay as they are
}

// Collect returns an empty collection of the wanted kinds.
func Collect(wanted Kinds) Refs { return Refs{wanted: wanted} }

// Empty reports whether nothing was collected.
func (r *Refs) Empty() bool { return len(r.refs) == 0 }

// Mark returns the number of references. Truncate with that number forgets all references that are added later.
func (r *Refs) Mark() int {
	r.marked = len(r.refs)
	return r.marked
}

// Truncate forgets the references that were added after the call of Mark that returned n.
func (r *Refs) Truncate(n int) { r.refs = r.refs[:n] }

// Entry adds an entry. The entry must have got its seq.
func (r *Refs) Entry(room string, seq int64, kind chat.EntryKind) {
	if k := ofEntry(kind); r.wanted[k] {
		r.refs = append(r.refs, Ref{Kind: k, Room: room, Seq: seq})
	}
}

// WantsClaims reports whether a claim is an event of a wanted kind.
func (r *Refs) WantsClaims() bool { return r.wanted[PacketClaimed] || r.wanted[TransferClaim] }

// Claim adds the claim of a share.
func (r *Refs) Claim(packet string, share int) {
	if !r.WantsClaims() {
		return
	}
	if n := len(r.refs); n > r.marked && r.refs[n-1].Packet == packet {
		r.refs[n-1].Shares = append(r.refs[n-1].Shares, share)
		return
	}
	r.refs = append(r.refs, Ref{Packet: packet, Shares: []int{share}})
}

// Transfer adds a transfer, except one of a claim: Claim adds that. data is nil, or JSON without text that a user has written.
func (r *Refs) Transfer(user string, at time.Time, id string, kind redpacket.TransferKind, data json.RawMessage) {
	if k := ofTransfer(kind); r.wanted[k] && kind != redpacket.TransferClaim {
		r.refs = append(r.refs, Ref{Kind: k, Users: []string{user}, At: at.UnixMilli(), Transfer: id, Data: data})
	}
}

// Members adds users that have become members of the room (MemberJoined) or are members no longer (MemberLeft).
func (r *Refs) Members(kind, room string, users ...string) {
	if r.wanted[kind] && len(users) > 0 {
		r.refs = append(r.refs, Ref{Kind: kind, Room: room, Users: users})
	}
}

// Room adds a room that was created or deleted. An update of a room is an entry: see Entry.
func (r *Refs) Room(kind, room string) {
	if r.wanted[kind] {
		r.refs = append(r.refs, Ref{Kind: kind, Room: room})
	}
}

// User adds an event about a user. data is nil, or JSON without text that a user has written.
func (r *Refs) User(kind, user string, data json.RawMessage) {
	if r.wanted[kind] {
		r.refs = append(r.refs, Ref{Kind: kind, Users: []string{user}, Data: data})
	}
}

// Report adds an event about a report of a user.
func (r *Refs) Report(kind string, report chat.Report) {
	if r.wanted[kind] {
		r.refs = append(r.refs, Ref{Kind: kind, Room: report.Room, Users: []string{report.By}, Data: report.Details()})
	}
}

// Bytes returns the references as they are stored.
func (r *Refs) Bytes() ([]byte, error) {
	text, err := json.Marshal(r.refs)
	if err != nil {
		return nil, fmt.Errorf("encode %d references to events: %w", len(r.refs), err)
	}
	return text, nil
}

// Row is a row of the table events.
type Row struct {
	Chain, ID int64
	At        time.Time
	Refs      []byte
}

// item is one event of a row. If the event refers to an entry, a claim or a transfer, that is not loaded yet.
type item struct {
	row  Row
	n    int // index in the row
	kind string

	entry    EntryKey
	claim    ClaimKey
	transfer TransferKey
	room     string
	user     string
	data     json.RawMessage
}

// items returns the wanted events of the row in order. n is the index of an event among all events of the row. A reader's position inside
// a row is such an index, so the same bytes must give the same events in every version.
func (r Row) items(wanted func(kind string, n int) bool) (found []item, err error) {
	var refs []Ref
	if err := json.Unmarshal(r.Refs, &refs); err != nil {
		return nil, fmt.Errorf("parse event %d of chain %d: %w", r.ID, r.Chain, err)
	}
	count := 0
	add := func(i item) {
		if wanted(i.kind, count) {
			i.row, i.n = r, count
			found = append(found, i)
		}
		count++
	}
	for _, ref := range refs {
		switch {
		case ref.Kind == UserOffline:
			for _, user := range ref.Users {
				add(item{kind: ref.Kind, user: user, entry: EntryKey{ref.Room, ref.Seq}, data: ref.Data})
			}
		case ref.Seq > 0:
			add(item{kind: ref.Kind, entry: EntryKey{ref.Room, ref.Seq}})
		case ref.Packet != "":
			for _, share := range ref.Shares {
				add(item{kind: PacketClaimed, claim: ClaimKey{ref.Packet, share}})
				add(item{kind: TransferClaim, claim: ClaimKey{ref.Packet, share}})
			}
		case ref.Transfer != "" && len(ref.Users) == 1:
			add(item{kind: ref.Kind, transfer: TransferKey{ref.Users[0], ref.At, ref.Transfer}, data: ref.Data})
		case len(ref.Users) == 0:
			add(item{kind: ref.Kind, room: ref.Room, data: ref.Data})
		default:
			for _, user := range ref.Users {
				add(item{kind: ref.Kind, room: ref.Room, user: user, data: ref.Data})
			}
		}
	}
	return found, nil
}

// ofEntry returns the kind of the event that an entry is, or "" if it is none.
func ofEntry(kind chat.EntryKind) string {
	switch kind {
	case chat.KindText:
		return MessageNew
	case chat.KindEdit:
		return MessageEdited
	case chat.KindRecall:
		return MessageRecalled
	case chat.KindReact:
		return MessageReaction
	case chat.KindPacket:
		return PacketSent
	case chat.KindPacketDone:
		return PacketClosed
	case chat.KindMember:
		return MemberChanged
	case chat.KindRoom:
		return RoomUpdated
	}
	return ""
}

// ofTransfer returns the kind of the event that a transfer is.
func ofTransfer(kind redpacket.TransferKind) string { return "transfer." + string(kind) }
