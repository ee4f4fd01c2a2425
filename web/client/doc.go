// Package client is the SDK for Go programs: typed calls, and what happens in one's rooms as Go values. It
// is a layer over centrifuge-go, which owns the socket: dialing, pings, backoff, both encodings. This
// package owns what programs would otherwise have to write themselves: the payloads as types, calls that
// are repeated until they are answered, and each room as one unbroken line of entries.
//
//	c, err := client.New("ws://127.0.0.1:8080/v1/socket", client.Options{Token: token})
//	defer c.Close()
//	sent, err := c.Send(ctx, client.Message{Room: room, Text: "hello"})
//	for event, err := range c.Events(ctx) { … }
//
// It must always hold:
//
//   - The entries of each room come in order, without gaps and duplicates, from where one came in, across
//     reconnects and restarts of the server. What a reconnect did not bring is read from history before
//     anything newer is given; what cannot be had any more, or is too much, is named by Skipped.
//   - A call is repeated as it was until it is answered, its context is done or the client has ended. What
//     it makes is made once: its key is drawn before the first try and does not change.
//   - Nobody waits for the reader of Events. Who reads slowly gets everything later, from history; what is
//     kept for him is bounded.
//   - Nothing here runs on the SDK's callbacks but taking notes, so any call may be made anywhere, also
//     while an event is being handled.
package client
