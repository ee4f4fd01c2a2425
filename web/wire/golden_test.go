package wire_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/centrifugal/protocol"

	"hongbao/redpacket/proof"
	"hongbao/web/wire"
)

var update = flag.Bool("update", false, "write the golden frames anew")

var (
	ann    = wire.User{ID: "u-ann", Name: "Ann", Avatar: "https://example.com/ann.png"}
	bob    = wire.User{ID: "u-bob", Name: `Bob "鲍勃" <b>`}
	room   = wire.Room{ID: "r-1", Name: "大厅", Kind: "public", Members: 2, LastSeq: 43, CreatedAt: 1767225600000, Role: "member"}
	link   = wire.Link{ID: "l-1", By: ann, CreatedAt: 1767225600000, ExpiresAt: 1767830400000, Uses: 2, MaxUses: 5}
	packet = wire.Packet{
		ID: "p-1", Room: "r-1", From: ann, Mode: "lucky", Spread: "classic", Total: 1000, Count: 5, Greeting: "恭喜发财，大吉大利",
		CreatedAt: 1767225601000, ExpiresAt: 1767312001000, Key: "k-1",
		Commitment: "b242b51bf03d0e1205c22701262660d8551a426d53fe5b42cf73cfafa20cdf8d",
	}
	seed = "dd56de4137951d9c92681b03416ec15f886b4482a27e3a517d32f085244cbe5d"
	next = "4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"
	open = wire.State{Packet: "p-1", Status: "open", Claimed: 1, Mine: &wire.Mine{Amount: 134, Rank: 1, At: 1767225602000}}
	done = wire.State{Packet: "p-1", Status: "expired", Claimed: 1, Luckiest: &wire.Luckiest{User: "u-bob", Amount: 134, Rank: 1}, Refunded: 866}
)

func textEntry() wire.Entry {
	return wire.Entry{Seq: 42, ID: "e-42", At: 1767225600500, From: bob, Kind: "text", Key: "k-0", Body: must(wire.TextBody{Text: "a < b & \"c\"\n你好"})}
}

func picture() wire.File {
	return wire.File{
		ID: "f-1", Kind: "picture", Name: "beach.jpg", Type: "image/jpeg", Size: 187402, Width: 4032, Height: 3024,
		Blur: "h7C+j7XDlLnGmb3JeqCueqCue6Gug6i0wbORwrSSxLWTxbaU1b+V1r+V2MGX2sOZ",
	}
}

// filesEntry is a text with a picture and a recording.
func filesEntry() wire.Entry {
	voice := wire.File{ID: "f-2", Kind: "voice", Type: "audio/webm", Size: 20480, DurationMS: 5200, Wave: "ABBAgP/AgEAQAA=="}
	return wire.Entry{
		Seq: 47, ID: "e-47", At: 1767225606000, From: ann, Kind: "text", Key: "k-4", Body: must(wire.TextBody{Text: "at the beach", Files: []wire.File{picture(), voice}}),
	}
}

func packetEntry() wire.Entry {
	return wire.Entry{Seq: 43, ID: "e-43", At: 1767225601000, From: ann, Kind: "packet", Key: "k-1", Body: must(packet)}
}

func earlierEntry() wire.Entry {
	p := packet
	p.EarlierMembers = true
	return wire.Entry{Seq: 45, ID: "e-45", At: 1767225601000, From: ann, Kind: "packet", Key: "k-1", Body: must(p)}
}

func koiEntry() wire.Entry {
	p := packet
	p.Skin = "koi"
	return wire.Entry{Seq: 46, ID: "e-46", At: 1767225601000, From: ann, Kind: "packet", Key: "k-1", Body: must(p)}
}

// drawPacket is a draw, receipt that of a participant, and drawDone how it ends.
func drawPacket() wire.Packet {
	p := packet
	p.ID, p.Key, p.Count, p.WindowS, p.Rest, p.ExpiresAt = "p-3", "k-3", 2, 30, "refund", p.CreatedAt+30_000
	return p
}

func earlyEntry() wire.Entry {
	p := packet
	p.ID, p.Key, p.OpensAt, p.ExpiresAt = "p-5", "k-7", p.CreatedAt+3_600_000, p.ExpiresAt+3_600_000
	return wire.Entry{Seq: 50, ID: "e-50", At: 1767225601000, From: ann, Kind: "packet", Key: p.Key, Body: must(p)}
}

