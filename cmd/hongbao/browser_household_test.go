package main

import (
	"hongbao/web/wire"
)

// household is what has been going on in the rooms of a person, as it might have.
type household struct {
	salon *salon
	in    tongue

	me      *afar
	friends []*afar

	room, direct           string
	finished, open, locked string // packets
	seq                    int64  // of a line of one's own
}

// seat makes a public room, by people who were there before.
func (s *salon) seat(in tongue) {
	s.t.Helper()
	does[wire.CreateRoomReply](s.afar(in.people[4]), "create_room", wire.CreateRoomRequest{Key: newKey(), Name: in.public})
}

// moves fills the rooms of somebody who has come in.
func (s *salon) moves(v *visitor, in tongue) *household {
	s.t.Helper()
	h := &household{salon: s, in: in, me: &afar{s, wire.GuestReply{Token: v.token(), User: wire.User{ID: v.id()}}}}
	for _, name := range in.people {
		h.friends = append(h.friends, s.afar(name))
	}
	h.room = h.makes(h.me, in.room, "")
	for _, f := range h.friends {
		f.joins(h.room)
	}
	h.talks()
	h.gives()
	h.elsewhere()
	return h
}

func (h *household) makes(who *afar, name, kind string, members ...string) (room string) {
	h.salon.t.Helper()
	return does[wire.CreateRoomReply](who, "create_room", wire.CreateRoomRequest{Key: newKey(), Name: name, Kind: kind, Members: members}).Room.ID
}

// talks is a talk with an answer, a mention, reactions and something that was taken back.
func (h *household) talks() {
	h.salon.t.Helper()
	f, say := h.friends, h.in.talkLines
	first := f[1].says(h.room, say[0])
	does[wire.SendReply](f[2], "send", wire.SendRequest{Room: h.room, Key: newKey(), Text: say[1], ReplyTo: first.Seq})
	late := f[0].says(h.room, say[2])
	h.seq = h.me.says(h.room, say[3]).Seq
	gone := f[3].says(h.room, say[4])
	does[rawReply](f[3], "recall", wire.RecallRequest{Room: h.room, Seq: gone.Seq})
	at := does[wire.SendReply](f[3], "send", wire.SendRequest{Room: h.room, Key: newKey(), Text: say[5], Mentions: []string{h.me.User.ID}})
	for i, emoji := range []string{"❤️", "❤️", "😂"} {
		does[rawReply](f[i], "react", wire.ReactRequest{Room: h.room, Seq: h.seq, Emoji: emoji, On: true})
	}
	does[rawReply](h.me, "react", wire.ReactRequest{Room: h.room, Seq: late.Seq, Emoji: "👍", On: true})
	does[rawReply](f[4], "react", wire.ReactRequest{Room: h.room, Seq: at.Seq, Emoji: "🎉", On: true})
}

// gives has packets sent: one is finished, one that asks for a word and one for everybody are open.
func (h *household) gives() {
	h.salon.t.Helper()
	f := h.friends
	h.finished = h.sends(f[0], wire.SendPacketRequest{Total: 8888, Count: new(5), Greeting: h.in.finished})
	for _, who := range []*afar{f[1], h.me, f[2], f[4], f[3]} {
		h.grabs(who, h.finished, "")
	}
	f[2].says(h.room, h.in.thanks)
	h.locked = h.sends(f[4], wire.SendPacketRequest{Total: 2000, Count: new(4), Greeting: h.in.locked, Passphrase: h.in.word})
	h.grabs(f[1], h.locked, h.in.word)
	h.open = h.sends(f[1], wire.SendPacketRequest{Total: 6600, Count: new(6), Greeting: h.in.open})
	h.grabs(f[0], h.open, "")
	h.grabs(f[4], h.open, "")
}

func (h *household) sends(who *afar, p wire.SendPacketRequest) (packet string) {
	h.salon.t.Helper()
	p.Room, p.Key = h.room, newKey()
	return does[wire.SendPacketReply](who, "send_packet", p).Packet.ID
}

func (h *household) grabs(who *afar, packet, word string) {
	h.salon.t.Helper()
	does[wire.GrabReply](who, "grab", wire.GrabRequest{Packet: packet, Passphrase: word})
}

// elsewhere are other rooms: one of two people, one that is private, one with something new.
func (h *household) elsewhere() {
	h.salon.t.Helper()
	f := h.friends
	club := h.makes(f[3], h.in.other, "", h.me.User.ID)
	f[3].says(club, h.in.otherLines[0])
	h.direct = does[wire.DirectReply](f[2], "direct", wire.DirectRequest{User: h.me.User.ID}).Room.ID
	f[2].says(h.direct, h.in.otherLines[1])
	flat := h.makes(h.me, h.in.private, "private", f[0].User.ID)
	f[0].says(flat, h.in.otherLines[2])
	h.me.says(flat, h.in.otherLines[3])
}
