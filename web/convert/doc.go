// Package convert turns values of the domain (chat, redpacket) into the payloads of package wire. The commands, the pushes,
// the connect reply and the server API share it, so that one value looks the same wherever it is received.
//
// It must always hold:
//
//   - A function here reads its argument and nothing else: it asks no service and starts no goroutine.
//   - A list that List converts is never null on the wire: a nil slice becomes an empty one.
//   - The amount of another user's claim appears only if the user may see it (Claims). After the packet's end it also appears
//     as the luckiest one, and in the proof.
package convert
