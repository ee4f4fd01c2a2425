package browser

import (
	"fmt"

	"hongbao/web/wire"
)

// sample is realistic content of a user's rooms, in one language: messages, packets in several states, and other rooms.
type sample struct {
	fixture *fixture
	in      language

	me      *apiUser
	friends []*apiUser

	room, direct, private  string
	picture                string // of the private room: its seq and its file
	finished, open, locked string // packets
	seq                    int64  // of a message of the user's own
}

// addPublicRoom creates a room that is there before the user signs in.
func (f *fixture) addPublicRoom(in language) {
	f.t.Helper()
	command[wire.CreateRoomReply](f.newAPIUser(in.people[4]), "create_room", wire.CreateRoomRequest{Key: newKey(), Name: in.public, Kind: "public"})
}

// populate fills the rooms of a user that has signed in.
func (f *fixture) populate(u *browserUser, in language) *sample {
	f.t.Helper()
	s := &sample{fixture: f, in: in, me: &apiUser{f, wire.GuestReply{Token: u.token(), User: wire.User{ID: u.id()}}}}
	for i, name := range in.people {
		friend := f.newAPIUser(name)
		if animal := []int{5, 0, 4, 7, 10}[i]; animal > 0 { // one keeps the first letter
			friend.changeProfile(fmt.Sprintf("avatars/%d.svg", animal))
		}
		s.friends = append(s.friends, friend)
	}
	s.me.changeProfile("avatars/1.svg")
	s.room = s.createRoom(s.me, in.room, "public")
	for _, friend := range s.friends {
		friend.join(s.room)
	}
	s.addMessages()
	s.addPackets()
	s.addOtherRooms()
	command[wire.ReportReply](s.me, "report", wire.ReportRequest{Key: newKey(), Room: s.room, User: s.friends[4].User.ID, Reason: "spam"})
	return s
}

func (a *apiUser) changeProfile(avatar string) {
	a.fixture.t.Helper()
	if status, answer, err := a.fixture.server.Post(a.Token, "guests/profile", wire.ProfileRequest{Avatar: &avatar}); err != nil || status != 200 {
		a.fixture.t.Fatalf("profile: status %d: %s, error %v, want 200", status, answer, err)
	}
}

func (s *sample) createRoom(by *apiUser, name, kind string, members ...string) (room string) {
	s.fixture.t.Helper()
	return command[wire.CreateRoomReply](by, "create_room", wire.CreateRoomRequest{Key: newKey(), Name: name, Kind: kind, Members: members}).Room.ID
}

// addMessages sends messages with a reply, a mention, reactions and a recalled one.
func (s *sample) addMessages() {
	s.fixture.t.Helper()
	f, lines := s.friends, s.in.talkLines
	first := f[1].say(s.room, lines[0])
	command[wire.SendReply](f[2], "send", wire.SendRequest{Room: s.room, Key: newKey(), Text: lines[1], ReplyTo: first.Seq})
	third := f[0].say(s.room, lines[2])
	s.seq = s.me.say(s.room, lines[3]).Seq
	recalled := f[3].say(s.room, lines[4])
	command[rawReply](f[3], "recall", wire.RecallRequest{Room: s.room, Seq: recalled.Seq})
	mention := command[wire.SendReply](f[3], "send", wire.SendRequest{Room: s.room, Key: newKey(), Text: lines[5], Mentions: []string{s.me.User.ID}})
	for i, emoji := range []string{"❤️", "❤️", "😂"} {
		command[rawReply](f[i], "react", wire.ReactRequest{Room: s.room, Seq: s.seq, Emoji: emoji, On: true})
	}
	command[rawReply](s.me, "react", wire.ReactRequest{Room: s.room, Seq: third.Seq, Emoji: "👍", On: true})
	command[rawReply](f[4], "react", wire.ReactRequest{Room: s.room, Seq: mention.Seq, Emoji: "🎉", On: true})
}

// addPackets sends three packets: a finished one, an open one with a passphrase, and an open one for everybody.
func (s *sample) addPackets() {
	s.fixture.t.Helper()
	f := s.friends
	s.finished = s.sendPacket(f[0], wire.SendPacketRequest{Total: 8888, Count: new(5), Greeting: s.in.finished})
	for _, grabber := range []*apiUser{f[1], s.me, f[2], f[4], f[3]} {
		s.grab(grabber, s.finished, "")
	}
	f[2].say(s.room, s.in.thanks)
	s.locked = s.sendPacket(f[4], wire.SendPacketRequest{Total: 2000, Count: new(4), Greeting: s.in.locked, Passphrase: s.in.passphrase})
	s.grab(f[1], s.locked, s.in.passphrase)
	s.open = s.sendPacket(f[1], wire.SendPacketRequest{Total: 6600, Count: new(6), Greeting: s.in.open})
	s.grab(f[0], s.open, "")
	s.grab(f[4], s.open, "")
}

func (s *sample) sendPacket(by *apiUser, p wire.SendPacketRequest) (packet string) {
	s.fixture.t.Helper()
	p.Room, p.Key = s.room, newKey()
	return command[wire.SendPacketReply](by, "send_packet", p).Packet.ID
}

func (s *sample) grab(by *apiUser, packet, passphrase string) {
	s.fixture.t.Helper()
	command[wire.GrabReply](by, "grab", wire.GrabRequest{Packet: packet, Passphrase: passphrase})
}

// addOtherRooms creates a room with unread messages, one for two users, and a private one.
func (s *sample) addOtherRooms() {
	s.fixture.t.Helper()
	f := s.friends
	club := s.createRoom(f[3], s.in.other, "public", s.me.User.ID)
	f[3].say(club, s.in.otherLines[0])
	s.direct = command[wire.DirectReply](f[2], "direct", wire.DirectRequest{User: s.me.User.ID}).Room.ID
	f[2].say(s.direct, s.in.otherLines[1])
	s.private = s.createRoom(s.me, s.in.private, "private", f[0].User.ID)
	f[0].say(s.private, s.in.otherLines[2])
	s.me.say(s.private, s.in.otherLines[3])
	s.addFiles(s.private)
}
