package redpacket

import "unicode/utf8"

// pageBytes bounds a page of packets, so that a reply stays under 1 MiB.
const pageBytes = 768 << 10

// Fitting returns how many of the packets, from the first on, fit on one page. The first one always fits.
func Fitting(packets []PacketState, limit int) int {
	size := 0
	for i, p := range packets {
		size += p.Packet.wireBytes()
		if i == limit || i > 0 && size > pageBytes {
			return i
		}
	}
	return len(packets)
}

// wireBytes returns an upper bound of the number of bytes that the packet and its state take in a reply.
func (p Packet) wireBytes() int {
	size := 1 << 10 // numbers, ids and field names
	for _, user := range p.To {
		size += len(user) + len(`"",`) // the id of a user has no character that needs an escape
	}
	for _, text := range []string{p.Greeting, p.From.Name, p.From.Avatar} {
		size += utf8.RuneCountInString(text) * len(`\u0001`) // the longest encoding of a character
	}
	return size
}
