package push

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/redpacket"
	"hongbao/redpacket/trace"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

// Publisher sends to the hub what the services publish: committed changes, the progress of packets, typing and presence. It
// implements chat.Publisher.
type Publisher struct {
	// static after CacheStandings
	hub   *hub.Hub
	node  string
	rooms *chat.Service // nil: standings are not cached before signals

	waits waitBudget // of reads of standings
}

// NewPublisher returns a publisher for a hub. node is the name of this instance: no other one may have it.
func NewPublisher(h *hub.Hub, node string) *Publisher { return &Publisher{hub: h, node: node} }

// CacheStandings sets the chat service whose cache the publisher fills with a user's standing before it signals that the standing
// changed. The sessions on this instance then apply the signal at once. chat.New needs the publisher, so NewPublisher cannot take the
// service. Call it before anything is published.
func (p *Publisher) CacheStandings(rooms *chat.Service) { p.rooms = rooms }

// Node returns the name of this instance.
func (p *Publisher) Node() string { return p.node }

// Entry implements chat.Publisher.
func (p *Publisher) Entry(e chat.Entry) {
	p.hub.Publish(RoomTopic(e.Room), entryMessage(e))
}

// ToRoom implements chat.Publisher.
func (p *Publisher) ToRoom(room string, e chat.Event) { p.to(RoomTopic(room), e) }

// ToUser implements chat.Publisher. Before a signal about a room it waits for the user's standing while the waitBudget allows it.
func (p *Publisher) ToUser(user string, e chat.Event) {
	switch e := e.(type) {
	case chat.Entered:
		p.cacheStanding(e.Membership.Room.ID, user)
	case chat.Exited:
		p.cacheStanding(e.Room, user)
	}
	p.to(UserTopic(user), e)
}

// StandingChanged implements chat.Publisher.
func (p *Publisher) StandingChanged(room, user string) {
	p.hub.Notify(Notice{Moved: &Membership{Room: room, User: user}}.encode())
}

// CloseSockets closes a socket of the user with a close code, whichever instance it is on. If socket is "", it closes
// all sockets of the user.
func (p *Publisher) CloseSockets(user, socket string, code int) {
	p.signal(UserTopic(user), Signal{Close: &Close{Code: code, Socket: socket}})
}

// to publishes an event. Changes of a user's rooms are signals to the sessions, an unknown outcome is for the hubs, erased or retired texts are for all other instances, and everything else is a
// push to the clients.
func (p *Publisher) to(topic string, e chat.Event) {
	switch e := e.(type) {
	case chat.Entered:
		p.signal(topic, EnteredSignal(e.Membership))
	case chat.Exited:
		p.signal(topic, Signal{Room: e.Room, Reason: e.Reason, Through: e.Through})
	case chat.OutcomeUnknown:
		p.hub.CompareTopic(topic)
	case chat.TextsRetired:
		DropErased(p.hub, e.Room)
		p.hub.Notify(Notice{Erased: &Membership{Room: e.Room}}.encode())
	case chat.UserErased:
		DropErased(p.hub, e.Room)
		p.hub.Notify(Notice{Erased: &Membership{Room: e.Room, User: e.User}}.encode())
	default:
		m := hub.Message{Data: messageOf(e), Meta: eventMeta(e)}
		if cause := causeOf(e); !cause.IsZero() {
			span := cause.Publish("publish " + e.EventName())
			defer span.End(nil)
			m.Trace = span.Traceparent()
		}
		p.hub.Publish(topic, m)
	}
}

// DropErased makes the hub drop what it keeps of a room in which names or texts were erased, or texts retired.
func DropErased(h *hub.Hub, room string) {
	if room != "" {
		h.DropRecent(RoomTopic(room))
	}
}

// causeOf returns the span that has caused an event, if it is known.
func causeOf(e chat.Event) trace.Link {
	switch e := e.(type) {
	case redpacket.Progress:
		return e.Cause
	case redpacket.WalletChanged:
		return e.Cause
	}
	return trace.Link{}
}

// Traced records the delivery of a message that another instance has published. It is for hub.Options.
func Traced(topic, traceparent string) (done func()) {
	span := trace.Deliver("deliver", traceparent)
	span.Text("hongbao.topic", topic)
	return func() { span.End(nil) }
}

