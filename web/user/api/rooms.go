package api

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/convert"
	"hongbao/web/wire"
	"hongbao/web/wire/strict"
)

func (a *Commands) createRoom(ctx context.Context, c Caller, r *wire.CreateRoomRequest) (wire.CreateRoomReply, error) {
	room := chat.CreateRoom{
		Key: r.Key, Name: r.Name, Kind: chat.RoomKind(r.Kind), Members: r.Members,
		Invite: chat.Inviters(r.Invite), NoGuests: r.Guests != nil && !*r.Guests, NoPackets: r.Packets != nil && !*r.Packets,
	}
	if err := a.rates.spendContact(ctx, c, "create_room", a.contactRates.CreateRoom, a.chat.CheckCreateRoom(c.User.ID, room) == nil); err != nil {
		return wire.CreateRoomReply{}, err
	}
	if a.wants("create_room") && a.chat.CheckCreateRoom(c.User.ID, room) == nil {
		if _, err := a.ask(ctx, Question{Command: "create_room", User: c.User, Request: r}, a.keyUsed(ctx, c.User.ID, r.Key)); err != nil {
			return wire.CreateRoomReply{}, err
		}
	}
	m, dup, err := a.chat.CreateRoom(ctx, c.User, room)
	return wire.CreateRoomReply{Room: convert.Membership(m), Dup: dup}, err
}

func (a *Commands) join(ctx context.Context, c Caller, r *wire.JoinRequest) (wire.JoinReply, error) {
	m, err := a.chat.Join(ctx, c.User, r.Room)
	return wire.JoinReply{Room: convert.Membership(m)}, err
}

func (a *Commands) leave(ctx context.Context, c Caller, r *wire.LeaveRequest) (wire.LeaveReply, error) {
	if standing, err := a.chat.Standing(ctx, r.Room, c.User.ID); err == nil && standing.In { // else nothing is written, and the id may be any
		if err := a.rates.spendLeave(ctx, c.User.ID, r.Room); err != nil {
			return wire.LeaveReply{}, err
		}
	}
	return wire.LeaveReply{}, a.chat.Leave(ctx, c.User, r.Room)
}

func (a *Commands) rooms(ctx context.Context, c Caller, r *wire.RoomsRequest) (wire.RoomsReply, error) {
	rooms, next, err := a.chat.RoomsPage(ctx, c.User.ID, r.Next, r.Limit)
	return wire.RoomsReply{Rooms: convert.List(rooms, convert.MyRoom), Next: next}, err
}

func (a *Commands) findRooms(ctx context.Context, _ Caller, r *wire.FindRoomsRequest) (wire.FindRoomsReply, error) {
	rooms, next, err := a.chat.FindRooms(ctx, r.Query, r.Next, r.Limit)
	return wire.FindRoomsReply{Rooms: convert.List(rooms, convert.Room), Next: next}, err
}

func (a *Commands) direct(ctx context.Context, c Caller, r *wire.DirectRequest) (wire.DirectReply, error) {
	if err := a.rates.spendContact(ctx, c, "direct", a.contactRates.Direct, a.chat.CheckDirect(c.User.ID, r.User) == nil); err != nil {
		return wire.DirectReply{}, err
	}
	m, err := a.chat.Direct(ctx, c.User, r.User)
	return wire.DirectReply{Room: convert.Membership(m)}, err
}

func (a *Commands) invite(ctx context.Context, c Caller, r *wire.InviteRequest) (wire.InviteReply, error) {
	if err := a.rates.spendContact(ctx, c, "invite", a.contactRates.Invite, a.chat.CheckInvite(r.Room, r.Users) == nil); err != nil {
		return wire.InviteReply{}, err
	}
	if a.wants("invite") && a.chat.CheckInvite(r.Room, r.Users) == nil {
		if _, err := a.ask(ctx, Question{Command: "invite", User: c.User, Room: r.Room, Request: r}, nil); err != nil {
			return wire.InviteReply{}, err
		}
	}
	return wire.InviteReply{}, a.chat.Invite(ctx, c.User, r.Room, r.Users)
}

func (a *Commands) block(ctx context.Context, c Caller, r *wire.BlockRequest) (wire.BlockReply, error) {
	return wire.BlockReply{}, a.chat.Block(ctx, c.User, r.User)
}