func holdingEntry() wire.Entry {
	p := packet
	p.ID, p.Key, p.Held, p.HeldUntil = "p-6", "k-8", 2, p.CreatedAt+600_000
	return wire.Entry{Seq: 51, ID: "e-51", At: 1767225601000, From: ann, Kind: "packet", Key: p.Key, Body: must(p)}
}

// receipt is signed by the key whose seed is 32 zero bytes.
func receipt() *wire.Receipt {
	return signed(wire.Receipt{Packet: "p-3", User: bob.ID, At: 1767225605000}, drawPacket().Key)
}

func signed(r wire.Receipt, packetKey string) *wire.Receipt {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	leaf := proof.Leaf(ann.ID, packetKey, uint32(r.Wave), r.User)
	r.Leaf, r.Key = hex.EncodeToString(leaf[:]), hex.EncodeToString(key.Public().(ed25519.PublicKey))
	r.Signature = hex.EncodeToString(ed25519.Sign(key, proof.ReceiptText(r.Packet, uint32(r.Wave), leaf, r.User, r.At)))
	return &r
}

// rainPacket is a rain, and rainState how it looks to a user that has entered its second wave and has won in the first one.
func rainPacket() wire.Packet {
	p := packet
	p.OverS, p.MaxWins = 60, 3
	p.ID, p.Key, p.Count, p.ExpiresAt, p.Waves = "p-4", "k-4", 20, p.CreatedAt+60_000, 10
	return p
}

func rainState() wire.State {
	r := signed(wire.Receipt{Packet: "p-4", Wave: 2, User: bob.ID, At: 1767225612000}, rainPacket().Key)
	return wire.State{
		Packet: "p-4", Status: "open", Claimed: 2, Mine: &wire.Mine{Amount: 61, Rank: 1, At: 1767225607100}, Draw: &wire.Draw{Participants: 5, Receipt: r},
		Rain: &wire.RainState{Wave: 2, EndsAt: 1767225614000, Drawn: 1, Wins: []wire.Win{{Wave: 1, Amount: 61, Rank: 1}}},
	}
}

func rainEntry() wire.Entry {
	return wire.Entry{Seq: 50, ID: "e-50", At: 1767225601000, From: ann, Kind: "packet", Key: "k-4", Body: must(rainPacket())}
}

var drawn = wire.State{Packet: "p-3", Status: "drained", Claimed: 2, Luckiest: &wire.Luckiest{User: "u-bob", Amount: 780, Rank: 1}, Draw: &wire.Draw{
	Participants: 3, Root: "621b90b2ca9374a046cb3664e47695483998f0213ce64e6910807bc73e403fc0",
}}

func drawEntry() wire.Entry {
	return wire.Entry{Seq: 48, ID: "e-48", At: 1767225601000, From: ann, Kind: "packet", Key: "k-3", Body: must(drawPacket())}
}

func drawDoneEntry() wire.Entry {
	return wire.Entry{Seq: 49, ID: "e-49", At: 1767225631500, From: ann, Kind: "packet_done",
		Body: must(wire.PacketDoneBody{Packet: "p-3", Reason: "drained", State: drawn, Seed: seed})}
}

func doneEntry() wire.Entry {
	return wire.Entry{Seq: 44, ID: "e-44", At: 1767312001000, From: ann, Kind: "packet_done",
		Body: must(wire.PacketDoneBody{Packet: "p-1", Reason: "expired", State: done, Seed: seed})}
}

func richEntry() wire.Entry {
	return wire.Entry{Seq: 45, ID: "e-45", At: 1767225604000, From: ann, Kind: "text", Key: "k-2", Body: must(wire.TextBody{
		Text: "@Bob", Data: json.RawMessage(`{"sticker":7}`), ReplyTo: 42, Mentions: []string{"u-bob"},
	})}
}

// toAllEntry is a text that mentions all members of the room.
func toAllEntry() wire.Entry {
	return wire.Entry{Seq: 48, ID: "e-48", At: 1767225607000, From: ann, Kind: "text", Key: "k-5", Body: must(wire.TextBody{Text: "@all: dinner at seven", MentionAll: true})}
}