// cacheStanding reads the user's standing into the cache if the user has a socket here. The user's sessions then apply
// the signal without waiting for the store. If the store does not answer in time, or the budget is used up, the sessions read the
// standing themselves.
func (p *Publisher) cacheStanding(room, user string) {
	if p.rooms == nil || p.hub.Listeners(UserTopic(user)) == 0 {
		return
	}
	began := time.Now()
	most := p.waits.left(began)
	if most <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	_, _ = p.rooms.Standing(ctx, room, user)
	p.waits.spend(time.Since(began))
}

const (
	mostWait   = time.Second          // a full waitBudget
	freeWait   = 5 * time.Millisecond // this part of each read is not taken from the budget
	refillWait = 10                   // the budget regains 1/refillWait of the time that passes
)

// waitBudget bounds how long a Publisher's calls wait for the store while it is slow. Otherwise a command that invites
// 100 users would be answered only after 100 timeouts. All commands share the budget, but calls that run at once may each
// wait for all that is left. The zero value is a full budget.
type waitBudget struct {
	mu    sync.Mutex
	spent time.Duration // guarded by mu
	at    time.Time     // guarded by mu; when spent was last computed
}

// left returns how long the caller may wait; 0 or less: not at all.
func (b *waitBudget) left(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.at.IsZero() {
		b.spent = max(0, b.spent-now.Sub(b.at)/refillWait)
	}
	b.at = now
	return mostWait - b.spent
}

// spend takes a wait out of the budget, except its first freeWait.
func (b *waitBudget) spend(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent = min(mostWait, b.spent+max(0, d-freeWait)) // so that it is full again soon after the store is fast
}

func (p *Publisher) signal(topic string, s Signal) {
	s.By = p.node
	p.hub.Signal(topic, s.Encode())
}

// EnteredSignal returns the signal that the membership's user has become a member of its room.
func EnteredSignal(m chat.Membership) Signal {
	s := Signal{Room: m.Room.ID, Entered: &Entered{Seen: m.Room.LastSeq}}
	s.Entered.Data.Room = convert.Membership(m)
	return s
}

// NoSequence is the value of seen for hub.Conn.Subscribe if the topic's messages have no seq.
const NoSequence = -1

// RoomTopic returns the name of a room's topic in the hub, which is also its channel on the wire. The topic carries the
// room's entries, with their seqs, and the pushes without a seq that go to the room.
func RoomTopic(room string) string { return wire.RoomChannel(room) }

// UserTopic returns the name of the topic that all sockets of a user are subscribed to.
func UserTopic(user string) string { return userTopics + user }

// Ping returns the message that checks whether a client is alive. It is for hub.Options.
func Ping(e hub.Encoding) []byte { return wire.Ping(wire.Encoding(e)) }

// TopicUser returns the user whose topic has this name.
func TopicUser(topic string) (user string, ok bool) { return strings.CutPrefix(topic, userTopics) }

const userTopics = "user:"

// Left returns the data of the push left, for wire.MessagePush. It tells a client that its user is out of a room.
func Left(room, reason string) []byte {
	return marshal(wire.Message{Left: &wire.LeftPush{Room: room, Reason: reason}})
}

// messageOf returns the data of the push for an event, as clients receive it. It panics for an event that has no push.
func messageOf(e chat.Event) []byte {
	var m wire.Message
	switch e := e.(type) {
	case chat.MembersCounted:
		m.Members = &wire.MembersPush{Room: e.Room, Count: e.Count}
	case chat.ReadMoved:
		m.Read = &wire.ReadPush{Room: e.Room, User: e.User, Seq: e.Seq}
	case chat.Typed:
		m.Typing = &wire.TypingPush{Room: e.Room, User: e.User}
	case chat.PresenceChanged:
		m.Presence = &wire.PresencePush{Room: e.Room, User: e.User, Online: e.Online}
	case chat.ContactsChanged:
		m.Contacts = &wire.ContactsPush{Contact: string(e.Contact), User: e.User, Blocked: e.Blocked}
	case chat.JoinRequested:
		m.JoinRequests = &wire.JoinRequestsPush{Room: e.Room, Count: e.Count}
	case chat.JoinRefused:
		m.JoinRefused = &wire.JoinRefusedPush{Room: e.Room}
	case chat.ReportDecided:
		m.ReportDecided = new(convert.OwnReport(e.Report, e.User))
	case chat.PrefsChanged:
		m.RoomPrefs = &wire.RoomPrefsPush{Room: e.Room, Silent: e.Prefs.Silent, SilentUntil: convert.Millis(e.Prefs.SilentUntil), Pinned: e.Prefs.Pinned, Archived: e.Prefs.Archived}
	case redpacket.Progress:
		return wire.ProgressPush{Packet: e.Packet, Room: e.Room, Claimed: e.Claimed, Count: e.Count, Latest: e.Latest, Participants: e.Participants}.MessageJSON()
	case redpacket.WaveEvent:
		m.PacketWave = convert.Wave(e)
	case redpacket.WalletChanged:
		return wire.WalletPush{
			Balance: int64(e.Account.Balance), AccountVersion: e.Account.Version,
			Change: int64(e.Change), Kind: string(e.Kind), Packet: e.Packet,
			NextCommitment: e.Account.NextCommitment,
		}.MessageJSON()
	default:
		panic("push: no push for event " + e.EventName())
	}
	return marshal(m)
}