func (a *Commands) unblock(ctx context.Context, c Caller, r *wire.UnblockRequest) (wire.UnblockReply, error) {
	return wire.UnblockReply{}, a.chat.Unblock(ctx, c.User, r.User)
}

func (a *Commands) setContact(ctx context.Context, c Caller, r *wire.SetContactRequest) (wire.SetContactReply, error) {
	return wire.SetContactReply{}, a.chat.SetContact(ctx, c.User.ID, chat.Contact(r.Contact))
}

func (a *Commands) contacts(ctx context.Context, c Caller, _ *wire.ContactsRequest) (wire.ContactsReply, error) {
	contacts, err := a.chat.Contacts(ctx, c.User.ID)
	return wire.ContactsReply{Contact: string(contacts.Contact), Blocked: convert.List(contacts.Blocked, convert.User)}, err
}

func (a *Commands) users(ctx context.Context, c Caller, r *wire.UsersRequest) (wire.UsersReply, error) {
	users, err := a.chat.Users(ctx, c.User.ID, r.Users)
	return wire.UsersReply{Users: convert.List(users, convert.User)}, err
}

func (a *Commands) kick(ctx context.Context, c Caller, r *wire.KickRequest) (wire.KickReply, error) {
	if !r.Ban {
		return wire.KickReply{}, a.chat.Kick(ctx, c.User, r.Room, r.User)
	}
	var until time.Time
	if r.Until > 0 {
		until = time.UnixMilli(r.Until).UTC()
	}
	return wire.KickReply{}, a.chat.Ban(ctx, c.User, r.Room, r.User, until, r.Reason)
}

func (a *Commands) unban(ctx context.Context, c Caller, r *wire.UnbanRequest) (wire.UnbanReply, error) {
	return wire.UnbanReply{}, a.chat.Unban(ctx, c.User, r.Room, r.User)
}

func (a *Commands) setRole(ctx context.Context, c Caller, r *wire.SetRoleRequest) (wire.SetRoleReply, error) {
	return wire.SetRoleReply{}, a.chat.SetRole(ctx, c.User, r.Room, r.User, chat.Role(r.Role))
}

func (a *Commands) mute(ctx context.Context, c Caller, r *wire.MuteRequest) (wire.MuteReply, error) {
	return wire.MuteReply{}, a.chat.Mute(ctx, c.User, r.Room, r.User, r.Seconds)
}

func (a *Commands) updateRoom(ctx context.Context, c Caller, r *wire.UpdateRoomRequest) (wire.UpdateRoomReply, error) {
	m, err := a.chat.UpdateRoom(ctx, c.User, r.Room, chat.RoomChange{
		Name: r.Name, Announcement: r.Announcement, Invite: chat.Inviters(r.Invite), Guests: r.Guests, Packets: r.Packets,
	})
	return wire.UpdateRoomReply{Room: convert.Membership(m)}, err
}

func (a *Commands) deleteRoom(ctx context.Context, c Caller, r *wire.DeleteRoomRequest) (wire.DeleteRoomReply, error) {
	err := a.chat.DeleteRoom(ctx, c.User, r.Room)
	if err == nil {
		a.packets.RoomDeleted(r.Room)
	}
	return wire.DeleteRoomReply{}, err
}

func (a *Commands) setRoomPrefs(ctx context.Context, c Caller, r *wire.SetRoomPrefsRequest) (wire.SetRoomPrefsReply, error) {
	silence := time.Duration(min(r.SilentS, math.MaxInt64/int64(time.Second))) * time.Second
	p, err := a.chat.SetPrefs(ctx, chat.PrefsChange{
		Room: r.Room, User: c.User.ID, Silent: r.Silent, SilentFor: silence, Pinned: r.Pinned, Archived: r.Archived,
	})
	return wire.SetRoomPrefsReply{Silent: p.Silent, SilentUntil: convert.Millis(p.SilentUntil), Pinned: p.Pinned, Archived: p.Archived}, err
}

