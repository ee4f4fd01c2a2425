// Command bot is an example of a program that uses package client. While it runs, it grabs a share of each red packet that another
// user sends into its rooms. It names the luckiest user when a lucky packet has ended, and answers "ping". Copy it as a start for
// your own. It stores nothing, so you may stop and start it at any time.
//
//	HONGBAO_TOKEN=… bot ws://127.0.0.1:8080/v1/socket
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"

	"hongbao/web/client"
	"hongbao/web/client/model"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := client.New(os.Args[1], client.Options{Token: os.Getenv("HONGBAO_TOKEN"), Name: "bot"})
	if err != nil {
		log.Fatal(err) //nolint:gocritic // the process ends
	}
	for event, err := range c.Events(ctx) { // reconnects by itself; ends when the server refuses the token
		if err != nil {
			log.Fatal(err)
		}
		if entry, ok := event.(model.Entry); ok && entry.From.ID != c.Me().ID {
			if err := answer(ctx, c, entry); err != nil {
				log.Print(err) // for example, the room was deleted
			}
		}
	}
}

func answer(ctx context.Context, c *client.Client, entry model.Entry) error {
	say := func(text string) error { // the key makes it one message, however often the entry is handled
		_, err := c.Send(ctx, client.Message{Room: entry.Room, Key: "bot-" + entry.ID, Text: text, ReplyTo: entry.Seq})
		return err
	}
	switch body := entry.Body.(type) {
	case model.Text:
		if body.Text == "ping" {
			return say("pong")
		}
	case model.PacketBody:
		_, err := c.Grab(ctx, body.ID, "")
		return err
	case model.PacketDone:
		if lucky := body.State.Luckiest; lucky != nil {
			names, err := c.Users(ctx, lucky.User) // an entry has ids; this turns them into names
			if err != nil {
				return err
			}
			return say(fmt.Sprintf("%s was the luckiest, with %d", names[lucky.User].Name, lucky.Amount))
		}
	}
	return nil
}
