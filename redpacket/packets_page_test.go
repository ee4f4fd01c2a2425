package redpacket

import (
	"strings"
	"testing"

	"hongbao/chat"
)

func TestFitting(t *testing.T) {
	small := PacketState{Packet: Packet{Greeting: "恭喜"}}
	long := PacketState{Packet: Packet{From: chat.User{Avatar: strings.Repeat("\x01", pageBytes)}}}
	for _, at := range []struct {
		packets     []PacketState
		limit, want int
	}{
		{nil, 3, 0},
		{[]PacketState{small, small}, 3, 2},
		{[]PacketState{small, small, small, small}, 3, 3},
		{[]PacketState{long, small}, 3, 1}, // the first packet is on the page, even if it is too large
		{[]PacketState{small, long, small}, 3, 1},
	} {
		if got := Fitting(at.packets, at.limit); got != at.want {
			t.Errorf("%d of %d packets fit, want %d", got, len(at.packets), at.want)
		}
	}
}
