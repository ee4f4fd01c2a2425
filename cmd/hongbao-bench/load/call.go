package load

import (
	"strconv"
	"time"
)

// call is one command of a user. It is sent again, unchanged but for its id, until it is answered, on as many connections as needed.
type call struct {
	id     uint32 // the command's id on the last connection that carried it
	method string
	data   []byte    // JSON
	due    time.Time // when the schedule wanted it to be sent; in a closed loop, when the command before it was answered
	// answered is called at most once, with the time of the answer, on the goroutine that reads the socket. data are valid
	// during the call only. failed is nil on success.
	answered func(now time.Time, data []byte, failed *refusal)
}

// text appends the command as it is sent.
func (c *call) text(b []byte) []byte {
	b = strconv.AppendUint(append(b, `{"id":`...), uint64(c.id), 10)
	b = append(append(b, `,"rpc":{"method":"`...), c.method...)
	b = append(append(b, `","data":`...), c.data...)
	return append(b, "}}"...)
}

// repeatTimeout is how long after its due time a command is repeated, while it gets temporary errors. It also bounds other waits.
const repeatTimeout = 30 * time.Second
