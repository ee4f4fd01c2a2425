package hostapi

import (
	"encoding/json"

	"hongbao/web/wire"
)

var eventOperations = []Operation{
	{
		Method: wire.Method{
			Name: "get_events", Does: "Returns events after a cursor, in order. With wait_s it waits for the first one.",
			Request: GetEventsRequest{}, Reply: EventsReply{}, Errors: []wire.Code{wire.CodeConflict, wire.CodeNotFound},
		},
		Verb: "GET", Path: "/v1/server/events", Scope: Read, Texts: true, Example: GetEventsRequest{After: "oldest", Kinds: "message.*,packet.claimed", Limit: 3},
	},
	{
		Method: wire.Method{
			Name: "get_consumer", Does: "Returns how far a consumer of events has come.", Request: GetConsumerRequest{}, Reply: ConsumerReply{},
			Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "GET", Path: "/v1/server/consumers/{consumer}", Scope: Read, Example: GetConsumerRequest{Consumer: "search"},
	},
	{
		Method: wire.Method{Name: "list_consumers", Does: "Lists the consumers of events by name, at most 100, with how far each is behind.", Reply: ConsumersReply{}},
		Verb:   "GET", Path: "/v1/server/consumers", Scope: Read,
	},
	{
		Method: wire.Method{
			Name: "put_consumer", Does: "Stores how far a consumer has come, and creates it if there is none. For the consumer webhook, which needs the scope admin, it replays or skips events.",
			Request: PutConsumerRequest{}, Reply: ConsumerReply{}, Errors: []wire.Code{wire.CodeConflict},
		},
		Verb: "PUT", Path: "/v1/server/consumers/{consumer}", Scope: Chat, Example: PutConsumerRequest{Consumer: "search", After: "oldest"},
	},
	{
		Method: wire.Method{
			Name: "delete_consumer", Does: "Forgets a consumer. The consumer webhook cannot be deleted.", Request: GetConsumerRequest{}, Reply: DeleteConsumerReply{},
			Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "DELETE", Path: "/v1/server/consumers/{consumer}", Scope: Chat, Example: GetConsumerRequest{Consumer: "search"},
	},
	{
		Method: wire.Method{
			Name: "get_parked_events", Does: "Returns the events that the webhook has refused for three days, or at once if 10,000 others wait.", Request: GetParkedRequest{}, Reply: ParkedReply{},
		},
		Verb: "GET", Path: "/v1/server/webhook/parked", Scope: Read, Texts: true, Example: GetParkedRequest{Limit: 10},
	},
	{
		Method: wire.Method{
			Name: "replay_parked_event", Does: "Delivers a parked event to the webhook again.", Request: ReplayParkedRequest{}, Reply: ReplayParkedReply{},
			Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "POST", Path: "/v1/server/webhook/replay", Scope: Chat, Example: ReplayParkedRequest{No: 7},
	},
}

// GetEventsRequest is the request of get_events.
type GetEventsRequest struct {
	After    string `json:"after,omitempty"`          // a cursor, oldest or newest; "": where the consumer stands, or oldest
	Consumer string `json:"consumer,omitempty"`       // if after is "", begin where this consumer stands
	Kinds    string `json:"kinds,omitempty"`          // kinds or groups, separated by commas; "": all
	Limit    int    `json:"limit,omitempty" min:"1"`  // at most 1000; missing: 100
	WaitS    int    `json:"wait_s,omitempty" min:"0"` // seconds to wait if there is no event yet, at most 30
}

// EventsReply is the reply of get_events.
type EventsReply struct {
	Events []Event `json:"events"`
	Next   string  `json:"next"` // the cursor for the next request, also if there are no events
	More   bool    `json:"more"` // there may be more events now
}

// Event is one event. A webhook receives it as the body of a request.
type Event struct {
	ID        string    `json:"id"`        // the same if the event is delivered again
	Type      string    `json:"type"`      // its kind
	Timestamp string    `json:"timestamp"` // when it happened, in RFC 3339
	Data      EventData `json:"data"`
}

// EventData is what an event is about.
type EventData struct {
	Room     string          `json:"room,omitempty"`
	User     string          `json:"user,omitempty"`     // the user that did it, or that it is about
	Entry    *wire.Entry     `json:"entry,omitempty"`    // of message.*, packet.sent, packet.closed, member.changed, room.updated, user.offline_message
	Claim    *EventClaim     `json:"claim,omitempty"`    // of packet.claimed
	Transfer *wire.Transfer  `json:"transfer,omitempty"` // of transfer.*, but not transfer.reversed
	Details  json.RawMessage `json:"details,omitempty"`
}

// OfflineDetails are the details of user.offline_message. The entry of the event is the newest one that is news for the user.
type OfflineDetails struct {
	Reason string `json:"reason" enum:"direct,mention,packet"`
	Count  int    `json:"count" min:"1"` // entries that are news for the user since the last such event
}

// EventClaim is a share that a user has grabbed.
type EventClaim struct {
	Packet   string `json:"packet"`
	Share    int    `json:"share"` // 0 is the first
	Amount   int64  `json:"amount"`
	Transfer string `json:"transfer"` // id of the transfer into the wallet
	At       int64  `json:"at"`
}

// FundingDetails are the details of transfer.reversed, and of the transfer.credit of a funding.
type FundingDetails struct {
	Funding string `json:"funding"` // the id of the question about the packet
	Room    string `json:"room"`    // room and key name the request to send the packet
	Key     string `json:"key"`
	Amount  int64  `json:"amount,omitempty"`   // what the host has taken, if it is known
	HostKey string `json:"host_key,omitempty"` // the host's own name for it, if it is known
}

// DeleteConsumerReply is the reply of delete_consumer.
type DeleteConsumerReply struct{}

// GetConsumerRequest is the request of get_consumer and delete_consumer.
type GetConsumerRequest struct {
	Consumer string `json:"consumer"`
}

// PutConsumerRequest is the request of put_consumer.
type PutConsumerRequest struct {
	Consumer string `json:"consumer"`
	After    string `json:"after"` // a cursor, oldest or newest
}

// ConsumerReply is a reply that holds one consumer.
type ConsumerReply struct {
	Consumer Consumer `json:"consumer"`
}

// ConsumersReply is the reply of list_consumers.
type ConsumersReply struct {
	Consumers []LateConsumer `json:"consumers"`
}

// LateConsumer is a consumer with its lag.
type LateConsumer struct {
	Consumer

	LagMS *int64 `json:"lag_ms,omitempty"` // age of its next event, measured each minute; 0: it has processed all; missing: not measured yet
}

// Consumer is a reader of events that the server knows by name.
type Consumer struct {
	Name      string `json:"name"`
	After     string `json:"after"` // the cursor after the last event that it has processed; "": it begins with the oldest
	UpdatedAt int64  `json:"updated_at"`
}

// GetParkedRequest is the request of get_parked_events.
type GetParkedRequest struct {
	After int64 `json:"after,omitempty" min:"0"`
	Limit int   `json:"limit,omitempty" min:"1"`
}

// ParkedReply is the reply of get_parked_events.
type ParkedReply struct {
	Parked []Parked `json:"parked"`
	Held   int      `json:"held"` // events that wait to be tried again; parked ones do not
}

// Parked is an event that is not sent to the webhook any more: the webhook has refused it for three days, or too many events
// were held.
type Parked struct {
	No      int64  `json:"no"`
	Key     string `json:"key"` // the room or the user in whose order the event is
	FirstAt int64  `json:"first_at"`
	Tries   int    `json:"tries"`
	Why     string `json:"why"`             // why the last try failed, or that too many events were held
	Event   *Event `json:"event,omitempty"` // missing if it was deleted because of its age
}

// ReplayParkedRequest is the request of replay_parked_event.
type ReplayParkedRequest struct {
	No int64 `json:"no" min:"1"`
}

// ReplayParkedReply is the reply of replay_parked_event.
type ReplayParkedReply struct{}