// marshal encodes a value of our own types, for which encoding cannot fail.
func marshal(v any) []byte {
	data, err := wire.Marshal(v)
	if err != nil {
		panic("push: " + err.Error())
	}
	return data
}

// entryMessage returns an entry as a message of the hub. The bytes are the same for a new entry and one read from the
// store.
func entryMessage(e chat.Entry) hub.Message {
	return hub.Message{Seq: e.Seq, Data: wire.EntryJSON(convert.Entry(e)), Meta: entryMeta(e.Kind, e.Body), Final: finalFor(e), Deferred: deferrable(e.Kind)}
}

// deferrable reports whether entries of this kind may be delayed, to be written together with others. No user waits for
// them.
func deferrable(k chat.EntryKind) bool { return k == chat.KindPacketDone || k == chat.KindReact }

// finalFor returns the topic of the user whose membership the entry ends by a kick, a ban or leaving a private room. For
// any other entry it returns "", also if the host has removed many users. The user receives nothing of the room after the
// entry, even if later entries arrive before the signal that takes the user's sockets out of the room.
func finalFor(e chat.Entry) string {
	if e.Kind != chat.KindMember {
		return ""
	}
	var body chat.MemberChange
	if json.Unmarshal(e.Body, &body) != nil {
		return ""
	}
	switch body.Change {
	case "kicked", "banned", "left_private":
		return UserTopic(body.User)
	}
	return ""
}

// Repair reads entries of rooms from the store: those that the bus has lost, and those that clients have missed. It also reads the
// last seqs of rooms. Its methods are for hub.Options.
type Repair struct{ Store chat.Store }

// Fetch reads spans of entries of rooms from the store. It omits topics that are not rooms.
func (r Repair) Fetch(ctx context.Context, spans []hub.Span) (map[string][]hub.Message, error) {
	var wanted []chat.Span
	for _, span := range spans {
		if room, ok := wire.ChannelRoom(span.Topic); ok {
			wanted = append(wanted, chat.Span{Room: room, After: span.After, Through: span.Through})
		}
	}
	rooms, err := r.Store.Spans(ctx, wanted)
	if err != nil {
		return nil, err
	}
	byTopic := make(map[string][]hub.Message, len(rooms))
	for room, entries := range rooms {
		byTopic[RoomTopic(room)] = convert.List(entries, entryMessage)
	}
	return byTopic, nil
}

// LastSeqs reads the last seq of each room from the store. It omits topics that are not rooms, and rooms that do not exist.
func (r Repair) LastSeqs(ctx context.Context, topics []string) (map[string]int64, error) {
	rooms := make([]string, 0, len(topics))
	for _, topic := range topics {
		if room, ok := wire.ChannelRoom(topic); ok {
			rooms = append(rooms, room)
		}
	}
	seqs, err := r.Store.LastSeqs(ctx, rooms)
	if err != nil {
		return nil, err
	}
	byTopic := make(map[string]int64, len(seqs))
	for room, seq := range seqs {
		byTopic[RoomTopic(room)] = seq
	}
	return byTopic, nil
}

// Encoder encodes the hub's messages as pushes. It sees all messages of a room with connections on this instance, in
// order. So it can drop progress of a packet that is older than what was sent, or that comes after the packet's end.
// Progress comes from several instances, so no publisher could ensure that.
type Encoder struct {
	mu sync.Mutex
	// Guarded by mu. By packet: the number of claimed shares, or of a draw's participants, sent last, or ended. When latest is full, it becomes
	// previous, and the old previous is dropped.
	latest, previous map[string]int
}

