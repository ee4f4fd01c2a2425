package main

import (
	"fmt"
	"reflect"
	"strings"

	"hongbao/web/wire"
)

// tag groups operations in the documents.
type tag struct{ name, does string }

var tags = []tag{
	{"rooms", "Rooms and their members."},
	{"links", "Invite links, and users that ask to enter a room."},
	{"contacts", "Which users may contact the caller, and the names of others."},
	{"push", "Notifications for users that have no socket (Web Push)."},
	{"messages", "Texts, reactions, history and what was read."},
	{"packets", "Red packets: send, grab, look at."},
	{"wallet", "The caller's money."},
	{"picture", "The picture by which others see the caller."},
	{"admin", "Administration by the host's back end."},
	{"guests", "Users without an account of the host."},
}

// tagOf holds the tag of each method and each endpoint of package wire.
var tagOf = map[string]string{
	"create_room": "rooms", "direct": "rooms", "join": "rooms", "leave": "rooms", "rooms": "rooms", "find_rooms": "rooms", "invite": "rooms",
	"kick": "rooms", "unban": "rooms", "set_role": "rooms", "mute": "rooms", "update_room": "rooms", "delete_room": "rooms", "set_room_prefs": "rooms",
	"members": "rooms", "presence": "rooms",
	"create_link": "links", "links": "links", "revoke_link": "links", "join_link": "links", "join_requests": "links", "answer_request": "links",
	"preview_link": "links", "preview_room": "rooms",
	"block": "contacts", "unblock": "contacts", "set_contact": "contacts", "contacts": "contacts", "users": "contacts",
	"push_key": "push", "subscribe_push": "push", "unsubscribe_push": "push",
	"send": "messages", "edit": "messages", "recall": "messages", "react": "messages", "history": "messages", "mentions": "messages", "report": "messages", "read": "messages",
	"send_packet": "packets", "grab": "packets", "packet": "packets", "cancel_packet": "packets", "packets": "packets",
	"wallet": "wallet",
	"credit": "admin", "debit": "admin", "disconnect": "admin", "audit": "admin", "start_audit": "admin", "heads": "admin", "stats": "admin",
	"guests": "guests", "renew": "guests", "sign_out": "guests", "profile": "guests", "picture": "picture", "device_code": "guests", "redeem": "guests",
}

// allTags returns the tags for a document.
func allTags() (all []object) {
	for _, t := range tags {
		all = append(all, object{"name": t.name, "description": t.does})
	}
	return all
}

// tagsOf returns the tags of a method. It panics for a method that is not in tagOf.
func tagsOf(m wire.Method) []string {
	if tagOf[m.Name] == "" {
		panic("generate: no tag for method " + m.Name)
	}
	return []string{tagOf[m.Name]}
}

// describe returns what a method does, its rate or else its cost, and, if its request has a key, that it may be repeated.
func describe(m wire.Method) string {
	parts := []string{m.Does}
	switch {
	case m.Rate != "":
		parts = append(parts, fmt.Sprintf("Counts against the rate `%s`.", m.Rate))
	case m.Cost > 0:
		parts = append(parts, fmt.Sprintf("Costs %d of the user's budget.", m.Cost))
	}
	if m.Request != nil {
		if _, keyed := reflect.TypeOf(m.Request).FieldByName("Key"); keyed {
			parts = append(parts, "Repeat the same request with the same `key` until it is answered: it is carried out once.")
		}
	}
	return strings.Join(parts, " ")
}
