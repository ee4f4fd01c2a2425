package wire

import (
	"maps"
	"slices"
)

// Kinds holds the kinds of entries, each with a zero value of its body's type.
var Kinds = []struct {
	Kind string
	Body any
}{
	{"text", TextBody{}},
	{"packet", Packet{}},
	{"packet_done", PacketDoneBody{}},
	{"member", MemberBody{}},
	{"edit", EditBody{}},
	{"recall", RecallBody{}},
	{"react", ReactBody{}},
	{"room", RoomBody{}},
}

// PushNames holds the pushes without a seq, each with a zero value of its data's type.
var PushNames = []struct {
	Name string
	Data any
}{
	{"typing", TypingPush{}},
	{"presence", PresencePush{}},
	{"read", ReadPush{}},
	{"packet_progress", ProgressPush{}},
	{"grab_result", GrabReply{}},
	{"wallet", WalletPush{}},
	{"members", MembersPush{}},
	{"left", LeftPush{}},
}

// Codes returns all error codes, in ascending order.
func Codes() []Code { return slices.Sorted(maps.Keys(codes)) }

// Closes returns all close codes with their reasons, in ascending order.
func Closes() []Close {
	var all []Close
	for _, code := range slices.Sorted(maps.Keys(closeReasons)) {
		all = append(all, CloseFor(code))
	}
	return all
}
