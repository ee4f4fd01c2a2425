package main

import (
	"hongbao/web/wire"
	"hongbao/web/wire/strict"
)

// envelope adds the commands and pushes of the Centrifugo protocol itself that the server supports.
func (d channelDocument) envelope() {
	d.connect()
	refresh := d.operation("refresh", "receive", "A newer token of the same user.", d.message("command.refresh", "A newer token.", record(object{
		"id": idSchema(), "refresh": record(object{"token": textSchema()}, "token"),
	}, "id", "refresh")))
	d.replies(refresh, append([]wire.Code{wire.CodeTokenExpired}, wire.Always...), d.message("reply.refresh", "The token is taken.", record(object{
		"id": idSchema(), "refresh": record(object{
			"client": textSchema(), "version": textSchema(), "expires": object{"const": true}, "ttl": object{"type": "integer"},
		}, "client", "expires", "ttl"),
	}, "id", "refresh")))

	typing := record(object{"typing": d.all.of(wire.TypingRoom{})}, "typing")
	d.operation("typing", "receive", "Says that the user is writing. It gets no reply.", d.message("command.typing", "The user is writing.",
		record(object{"send": record(object{"data": typing}, "data")}, "send")))

	d.operation("subscribe", "send", "The user is in a room now.", d.message("push.subscribe", "The channel is live from its offset on.", pushed(object{
		"channel": channelSchema(), "subscribe": record(object{
			"recoverable": object{"const": true}, "positioned": object{"const": true}, "epoch": textSchema(), "offset": seqSchema(),
			"data": d.all.of(wire.Joined{}),
		}, "recoverable", "positioned", "epoch", "data"),
	}, "channel", "subscribe")))
	d.operation("unsubscribe", "send", "The user is out of a room; the push left says so too.", d.message("push.unsubscribe", "The channel has ended.", pushed(object{
		"channel": channelSchema(), "unsubscribe": record(object{
			"code": object{"const": wire.UnsubscribeCode}, "reason": object{"enum": []string{"left", "kicked", "banned", "deleted"}},
		}, "code", "reason"),
	}, "channel", "unsubscribe")))

	empty := object{"type": "object", "maxProperties": 0}
	d.operation("ping", "send", "Comes every 25 s.", d.message("ping", "Asks for a pong.", empty))
	d.operation("pong", "receive", "Is due within 8 s of a ping.", d.message("pong", "Answers a ping.", empty))
}

// connect describes the command connect, which a client must send before any other.
func (d channelDocument) connect() {
	asked := record(object{"recover": object{"type": "boolean"}, "epoch": textSchema(), "offset": seqSchema()})
	command := d.message("command.connect", "The user's token, and the last position known of each room.", record(object{
		"id": idSchema(), "connect": record(object{
			"token": textSchema(), "name": textSchema(), "version": textSchema(),
			"subs": object{"type": "object", "additionalProperties": asked}, "data": d.all.of(wire.ConnectAsk{}),
		}),
	}, "id", "connect"))
	publication := record(object{"offset": seqSchema(), "data": d.all.of(wire.Entry{})}, "offset", "data")
	position := record(object{
		"recoverable": object{"const": true}, "positioned": object{"const": true}, "epoch": textSchema(), "offset": seqSchema(),
		"was_recovering": object{"type": "boolean"}, "recovered": object{"type": "boolean"},
		"publications": object{"type": "array", "items": publication},
	}, "recoverable", "positioned", "epoch")
	reply := d.message("reply.connect", "The user, and everything that the first screen needs.", record(object{
		"id": idSchema(), "connect": record(object{
			"client": textSchema(), "session": textSchema(), "node": textSchema(), "version": textSchema(),
			"expires": object{"const": true}, "ttl": object{"type": "integer"}, "ping": object{"type": "integer"}, "pong": object{"const": true},
			"time": object{"type": "integer"}, "data": d.all.of(wire.ConnectData{}),
			"subs": object{"type": "object", "additionalProperties": position},
		}, "client", "session", "expires", "ttl", "ping", "pong", "time", "data"),
	}, "id", "connect"))
	o := d.operation("connect", "receive", "Comes first, within 8 s of the upgrade.", command)
	d.replies(o, append([]wire.Code{wire.CodeTokenExpired}, wire.Always...), reply)
}

// pushed returns the schema of a push with these properties.
func pushed(properties object, required ...string) object {
	return record(object{"push": record(properties, required...)}, "push")
}

func idSchema() object { return object{"type": "integer", "minimum": 1, "maximum": 1<<32 - 1} }

func seqSchema() object { return object{"type": "integer", "minimum": 0, "maximum": strict.MaxInt} }

func textSchema() object { return object{"type": "string"} }

func channelSchema() object { return object{"type": "string", "pattern": "^room:"} }
