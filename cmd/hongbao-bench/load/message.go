package load

// message holds the needed fields of one message of the server. Its slices are parts of the frame, and valid only as
// long as the frame.
type message struct {
	kind    kind
	id      uint32 // id of the command that this message answers
	channel []byte
	entry   entry
	data    []byte // of a reply: the data in it
	refusal refusal
}

// kind is the kind of a message.
type kind int

const (
	other kind = iota // not needed here
	ping
	reply
	refused
	publication
	unsequenced // a push without an offset, such as a new balance
	unsubscribed
)

// entry is a publication.
type entry struct {
	offset int64
	seq    int64 // the seq in the entry's body, which must equal the offset
	id     []byte
	key    []byte
	at     int64
}

// refusal is an error reply.
type refusal struct {
	code      int64
	word      []byte
	temporary bool
}

// read parses one message; false if it is malformed. Fields that no check needs are skipped. An unsequenced push is not read to
// its end.
func (l *message) read(b []byte) bool {
	*l = message{}
	c := newCursor(b)
	c.enter()
	fields := 0
	for name, more := c.field(); more; name, more = c.field() {
		fields++
		switch string(name) {
		case "id":
			l.id = uint32(c.number())
		case "push":
			if l.push(&c); l.kind == unsequenced {
				return c.ok
			}
		case "rpc":
			l.kind = reply
			l.answer(&c)
		case "connect":
			l.kind, l.data = reply, c.raw()
		case "error":
			l.kind = refused
			l.refusal.read(&c)
		default:
			c.raw()
		}
	}
	if fields == 0 {
		l.kind = ping
	}
	return c.ok && c.peek() == 0
}

// answer parses the result of an rpc.
func (l *message) answer(c *cursor) {
	c.enter()
	for name, more := c.field(); more; name, more = c.field() {
		if string(name) == "data" {
			l.data = c.raw()
		} else {
			c.raw()
		}
	}
}

func (l *message) push(c *cursor) {
	c.enter()
	for name, more := c.field(); more; name, more = c.field() {
		switch string(name) {
		case "channel":
			l.channel = c.text()
		case "pub":
			l.kind = publication
			l.entry.read(c)
		case "message":
			l.kind = unsequenced
			return
		case "unsubscribe":
			l.kind = unsubscribed
			c.raw()
		default:
			c.raw()
		}
	}
}

// read parses a publication: its offset, and which entry it carries.
func (e *entry) read(c *cursor) {
	c.enter()
	for name, more := c.field(); more; name, more = c.field() {
		switch string(name) {
		case "offset":
			e.offset = c.number()
		case "data":
			e.body(c)
		default:
			c.raw()
		}
	}
}

func (e *entry) body(c *cursor) {
	c.enter()
	for name, more := c.field(); more; name, more = c.field() {
		switch string(name) {
		case "id":
			e.id = c.text()
		case "seq":
			e.seq = c.number()
		case "key":
			e.key = c.text()
		case "at":
			e.at = c.number()
		default:
			c.raw()
		}
	}
}

func (r *refusal) read(c *cursor) {
	c.enter()
	for name, more := c.field(); more; name, more = c.field() {
		switch string(name) {
		case "code":
			r.code = c.number()
		case "message":
			r.word = c.text()
		case "temporary":
			r.temporary = c.boolean()
		default:
			c.raw()
		}
	}
}