// Limits returns the limits that the server tells its clients: those of the services, the contact rates per user if rates are on,
// and the defaults of package wire for the others. The caller sets SocketsPerUser, which is an option of the server.
func (a *Commands) Limits() wire.Limits {
	l := wire.DefaultLimits()
	c, p := a.chat.Limits(), a.packets.Limits()
	l.TextChars, l.DataBytes, l.EmojiChars, l.Mentions = c.TextChars, c.DataBytes, c.EmojiChars, c.Mentions
	l.QueryChars = a.chat.QueryChars()
	l.Files, l.FileBytes, l.FileDayBytes = a.fileLimits()
	l.NameChars, l.AnnouncementChars = c.NameChars, c.AnnouncementChars
	l.InviteUsers, l.RoomMembers, l.Rooms = c.InviteUsers, c.RoomMembers, c.Rooms
	l.PublicRooms, l.Blocks = c.PublicRooms, c.Blocks
	if a.rates.local != nil {
		l.CreatesPerMinute, l.InvitesPerMinute = a.contactRates.CreateRoom.PerUser, a.contactRates.Invite.PerUser
		l.DirectsPerMinute = a.contactRates.Direct.PerUser
	}
	l.PacketTotal, l.PacketCount, l.PacketTo, l.OpenPackets = int64(p.MaxTotal), p.MaxCount, p.To, p.MaxOpen
	l.GreetingChars, l.PassphraseChars = p.GreetingChars, p.PassphraseChars
	l.TTLMinS, l.TTLMaxS, l.TTLDefaultS = seconds(p.MinTTL), seconds(p.MaxTTL), seconds(p.DefaultTTL)
	l.WindowMinS, l.WindowMaxS = seconds(p.MinWindow), seconds(p.MaxWindow)
	l.WavesMin, l.WavesMax, l.RainMinS, l.RainMaxS = p.MinWaves, p.MaxWaves, seconds(p.MinOver), seconds(p.MaxOver)
	l.OpensInMaxS = seconds(p.MaxAhead)
	return l
}

func seconds(d time.Duration) int { return int(d / time.Second) }

func (a *Commands) presence(ctx context.Context, c Caller, r *wire.PresenceRequest) (wire.PresenceReply, error) {
	online, users, err := a.chat.Online(ctx, c.User.ID, r.Room)
	reply := wire.PresenceReply{Online: online}
	if users != nil { // an empty list is sent, a missing one is not
		reply.Users = &users
	}
	return reply, err
}

func (a *Commands) members(ctx context.Context, c Caller, r *wire.MembersRequest) (wire.MembersReply, error) {
	members, next, err := a.chat.Members(ctx, c.User.ID, r.Room, r.Next, r.Limit)
	if err != nil {
		return wire.MembersReply{}, err
	}
	online := a.online(ctx, members)
	reply := wire.MembersReply{Members: convert.List(members, convert.Member), Next: next}
	for i := range reply.Members {
		reply.Members[i].Online = online[i] && !members[i].Stranger
	}
	return reply, nil
}

// online reports for each member whether they have a socket on any instance. If the presence directory cannot be read,
// it reports only sockets on this instance.
func (a *Commands) online(ctx context.Context, members []chat.Member) []bool {
	users := make([]string, len(members))
	for i, m := range members {
		users[i] = m.User.ID
	}
	online, err := a.chat.MembersOnline(ctx, users)
	if err == nil {
		return online
	}
	a.log.Debug("presence of other instances unknown", "err", err)
	online = make([]bool, len(users))
	for i, user := range users {
		online[i] = a.connected(user)
	}
	return online
}

func (a *Commands) send(ctx context.Context, c Caller, r *wire.SendRequest) (wire.SendReply, error) {
	m := chat.Message{
		Room: r.Room, Key: r.Key, Text: r.Text, Data: r.Data, ReplyTo: r.ReplyTo, Mentions: r.Mentions, Files: r.Files, MentionAll: r.MentionAll,
	}
	if err := a.askSend(ctx, c, &m, r); err != nil {
		return wire.SendReply{}, err
	}
	if err := a.spendMentionAll(ctx, c, m); err != nil {
		return wire.SendReply{}, err
	}
	sent, err := a.chat.Send(ctx, c.User, m)
	return wire.SendReply{Seq: sent.Seq, ID: sent.ID, At: convert.Millis(sent.At), Dup: sent.Dup}, err
}

// spendMentionAll counts a text that mentions all members of a room against the rate of the room. It does not count requests that are refused
// because of the user's standing, nor those that were carried out before.
func (a *Commands) spendMentionAll(ctx context.Context, c Caller, m chat.Message) error {
	if !m.MentionAll || a.rates.local == nil {
		return nil
	}
	if refused := a.chat.CheckMessage(m); refused != nil {
		return nil //nolint:nilerr // chat.Send returns it
	}
	st, err := a.chat.Standing(ctx, m.Room, c.User.ID)
	if err != nil || st.MaySend(time.Now()) != nil || st.MayMentionAll() != nil {
		return err
	}
	if used, err := a.packets.KeyUsed(ctx, c.User.ID, m.Key); err != nil || used {
		return err
	}
	return a.rates.spendMentionAll(ctx, m.Room)
}

