package redpacket

import "unicode/utf8"

// pageBytes bounds a page of packets, so that a reply stays under 1 MiB.
const pageBytes = 768 << 10

// Fitting is how many of the packets make one page. The first is always on it.
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

// wireBytes is at least what the packet and its state take in a reply.
func (p Packet) wireBytes() int {
	size := 1 << 10 // numbers, ids and the names of fields
	for _, user := range p.To {
		size += len(user) + len(`"",`) // nothing in a user's id is escaped
	}
	for _, text := range []string{p.Greeting, p.From.Name, p.From.Avatar} {
		size += utf8.RuneCountInString(text) * len(`\u0001`) // more than that no character takes
	}
	return size
}
