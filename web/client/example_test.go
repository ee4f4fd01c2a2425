package client_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"hongbao/web/client"
)

// serverURL is where a server for these examples listens.
func serverURL() string { return url(shared.addr) }

// tokenOf is what a host does for its user: it gives him money, and a JWT with his name.
func tokenOf(name string, money int64) string {
	id := fmt.Sprintf("%s.%d", name, rand.Int64())
	shared.credit(id, money)
	return named(id, name, time.Hour)
}

// check ends an example that goes wrong.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// Two people talk. What one says, all in the room hear as an Entry, he himself too.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ann, err := client.New(serverURL(), client.Options{Token: tokenOf("Ann", 0)})
	check(err)
	defer ann.Close()
	bob, err := client.New(serverURL(), client.Options{Token: tokenOf("Bob", 0), Protobuf: true})
	check(err)
	defer bob.Close()

	room, err := ann.CreateRoom(ctx, client.NewRoom{Name: "party"})
	check(err)
	_, err = bob.Join(ctx, room.ID)
	check(err)
	_, err = ann.Send(ctx, client.Message{Room: room.ID, Text: "hello, Bob"})
	check(err)

	for event, err := range bob.Events(ctx) {
		check(err)
		switch e := event.(type) {
		case client.Connected:
			fmt.Println("connected, in", len(e.Rooms), "rooms")
		case client.Entered:
			fmt.Println("entered", e.Room.Name)
		case client.Entry:
			text := e.Body.(client.Text)
			fmt.Println(e.Seq, e.From.Name+":", text.Text)
			return // leaving the loop loses nothing: the next one goes on
		}
	}
	// Output:
	// connected, in 0 rooms
	// entered party
	// 1 Ann: hello, Bob
}

// A red packet is sent, grabbed to its last share, and proved fair.
func Example_packet() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	carol, err := client.New(serverURL(), client.Options{Token: tokenOf("Carol", 1000)})
	check(err)
	defer carol.Close()
	room, err := carol.CreateRoom(ctx, client.NewRoom{Name: "family"})
	check(err)

	sent, err := carol.SendPacket(ctx, client.NewPacket{Room: room.ID, Total: 888, Count: 1})
	check(err)
	fmt.Println(sent.Packet.Greeting, sent.Balance)

	grab, err := carol.Grab(ctx, sent.Packet.ID, "")
	check(err)
	fmt.Println(grab.Outcome, grab.Amount, grab.Rank, carol.Account().Balance)

	for event, err := range carol.Events(ctx) {
		check(err)
		entry, ok := event.(client.Entry)
		if !ok {
			continue
		}
		if done, ok := entry.Body.(client.PacketDone); ok {
			fmt.Println(done.Reason)
			break
		}
	}
	info, err := carol.Packet(ctx, sent.Packet.ID)
	check(err)
	fmt.Println(info.Proof.Shares, client.Verify(sent.Packet, *info.Proof))
	// Output:
	// 恭喜发财,大吉大利 112
	// won 888 1 1000
	// drained
	// [888] <nil>
}

// Refusals are values. A room that one may not see is one that is not there.
func ExampleError() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := client.New(serverURL(), client.Options{Token: tokenOf("Dave", 0)})
	check(err)
	defer c.Close()

	_, err = c.Join(ctx, "no-such-room")
	fmt.Println(err, errors.Is(err, client.ErrNotFound))

	_, err = c.CreateRoom(ctx, client.NewRoom{Name: "attic", Kind: "haunted"})
	var refused *client.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Code, refused.Values["field"])
	}
	// Output:
	// join: not_found true
	// 107 kind
}

// GetToken is asked when there is no token, and whenever the one there is runs out. Calls wait meanwhile.
func ExampleOptions() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := client.New(serverURL(), client.Options{
		GetToken: func(context.Context) (string, error) {
			fmt.Println("asked") // ask your own server here; ErrUnauthorized ends the client
			return tokenOf("Erin", 500), nil
		},
		Name:      "example",
		MaxMissed: 1000, // of a room, after a long time offline; others are named by Skipped
	})
	check(err)
	defer c.Close()
	account, err := c.Ready(ctx)
	fmt.Println(c.Me().Name, account.Balance, account.Currency.Code, err)
	// Output:
	// asked
	// Erin 500 CNY <nil>
}

// A command sent with a key of one's own is done once, whoever repeats it, for ever: also after a crash of
// one's own program, if it has kept the key.
func ExampleClient_Send() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := client.New(serverURL(), client.Options{Token: tokenOf("Frank", 0)})
	check(err)
	defer c.Close()
	room, err := c.CreateRoom(ctx, client.NewRoom{Name: "orders"})
	check(err)
	for range 2 {
		sent, err := c.Send(ctx, client.Message{Room: room.ID, Key: "order-17-shipped", Text: "Your order is on its way."})
		fmt.Println(sent.Seq, sent.Dup, err)
	}
	// Output:
	// 1 false <nil>
	// 1 true <nil>
}

// History reads a room page by page, as it reads now.
func ExampleClient_History() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := client.New(serverURL(), client.Options{Token: tokenOf("Grace", 0)})
	check(err)
	defer c.Close()
	room, err := c.CreateRoom(ctx, client.NewRoom{Name: "notes"})
	check(err)
	for _, text := range []string{"one", "too", "three"} {
		_, err := c.Send(ctx, client.Message{Room: room.ID, Text: text})
		check(err)
	}
	check(c.Edit(ctx, room.ID, 2, "two"))
	for entry, err := range c.History(ctx, room.ID, 0) {
		check(err)
		if text, ok := entry.Body.(client.Text); ok {
			fmt.Println(entry.Seq, text.Text, !text.EditedAt.IsZero())
		}
	}
	// Output:
	// 1 one false
	// 2 two true
	// 3 three false
}