func (a *Commands) history(ctx context.Context, c Caller, r *wire.HistoryRequest) (wire.HistoryReply, error) {
	entries, more, err := a.chat.History(ctx, c.User.ID, r.Room, chat.Page{Before: r.Before, After: r.After, Files: chat.FileKind(r.Files), Limit: r.Limit})
	if err != nil {
		return wire.HistoryReply{}, err
	}
	states, err := packetStates(ctx, a.packets, c.User.ID, entries)
	return wire.HistoryReply{Entries: convert.List(entries, convert.Entry), PacketStates: states, More: more}, err
}

func (a *Commands) mentions(ctx context.Context, c Caller, r *wire.MentionsRequest) (wire.MentionsReply, error) {
	entries, next, err := a.chat.Mentions(ctx, c.User.ID, r.Next, r.Limit)
	return wire.MentionsReply{Mentions: convert.List(entries, convert.Mention), Next: next}, err
}

func (a *Commands) search(ctx context.Context, c Caller, r *wire.SearchRequest) (wire.SearchReply, error) {
	kind, files := chat.EntryKind(r.Kind), r.Kind == wire.SearchFiles
	if files {
		kind = chat.KindText
	}
	found, err := a.chat.Search(ctx, r.Words, chat.Search{
		User: c.User.ID, Room: r.Room, From: r.From, Kind: kind, Files: files, After: convert.FromMillis(r.After), Before: convert.FromMillis(r.Before),
		Next: r.Next, Limit: r.Limit,
	})
	return wire.SearchReply{Hits: convert.List(found.Hits, convert.Hit), Next: found.More, Behind: found.Behind}, err
}

func (a *Commands) read(ctx context.Context, c Caller, r *wire.ReadRequest) (wire.ReadReply, error) {
	unread, err := a.chat.Read(ctx, c.User.ID, r.Room, r.Seq)
	return wire.ReadReply{Unread: unread}, err
}

// packetStates returns the present state of each packet among the entries, as the given user may see it.
func packetStates(ctx context.Context, service *redpacket.Service, user string, entries []chat.Entry) ([]wire.State, error) {
	var packets []string
	for _, e := range entries {
		if e.Kind != chat.KindPacket {
			continue
		}
		id, err := packetOf(e)
		if err != nil {
			return nil, err
		}
		packets = append(packets, id)
	}
	states, err := service.States(ctx, user, packets)
	return convert.List(states, convert.State), err
}

// packetOf returns the ID of the packet that a packet entry announces.
func packetOf(e chat.Entry) (string, error) {
	var body struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(e.Body, &body); err != nil {
		return "", fmt.Errorf("packet entry %s: %w", e.ID, err)
	}
	return body.ID, nil
}

func (a *Commands) edit(ctx context.Context, c Caller, r *wire.EditRequest) (wire.SeqReply, error) {
	text, preview, err := a.askEdit(ctx, c, r)
	if err != nil {
		return wire.SeqReply{}, err
	}
	seq, err := a.chat.Edit(ctx, c.User, r.Room, r.Seq, text, preview)
	return wire.SeqReply{Seq: seq}, err
}

func (a *Commands) recall(ctx context.Context, c Caller, r *wire.RecallRequest) (wire.SeqReply, error) {
	seq, err := a.chat.Recall(ctx, c.User, r.Room, r.Seq)
	return wire.SeqReply{Seq: seq}, err
}

func (a *Commands) react(ctx context.Context, c Caller, r *wire.ReactRequest) (wire.ReactReply, error) {
	return wire.ReactReply{}, a.chat.React(ctx, c.User, r.Room, r.Seq, r.Emoji, r.On)
}

// Typing handles the message of a client that its user is typing in a room. It has no reply, and invalid data is
// ignored.
func (a *Commands) Typing(ctx context.Context, c Caller, data []byte) {
	var sent wire.TypingSend
	var in wire.TypingRoom
	if strict.Decode(data, &sent) != nil || strict.Decode(sent.Typing, &in) != nil {
		return
	}
	a.chat.Typing(ctx, c.User, in.Room)
}
