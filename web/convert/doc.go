// Package convert turns values of the domain (chat, redpacket) into the payloads of package wire. The commands, the pushes
// and the connect reply share it, so that one value looks the same wherever a client receives it.
//
// It must always hold:
//
//   - A function here reads its argument and nothing else: it asks no service and starts no goroutine.
//   - A list on the wire is never null. List turns a nil slice into an empty one.
//   - The amount of another user's claim appears only if the user may see it (Claims), or as the luckiest after the packet's end.
package convert