// previewEntry is a text with a link, and with the preview that the host has given.
func previewEntry() wire.Entry {
	return wire.Entry{Seq: 49, ID: "e-49", At: 1767225608000, From: ann, Kind: "text", Key: "k-6", Body: must(wire.TextBody{
		Text: "look: https://example.com/tea", Preview: &wire.Preview{URL: "https://example.com/tea", Title: "How to make tea", Text: "Seven steps"},
	})}
}

// foldedEntries returns texts as history shows them: an edited one with reactions, and a recalled one.
func foldedEntries() []wire.Entry {
	edited, recalled := textEntry(), richEntry()
	edited.Body = must(wire.TextBody{Text: "a > b", EditedAt: 1767225605000, Reactions: map[string]int{"🧧": 2}})
	recalled.Body = must(wire.TextBody{Recalled: true})
	return []wire.Entry{edited, recalled}
}

// changes returns, by kind, the entries that change earlier ones.
func changes() map[string]wire.Entry {
	name, none := "小厅", ""
	all := map[string]wire.Entry{}
	for i, c := range []struct {
		name, kind string
		body       any
	}{
		{"edit", "edit", wire.EditBody{Target: 42, Text: "a > b"}},
		{"edit-recalled", "edit", wire.EditBody{Target: 42, Recalled: true}},
		{"recall", "recall", wire.RecallBody{Target: 42}},
		{"react", "react", wire.ReactBody{Target: 42, Emoji: "🧧", On: false, Count: 0}},
		{"room", "room", wire.RoomBody{Name: &name, Announcement: &none}},
		{"member-invited", "member", wire.MemberBody{User: "u-bob", Change: "invited", By: "u-ann"}},
		{"member-kicked", "member", wire.MemberBody{User: "u-bob", Change: "kicked", By: "u-ann"}},
		{"member-role", "member", wire.MemberBody{User: "u-bob", Change: "role", By: "u-ann", Role: "admin"}},
		{"member-muted", "member", wire.MemberBody{User: "u-bob", Change: "muted", By: "u-ann", Until: 1767225700000}},
		{"room-settings", "room", wire.RoomBody{Invite: "admins", Guests: new(false)}},
	} {
		seq := int64(46 + i)
		all[c.name] = wire.Entry{Seq: seq, ID: fmt.Sprint("e-", seq), At: 1767225606000, From: ann, Kind: c.kind, Body: must(c.body)}
	}
	return all
}

