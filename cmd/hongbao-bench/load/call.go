package load

import (
	"strconv"
	"time"
)

// call is a command of a user's. It is said again as it is until it is answered, over as many connections as that takes.
type call struct {
	id     uint32 // over the connection that it was said over last
	method string
	data   []byte    // JSON
	due    time.Time // when it was to be said
	// answered is called once, by the goroutine that reads the socket, with the time when the answer came. The data are
	// gone afterwards; failed is nil when all is well.
	answered func(now time.Time, data []byte, failed *refusal)
}

// text appends the command as it is sent.
func (c *call) text(b []byte) []byte {
	b = strconv.AppendUint(append(b, `{"id":`...), uint64(c.id), 10)
	b = append(append(b, `,"rpc":{"method":"`...), c.method...)
	b = append(append(b, `","data":`...), c.data...)
	return append(b, "}}"...)
}

// patience is how long a command is repeated before it counts as never answered.
const patience = 30 * time.Second
