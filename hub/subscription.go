package hub

import "hongbao/hub/internal/socket"

// Subscriber receives the messages of topics; it is a Conn. The topic's lock is held during all calls except Flush and
// signal. No method may block.
type Subscriber interface {
	socket.Flusher
	// Encoding returns the encoding in which the subscriber receives messages.
	Encoding() Encoding
	// deliver queues a push. If it returns true, the caller must unlock the topic and call Flush soon.
	deliver(f socket.Frame) (flush bool)
	// signal passes a signal that was sent to the topic.
	signal(topic string, data []byte)
	// subscribedTo reports whether the subscriber has a subscription to the topic.
	subscribedTo(topic string) bool
	// unsubscribed tells the subscriber that the topic has ended a subscription.
	unsubscribed(s *subscription)
}

// subscription is one subscriber of one topic. The topic's lock guards it.
type subscription struct {
	to       Subscriber
	after    int64         // the position: messages up to this seq are not delivered
	renewed  int64         // highest seen of a repeated Subscribe: an end scheduled up to that seq has no effect
	leave    *pendingLeave // nil: no end is scheduled
	index    int32         // in topic.subscriptions; -1: removed
	encoding Encoding      // encoding of the subscriber
}

// pendingLeave is an end of a subscription that waits for a message: an Unsubscribe with a seq that has not been
// delivered.
type pendingLeave struct {
	through int64    // the last seq that the subscriber receives
	pushes  [][]byte // queued after that message
}

// ended marks a subscription that a message with Final has ended. The subscription remains and receives nothing until
// the subscriber calls Unsubscribe or Subscribe.
var ended = &pendingLeave{}