func must(v any) []byte {
	b, err := wire.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// replies returns an example of each command's reply, by method.
func replies() map[string]any {
	balance := int64(10134)
	limits := wire.DayLimits{
		Sent:     wire.DayLimit{Today: 1000, Limit: new(int64(5000)), Own: new(int64(5000)), Next: new(int64(-1)), NextAt: 1767312000000},
		Received: wire.DayLimit{Today: 134},
	}
	return map[string]any{
		"create_room": wire.CreateRoomReply{Room: room},
		"join":        wire.JoinReply{Room: room},
		"leave":       wire.LeaveReply{},
		"rooms":       wire.RoomsReply{Rooms: []wire.MyRoom{{Room: room, ReadSeq: 41, Unread: 1}}, Next: "r-1"},
		"find_rooms":  wire.FindRoomsReply{Rooms: []wire.Room{room}, Next: "c-1"},
		"members": wire.MembersReply{Members: []wire.Member{
			{User: ann, Role: "owner", Online: true}, {User: bob, Role: "member", MutedUntil: 1767225700000},
		}},
		"direct":            wire.DirectReply{Room: wire.Room{ID: "r-2", Kind: "direct", Members: 2, CreatedAt: 1767225600000, Role: "member"}},
		"block":             wire.BlockReply{},
		"unblock":           wire.UnblockReply{},
		"set_contact":       wire.SetContactReply{},
		"contacts":          wire.ContactsReply{Contact: "shared", Blocked: []wire.User{bob, {ID: "u-eve"}}},
		"users":             wire.UsersReply{Users: []wire.User{ann, bob}},
		"invite":            wire.InviteReply{},
		"create_link":       wire.CreateLinkReply{Link: link, Code: "r-1.Zp3kQ0aB9cD2eF4gH6iJ"},
		"links":             wire.LinksReply{Links: []wire.Link{link, {ID: "l-2", By: bob, CreatedAt: 1767225500000, ExpiresAt: 1767830300000}}},
		"revoke_link":       wire.RevokeLinkReply{},
		"join_link":         wire.JoinLinkReply{Room: &room},
		"join_link-waiting": wire.JoinLinkReply{Waiting: true},
		"join_requests":     wire.JoinRequestsReply{Requests: []wire.AskingUser{{User: bob, At: 1767225602000}}},
		"answer_request":    wire.AnswerRequestReply{},
		"rules":             wire.RulesReply{Rules: []wire.Rule{{Kind: "words", Do: "hold", Say: "请文明发言", Words: []string{"博彩"}}, {Kind: "slow", Seconds: 10}}},
		"set_rules":         wire.SetRulesReply{},
		"set_rules-try":     wire.SetRulesReply{Tried: 1000, Met: []int64{47, 12}},
		"held_texts":        wire.HeldTextsReply{Texts: []wire.HeldText{{ID: "h-1", From: bob, At: 1767225602000, Rule: "words", Text: "博彩网站"}}},
		"answer_text":       wire.AnswerTextReply{},
		"kick":              wire.KickReply{},
		"unban":             wire.UnbanReply{},
		"set_role":          wire.SetRoleReply{},
		"mute":              wire.MuteReply{},
		"update_room":       wire.UpdateRoomReply{Room: room},
		"set_room_prefs":    wire.SetRoomPrefsReply{Silent: true, SilentUntil: 1767225600000, Archived: true},
		"push_key":          wire.PushKeyReply{Key: "BGmP3VbN6mVtK8yW0nJm2fG4p1xg3gq8u2Qh4l8oG7cGvK9QO0Yy3cZ1mE6wJk5tR2sX7vB8nA9dF0hL4pC6eUI"},
		"push_key-none":     wire.PushKeyReply{},
		"subscribe_push":    wire.SubscribePushReply{},
		"unsubscribe_push":  wire.UnsubscribePushReply{},
		"update_room-settings": wire.UpdateRoomReply{Room: wire.Room{
			ID: "r-1", Name: "大厅", Kind: "public", Invite: "admins", Guests: new(false), Members: 2, LastSeq: 44, CreatedAt: 1767225600000, Role: "admin",
		}},
		"delete_room":    wire.DeleteRoomReply{},
		"presence":       wire.PresenceReply{Online: 1, Users: &[]string{"u-bob"}},
		"presence-none":  wire.PresenceReply{Users: &[]string{}},
		"presence-large": wire.PresenceReply{Online: 4321},
		"edit":           wire.SeqReply{Seq: 46},
		"recall":         wire.SeqReply{Seq: 48},
		"react":          wire.ReactReply{},
		"report":         wire.ReportReply{Report: "01957a1c-0000-7000-8000-000000000001"},
		"reports":        wire.ReportsReply{Reports: []wire.OwnReport{decidedReport()}, Next: "01957a1c-0000-7000-8000-000000000001"},
		"appeal":         wire.AppealReply{Report: appealedReport()},
		"search":         wire.SearchReply{Hits: []wire.Hit{{Room: "r-1", Entry: textEntry(), Places: []wire.Place{{From: 12, To: 14}}}}, Next: "bmV4dA"},
		"begin_file":     wire.FileState{File: wire.File{ID: "f-1", Kind: "picture", Name: "beach.jpg", Size: 204800}, State: "coming"},
		"file_state":     wire.FileState{File: picture(), State: "ready", Received: 204800},
		"cancel_file":    wire.CancelFileReply{},
		"file_links":     wire.FileLinksReply{Queries: []string{"mac=Zp3kQ0aB9cD2eF4gH6iJkA&until=1767226500&user=u-ann"}, Until: 1767226500000},
		"mentions":       wire.MentionsReply{Mentions: []wire.Mention{{Room: "r-1", Entry: textEntry()}}, Next: "bmV4dA"},
		"history-folded": wire.HistoryReply{Entries: foldedEntries(), PacketStates: []wire.State{}, More: true},

		"send":    wire.SendReply{Seq: 42, ID: "e-42", At: 1767225600500},
		"history": wire.HistoryReply{Entries: []wire.Entry{textEntry(), packetEntry()}, PacketStates: []wire.State{open}},
		"read":    wire.ReadReply{Unread: 1},
		"send_packet": wire.SendPacketReply{
			Packet: packet, Seq: 43, At: 1767225601000, Balance: 9000, AccountVersion: 2, NextCommitment: next, Dup: true,
		},
		"grab-elsewhere": wire.GrabReply{Packet: "p-1", Outcome: "elsewhere", Claimed: 1, Count: 5, User: "u-ann"},
		"grab": wire.GrabReply{
			Packet: "p-1", Outcome: "won", Amount: 134, Rank: 1, At: 1767225602000, Balance: &balance, AccountVersion: 3, Claimed: 1, Count: 5,
		},
		"grab-empty":   wire.GrabReply{Packet: "p-1", Outcome: "empty", Claimed: 5, Count: 5},
		"grab-waiting": wire.GrabReply{Packet: "p-6", Outcome: "empty", Claimed: 3, Count: 5, Waiting: 2},
		"grab-entered": wire.GrabReply{Packet: "p-3", Outcome: "entered", At: 1767225605000, Count: 2, Participants: 3, Receipt: receipt()},
		"grab-rain":    wire.GrabReply{Packet: "p-4", Outcome: "entered", At: 1767225612000, Count: 20, Participants: 2, Wave: 2, Receipt: rainState().Draw.Receipt},
		"packet-rain":  wire.PacketReply{Packet: rainPacket(), State: rainState(), Claims: []wire.Claim{}, More: true},
		"packet-draw": wire.PacketReply{
			Packet: drawPacket(), State: wire.State{Packet: "p-3", Status: "open", Draw: &wire.Draw{Participants: 3, Receipt: receipt()}}, Claims: []wire.Claim{},
		},
		"packet": wire.PacketReply{
			Packet: packet, State: done, Claims: []wire.Claim{{User: bob, Rank: 1, At: 1767225602000, Amount: 134}},
			Proof: &wire.Proof{Seed: seed, Commitment: packet.Commitment, Shares: []int64{134, 413, 159, 278, 16}},
		},
		"packet-hidden": wire.PacketReply{
			Packet: packet, State: wire.State{Packet: "p-1", Status: "open", Claimed: 1}, More: true,
			Claims: []wire.Claim{{User: bob, Rank: 1, At: 1767225602000}},
		},
		"cancel_packet": wire.CancelPacketReply{
			State: wire.State{Packet: "p-1", Status: "cancelled", Refunded: 1000}, Balance: 10000, AccountVersion: 4,
		},
		"packets": wire.PacketsReply{
			Packets: []wire.PacketState{{Packet: packet, State: open, Seq: 43}}, Totals: wire.Totals{Count: 1, Amount: 134, BestDay: &wire.BestDay{At: 1767225600000, Amount: 134}}, Next: "c-2",
		},
		"packets-waiting": wire.PacketsReply{
			Packets: []wire.PacketState{{Packet: packet, State: wire.State{Packet: "p-1", Status: "open", Claimed: 1}, Seq: 43}},
		},
		"room_packets": wire.RoomPacketsReply{Packets: []wire.PacketState{{Packet: packet, State: done, Seq: 43}}, Next: "c-2"},
		"wallet": wire.WalletReply{Balance: 10134, AccountVersion: 5, NextCommitment: next, Limits: limits, Transfers: []wire.Transfer{
			{ID: "t-2", At: 1767225602000, Amount: 134, Kind: "claim", Packet: "p-1"},
			{ID: "t-1", At: 1767225600000, Amount: -500, Kind: "debit", Note: "coffee"},
		}},
		"set_own_limits": wire.SetOwnLimitsReply{Limits: limits},
	}
}

// frames returns, by name, all messages that have a golden file, in one encoding.
func frames(t *testing.T, e wire.Encoding) map[string][]byte {
	all := map[string][]byte{
		"ping":    wire.Ping(e),
		"connect": connectReply(t, e),
		"refresh": wire.RefreshReply(e, 9, &protocol.RefreshResult{Client: "c-1", Version: "hongbao 1", Expires: true, Ttl: 3600}),

		"error-muted":          wire.ErrorReply(e, 7, wire.NewError(wire.CodeMuted)),
		"error-conflict":       wire.ErrorReply(e, 7, wire.NewError(wire.CodeConflict, "next_commitment", next, "packet", "p-2")),
		"error-bad_request":    wire.ErrorReply(e, 7, wire.NewError(wire.CodeBadRequest, "field", "total")),
		"error-denied":         wire.ErrorReply(e, 7, wire.NewDenial("One moment", json.RawMessage(`{"captcha":"c1"}`))),
		"error-unavailable":    wire.ErrorReply(e, 7, wire.NewError(wire.CodeUnavailable)),
		"error-limit_exceeded": wire.ErrorReply(e, 7, wire.NewError(wire.CodeLimitExceeded, "field", "open_packets", "limit", "50")),
		"error-not_yet":        wire.ErrorReply(e, 7, wire.NewError(wire.CodeNotYet, "opens_at", "1767229201000")),
		"error-rate_limited":   wire.ErrorReply(e, 7, wire.NewError(wire.CodeRateLimited, "retry_after_ms", "800")),

		"push-text":             wire.PublicationPush(e, "room:r-1", 42, wire.EntryJSON(textEntry())),
		"push-text-rich":        wire.PublicationPush(e, "room:r-1", 45, wire.EntryJSON(richEntry())),
		"push-text-all":         wire.PublicationPush(e, "room:r-1", 48, wire.EntryJSON(toAllEntry())),
		"push-text-preview":     wire.PublicationPush(e, "room:r-1", 49, wire.EntryJSON(previewEntry())),
		"push-text-files":       wire.PublicationPush(e, "room:r-1", 47, wire.EntryJSON(filesEntry())),
		"push-packet":           wire.PublicationPush(e, "room:r-1", 43, wire.EntryJSON(packetEntry())),
		"push-packet-earlier":   wire.PublicationPush(e, "room:r-1", 45, wire.EntryJSON(earlierEntry())),
		"push-packet-skin":      wire.PublicationPush(e, "room:r-1", 46, wire.EntryJSON(koiEntry())),
		"push-packet-early":     wire.PublicationPush(e, "room:r-1", 50, wire.EntryJSON(earlyEntry())),
		"push-packet-holding":   wire.PublicationPush(e, "room:r-1", 51, wire.EntryJSON(holdingEntry())),
		"push-packet-draw":      wire.PublicationPush(e, "room:r-1", 48, wire.EntryJSON(drawEntry())),
		"push-packet-rain":      wire.PublicationPush(e, "room:r-1", 50, wire.EntryJSON(rainEntry())),
		"push-packet_done-draw": wire.PublicationPush(e, "room:r-1", 49, wire.EntryJSON(drawDoneEntry())),
		"push-packet_done":      wire.PublicationPush(e, "room:r-1", 44, wire.EntryJSON(doneEntry())),
		"push-subscribe":        wire.SubscribePush(e, "room:r-1", "ep-1", 43, wire.Joined{Room: room}),
		"push-unsubscribe":      wire.UnsubscribePush(e, "room:r-1", "left"),
	}
	for name, m := range map[string]wire.Message{
		"members":              {Members: &wire.MembersPush{Room: "r-1", Count: 2}},
		"packet_progress":      {PacketProgress: &wire.ProgressPush{Packet: "p-1", Room: "r-1", Claimed: 1, Count: 5, Latest: []string{"u-bob"}}},
		"packet_progress-draw": {PacketProgress: &wire.ProgressPush{Packet: "p-3", Room: "r-1", Count: 2, Latest: []string{"u-bob"}, Participants: 3}},
		"packet_wave":          {PacketWave: &wire.WavePush{Packet: "p-4", Room: "r-1", Wave: 2, EndsAt: 1767225614000}},
		"packet_wave-result": {PacketWave: &wire.WavePush{Packet: "p-4", Room: "r-1", Wave: 2, EndsAt: 1767225614000, Result: &wire.WaveResult{
			Participants: 3, Won: 2, Winners: []wire.WaveWinner{{User: "u-bob", Amount: 45, Rank: 3}, {User: "u-eve", Amount: 12, Rank: 4}},
		}}},
		"wallet":       {Wallet: &wire.WalletPush{Balance: 9000, AccountVersion: 2, Change: -1000, Kind: "send", Packet: "p-1", NextCommitment: next}},
		"read":         {Read: &wire.ReadPush{Room: "r-1", User: "u-ann", Seq: 42}},
		"typing":       {Typing: &wire.TypingPush{Room: "r-1", User: "u-bob"}},
		"presence":     {Presence: &wire.PresencePush{Room: "r-1", User: "u-bob", Online: false}},
		"contacts":     {Contacts: &wire.ContactsPush{User: "u-bob", Blocked: true}},
		"join_refused": {JoinRefused: &wire.JoinRefusedPush{Room: "r-1"}},

		"report_decided": {ReportDecided: new(decidedReport())},
		"join_requests":  {JoinRequests: &wire.JoinRequestsPush{Room: "r-1", Count: 1}},
		"room_prefs":     {RoomPrefs: &wire.RoomPrefsPush{Room: "r-1", Silent: true, SilentUntil: 1767225600000, Archived: true}},
		"left":           {Left: &wire.LeftPush{Room: "r-1", Reason: "left"}},
	} {
		all["push-"+name] = wire.MessagePush(e, must(m))
	}
	for name, entry := range changes() {
		all["push-"+name] = wire.PublicationPush(e, "room:r-1", entry.Seq, wire.EntryJSON(entry))
	}
	for method, reply := range replies() {
		frame, err := wire.RPCReply(e, 7, reply)
		noError(t, err)
		all["reply-"+method] = frame
	}
	return all
}

// oldLimits returns the default limits as the first version of the protocol had them. A limit of 0 is left out.
func oldLimits() wire.Limits {
	l := wire.DefaultLimits()
	l.PublicRooms, l.Blocks = 0, 0
	return l
}

func connectReply(t *testing.T, e wire.Encoding) []byte {
	t.Helper()
	reply, err := wire.ConnectReply(e, 1, &protocol.ConnectResult{
		Client: "c-1", Session: "s-1", Node: "n-1", Version: "hongbao 1", Expires: true, Ttl: 3600, Ping: 25, Pong: true, Time: 1767225603000,
		Data: must(wire.ConnectData{
			User: ann, Currency: wire.Currency{Code: "CNY", Exponent: 2}, Balance: 10000, AccountVersion: 1, NextCommitment: next, ReceiptKey: receipt().Key, Limits: oldLimits(),
			Rooms: []wire.MyRoom{{Room: room, ReadSeq: 41, Unread: 1}}, PacketStates: []wire.State{open},
		}),
		Subs: map[string]*protocol.SubscribeResult{"room:r-1": {
			Recoverable: true, Positioned: true, Epoch: "ep-1", Offset: 43, WasRecovering: true, Recovered: true,
			Publications: []*protocol.Publication{
				{Offset: 42, Data: wire.EntryJSON(textEntry())}, {Offset: 43, Data: wire.EntryJSON(packetEntry())},
			},
		}},
	})
	noError(t, err)
	return reply
}

func TestGoldenFrames(t *testing.T) {
	seen := map[string]bool{}
	for name, frame := range frames(t, wire.JSON) {
		golden(t, name+".json", append(frame, '\n'))
		seen[name+".json"] = true
	}
	for name, frame := range frames(t, wire.Protobuf) {
		golden(t, name+".hex", []byte(hex.EncodeToString(frame)+"\n"))
		seen[name+".hex"] = true
	}
	files, err := os.ReadDir("testdata")
	noError(t, err)
	for _, f := range files {
		if !f.IsDir() && !seen[f.Name()] {
			t.Errorf("testdata/%s is no frame of this test", f.Name())
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		noError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	noError(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("%s\n got %s\nwant %s", name, got, want)
	}
}

// TestBothEncodingsAreEqual decodes every frame with the decoders of the client SDKs: both encodings must hold the same
// message, on one line in JSON.
func TestBothEncodingsAreEqual(t *testing.T) {
	inProtobuf := frames(t, wire.Protobuf)
	for name, frame := range frames(t, wire.JSON) {
		if bytes.IndexByte(frame, '\n') >= 0 {
			t.Errorf("%s: newline in a JSON message", name)
		}
		fromJSON, err := protocol.NewJSONReplyDecoder(frame).Decode()
		if err != nil {
			t.Fatalf("%s: %v in %s", name, err, frame)
		}
		framed := append(binary.AppendUvarint(nil, uint64(len(inProtobuf[name]))), inProtobuf[name]...)
		fromProtobuf, err := protocol.NewProtobufReplyDecoder(framed).Decode()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if a, b := canonical(t, fromJSON), canonical(t, fromProtobuf); a != b {
			t.Errorf("%s\n    json %s\nprotobuf %s", name, a, b)
		}
	}
}

func canonical(t *testing.T, r *protocol.Reply) string {
	t.Helper()
	b, err := json.Marshal(r)
	noError(t, err)
	return string(b)
}

func TestEntryJSONIsItsMarshal(t *testing.T) {
	hostile := wire.Entry{
		Seq: 1, ID: "e\\", At: -5, Kind: "te\"xt", Key: "~!\x7f", Body: json.RawMessage("{\n \"a\": [1,\n2], \"b\":\"x\\ny\"}"),
		From: wire.User{ID: "u\x01\t\n", Name: "\xff a\u2028 \U0001f9e7 </script>"},
	}
	for _, e := range []wire.Entry{textEntry(), packetEntry(), doneEntry(), hostile, {Body: json.RawMessage("{}")}} {
		got := wire.EntryJSON(e)
		if bytes.IndexByte(got, '\n') >= 0 || !utf8.Valid(got) {
			t.Errorf("not one line of UTF-8: %q", got)
		}
		var a, b any
		if err := json.Unmarshal(got, &a); err != nil {
			t.Fatalf("%v in %s", err, got)
		}
		noError(t, json.Unmarshal(must(e), &b))
		if x, y := string(must(a)), string(must(b)); x != y {
			t.Errorf("\n got %s\nwant %s", x, y)
		}
	}
}

func TestPushesAllocateLittle(t *testing.T) {
	e, balance := textEntry(), int64(10134)
	entry := wire.EntryJSON(e)
	grab := &wire.GrabReply{Packet: "p-1", Outcome: "won", Amount: 134, Rank: 1, At: 1767225602000, Balance: &balance, AccountVersion: 3, Claimed: 1, Count: 5}
	wallet := wire.WalletPush{Balance: 9000, AccountVersion: 2, Change: -1000, Kind: "send", Packet: "p-1", NextCommitment: next}
	for name, c := range map[string]struct {
		most float64
		run  func()
	}{
		"entry":             {1, func() { wire.EntryJSON(e) }},
		"push, JSON":        {1, func() { wire.PublicationPush(wire.JSON, "room:r-1", 42, entry) }},
		"push, Protobuf":    {1, func() { wire.PublicationPush(wire.Protobuf, "room:r-1", 42, entry) }},
		"reply, JSON":       {1, func() { _, _ = wire.RPCReply(wire.JSON, 7, grab) }},
		"reply, Protobuf":   {1, func() { _, _ = wire.RPCReply(wire.Protobuf, 7, grab) }},
		"error, JSON":       {1, func() { wire.ErrorReply(wire.JSON, 7, wire.Error{Code: wire.CodeMuted, Message: "muted"}) }},
		"wallet":            {1, func() { wallet.MessageJSON() }},
		"message, Protobuf": {1, func() { wire.MessagePush(wire.Protobuf, entry) }},
		"message, JSON":     {1, func() { wire.MessagePush(wire.JSON, entry) }},
	} {
		if n := testing.AllocsPerRun(100, c.run); n > c.most {
			t.Errorf("%s: %v allocations, want at most %v", name, n, c.most)
		}
	}
}

func TestNothingIsNull(t *testing.T) {
	for name, frame := range frames(t, wire.JSON) {
		if bytes.Contains(frame, []byte("null")) {
			t.Errorf("%s holds null: %s", name, frame)
		}
	}
}

func BenchmarkEntryJSON(b *testing.B) {
	e := textEntry()
	for b.Loop() {
		wire.EntryJSON(e)
	}
}

func BenchmarkPublicationPush(b *testing.B) {
	entry := wire.EntryJSON(textEntry())
	for name, e := range map[string]wire.Encoding{"json": wire.JSON, "protobuf": wire.Protobuf} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				wire.PublicationPush(e, "room:0191d7a0-5a1e-7cc2-8f6e-6a9f3c1d2e4b", 42, entry)
			}
		})
	}
}

// noError fails the test at once if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// decidedReport is a report about a user that something was done about.
func decidedReport() wire.OwnReport {
	return wire.OwnReport{
		Report: "01957a1c-0000-7000-8000-000000000001", Side: "reported", Kind: "message", Room: "r-1", Seq: 42, At: 1767225600000, State: "resolved",
		Outcome: "acted", Cause: "spam", ResolvedAt: 1767229200000, MayAppeal: true,
	}
}

func appealedReport() wire.OwnReport {
	r := decidedReport()
	r.State, r.MayAppeal, r.Appeal = "appealed", false, "It was a quotation."
	return r
}
