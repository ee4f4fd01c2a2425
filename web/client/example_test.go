package client_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"hongbao/web/client"
	"hongbao/web/client/model"
)

// serverURL returns the address of the test server, for these examples.
func serverURL() string { return url(shared.addr) }

// tokenOf does what the backend of an application does: it credits money to the user and returns a JWT with the user's
// name.
func tokenOf(name string, money int64) string {
	id := fmt.Sprintf("%s.%d", name, rand.Int64())
	shared.credit(id, money)
	return named(id, name, time.Hour)
}

// check ends an example if err is not nil.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// Two users talk. Every member of the room receives each message as an Entry, including the sender.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ann, err := client.New(serverURL(), client.Options{Token: tokenOf("Ann", 0)})
	check(err)
	defer ann.Close()
	bob, err := client.New(serverURL(), client.Options{Token: tokenOf("Bob", 0), Protobuf: true})
	check(err)
	defer bob.Close()

	room, err := ann.CreateRoom(ctx, client.NewRoom{Name: "party", Kind: "public"})
	check(err)
	_, err = bob.Join(ctx, room.ID)
	check(err)
	_, err = ann.Send(ctx, client.Message{Room: room.ID, Text: "hello, Bob"})
	check(err)

	for event, err := range bob.Events(ctx) {
		check(err)
		switch e := event.(type) {
		case model.Connected:
			fmt.Println("connected, in", len(e.Rooms), "rooms")
		case model.Entered:
			fmt.Println("entered", e.Room.Name)
		case model.Entry:
			text := e.Body.(model.Text)
			fmt.Println(e.Seq, e.From.Name+":", text.Text)
			return // leaving the loop loses no event: the next loop continues here
		}
	}
	// Output:
	// connected, in 0 rooms
	// entered party
	// 1 Ann: hello, Bob
}

// A user sends a red packet, others grab it to the last share, and its shares are verified.
func Example_packet() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	carol, err := client.New(serverURL(), client.Options{Token: tokenOf("Carol", 1000)})
	check(err)
	defer carol.Close()
	room, err := carol.CreateRoom(ctx, client.NewRoom{Name: "family", Kind: "public"})
	check(err)

	sent, err := carol.SendPacket(ctx, client.NewPacket{Room: room.ID, Total: 888, Count: 1})
	check(err)
	fmt.Println(sent.Packet.Greeting, sent.Balance)

	grab, err := carol.Grab(ctx, sent.Packet.ID, "")
	check(err)
	fmt.Println(grab.Outcome, grab.Amount, grab.Rank, carol.Account().Balance)

	for event, err := range carol.Events(ctx) {
		check(err)
		entry, ok := event.(model.Entry)
		if !ok {
			continue
		}
		if done, ok := entry.Body.(model.PacketDone); ok {
			fmt.Println(done.Reason)
			break
		}
	}
	info, err := carol.Packet(ctx, sent.Packet.ID)
	check(err)
	fmt.Println(info.Proof.Shares, client.Verify(sent.Packet, *info.Proof))
	// Output:
	// 恭喜发财，大吉大利 112
	// won 888 1 1000
	// drained
	// [888] <nil>
}

// Errors can be compared by value. A room that the user may not see is reported as not found.
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

// GetToken is called when there is no token, and whenever the token has expired. Calls wait for it.
func ExampleOptions() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := client.New(serverURL(), client.Options{
		GetToken: func(context.Context) (string, error) {
			fmt.Println("token requested") // call your own server here; ErrUnauthorized ends the client
			return tokenOf("Erin", 500), nil
		},
		Name:      "example",
		MaxMissed: 1000, // per room, after a long time offline; a Skipped event names the others
	})
	check(err)
	defer c.Close()
	account, err := c.Ready(ctx)
	fmt.Println(c.Me().Name, account.Balance, account.Currency.Code, err)
	// Output:
	// token requested
	// Erin 500 CNY <nil>
}

// A command with a key is executed once, however often it is repeated. If your program stores the key, that holds even
// after a crash.
func ExampleClient_Send() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := client.New(serverURL(), client.Options{Token: tokenOf("Frank", 0)})
	check(err)
	defer c.Close()
	room, err := c.CreateRoom(ctx, client.NewRoom{Name: "orders", Kind: "public"})
	check(err)
	for range 2 {
		sent, err := c.Send(ctx, client.Message{Room: room.ID, Key: "order-17-shipped", Text: "Your order is on its way."})
		fmt.Println(sent.Seq, sent.Dup, err)
	}
	// Output:
	// 1 false <nil>
	// 1 true <nil>
}

// History reads a room page by page, with the current texts.
func ExampleClient_History() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := client.New(serverURL(), client.Options{Token: tokenOf("Grace", 0)})
	check(err)
	defer c.Close()
	room, err := c.CreateRoom(ctx, client.NewRoom{Name: "notes", Kind: "public"})
	check(err)
	for _, text := range []string{"one", "too", "three"} {
		_, err := c.Send(ctx, client.Message{Room: room.ID, Text: text})
		check(err)
	}
	check(c.Edit(ctx, room.ID, 2, "two"))
	for entry, err := range c.History(ctx, room.ID, 0) {
		check(err)
		if text, ok := entry.Body.(model.Text); ok {
			fmt.Println(entry.Seq, text.Text, !text.EditedAt.IsZero())
		}
	}
	// Output:
	// 1 one false
	// 2 two true
	// 3 three false
}
