// Package client is the SDK for Go programs: typed calls, and the events of the user's rooms as Go values. It is a layer over
// centrifuge-go, which handles the socket: dialing, pings, backoff, both encodings. This package adds what programs would
// otherwise write themselves: the payloads as types (package model), calls that are repeated until they are answered, and the
// entries of each room without gaps.
//
//	c, err := client.New("ws://127.0.0.1:8080/v1/socket", client.Options{Token: token})
//	defer c.Close()
//	sent, err := c.Send(ctx, client.Message{Room: room, Text: "hello"})
//	for event, err := range c.Events(ctx) { … }
//
// Other modules may import package client. From this module it imports only the packages below it, web/wire, and
// redpacket/proof for the arithmetic of shares.
//
// It must always hold:
//
//   - The entries of each room are returned in order, without gaps and duplicates, across reconnects and restarts of the server.
//     They begin at the first connection, or where the user entered the room later. Entries that a reconnect did not bring are read
//     from history before anything newer of their room is returned. If entries cannot be read any more, or are too many, the event
//     Skipped names them.
//   - A call is repeated unchanged until it gets an answer that is not temporary, its context is done or the client has ended. A
//     call that creates something creates it once: the key is chosen before the first try. Only SendPacket may choose another key,
//     after an answer that says that no packet was sent. SayTyping is not repeated.
//   - Nothing waits for the reader of Events, and the queues for it are bounded. A slow reader gets entries later, from
//     history. Of the events that belong to no room, it gets only the newest (maxLoose).
//   - The callbacks of centrifuge-go wait for nothing: they record what has happened, and start goroutines for the rest. So the
//     program may make any call anywhere, also while it handles an event.
package client
