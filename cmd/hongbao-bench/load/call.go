package load

import (
	"strconv"
	"time"
)

// call is a command of a user's. It is said again as it is until it is answered, over as many connections as that takes.
type call struct {
	method string
	data   []byte    // JSON
	due    time.Time // when it was to be said
	// answered is called once, by the goroutine that reads the socket. The data are gone afterwards; failed is nil when
	// all is well.
	answered func(data []byte, failed *refusal)
}

// frame is the command as it is sent.
func (c *call) frame(id uint32) []byte {
	b := make([]byte, 0, 48+len(c.method)+len(c.data))
	b = strconv.AppendUint(append(b, `{"id":`...), uint64(id), 10)
	b = append(append(b, `,"rpc":{"method":"`...), c.method...)
	b = append(append(b, `","data":`...), c.data...)
	return append(b, "}}"...)
}

// patience is how long a command is repeated before it counts as never answered.
const patience = 30 * time.Second