const (
	ended      = math.MaxInt // higher than any number of claimed shares
	maxTracked = 10_000      // packets in latest
)

// NewEncoder returns an encoder. Each hub needs its own.
func NewEncoder() *Encoder { return &Encoder{} }

// Encode implements hub.Options.Encode. It returns nil for outdated progress, which is then not sent.
func (n *Encoder) Encode(e hub.Encoding, topic string, m hub.Message) []byte {
	about, _ := m.Meta.(meta)
	switch {
	case m.Seq > 0:
		if about.kind == chat.KindPacketDone {
			n.end(about.packet)
		}
		return wire.PublicationPush(wire.Encoding(e), topic, m.Seq, m.Data)
	case about.progress && !n.advance(about.packet, about.claimed):
		return nil
	}
	return wire.MessagePush(wire.Encoding(e), m.Data)
}

// end records that the packet has ended.
func (n *Encoder) end(packet string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.setLocked(packet, ended)
}

// advance records the progress of a packet. It returns false if higher progress, or the packet's end, was recorded
// before.
func (n *Encoder) advance(packet string, claimed int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if claimed < max(n.latest[packet], n.previous[packet]) {
		return false
	}
	n.setLocked(packet, claimed)
	return true
}

func (n *Encoder) setLocked(packet string, claimed int) {
	if n.latest == nil || len(n.latest) >= maxTracked {
		n.latest, n.previous = map[string]int{}, n.latest
	}
	n.latest[packet] = claimed
}

// meta is the Meta of a hub.Message: what this package must know about a push without parsing its bytes. Most messages
// have no Meta.
type meta struct {
	kind     chat.EntryKind // of an entry, if it is an edit, recall, packet or packet_done
	target   int64          // of an edit or recall: the seq of the text
	packet   string         // id; of a packet or packet_done entry, or of progress
	progress bool           // the message says how many shares of a packet are claimed
	claimed  int            // number of claimed shares, of progress
}

// Every message with a Meta contains one of these byte sequences. Other messages are not parsed.
var (
	progressPrefix = []byte(`{"packet_progress":`)
	kindsWithMeta  = [][]byte{
		[]byte(`"kind":"edit"`), []byte(`"kind":"recall"`), []byte(`"kind":"packet"`), []byte(`"kind":"packet_done"`),
	}
)

// PacketIn returns the id of the packet that a packet entry announces, or "" for any other message.
func PacketIn(m hub.Message) string {
	if about, ok := m.Meta.(meta); ok && about.kind == chat.KindPacket {
		return about.packet
	}
	return ""
}

// entryMeta returns the Meta of an entry, or nil if it has none.
func entryMeta(kind chat.EntryKind, body json.RawMessage) any {
	switch kind {
	case chat.KindEdit, chat.KindRecall, chat.KindPacket, chat.KindPacketDone:
	default:
		return nil
	}
	var b struct {
		Target int64  `json:"target"` // edit, recall
		ID     string `json:"id"`     // packet
		Packet string `json:"packet"` // packet_done
	}
	if json.Unmarshal(body, &b) != nil {
		return nil
	}
	if kind == chat.KindPacket {
		b.Packet = b.ID
	}
	return meta{kind: kind, target: b.Target, packet: b.Packet}
}

// eventMeta returns the Meta of an event, or nil if it has none.
func eventMeta(e chat.Event) any {
	if p, ok := e.(redpacket.Progress); ok {
		return meta{progress: true, packet: p.Packet, claimed: max(p.Claimed, p.Participants)}
	}
	return nil
}

// Decode returns the Meta of a message that another instance has published. It is for hub.Options.
func Decode(_ string, seq int64, data []byte) any {
	if seq <= 0 {
		var m wire.Message
		if !bytes.HasPrefix(data, progressPrefix) || json.Unmarshal(data, &m) != nil || m.PacketProgress == nil {
			return nil
		}
		p := m.PacketProgress
		return meta{progress: true, packet: p.Packet, claimed: max(p.Claimed, p.Participants)}
	}
	if !slices.ContainsFunc(kindsWithMeta, func(kind []byte) bool { return bytes.Contains(data, kind) }) {
		return nil
	}
	var e struct {
		Kind chat.EntryKind  `json:"kind"`
		Body json.RawMessage `json:"body"`
	}
	if json.Unmarshal(data, &e) != nil {
		return nil
	}
	return entryMeta(e.Kind, e.Body)
}
