package load

// line is one message of the server's, as far as it matters here. Its slices are parts of the frame, and are gone with it.
type line struct {
	kind    kind
	id      uint32 // of the command that is answered
	channel []byte
	entry   entry
	data    []byte // of a reply: what was asked for
	refusal refusal
}

// kind of a line.
type kind int

const (
	other kind = iota // nothing that anybody here waits for
	ping
	reply
	refused
	publication
	message
	unsubscribed
)

// entry is a publication.
type entry struct {
	offset int64
	seq    int64 // as the entry itself says
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

// read reads one message; false when it is none. What nobody checks is not read to its end.
func (l *line) read(b []byte) bool {
	*l = line{}
	c := newCursor(b)
	c.enter()
	fields := 0
	for name, more := c.field(); more; name, more = c.field() {
		fields++
		switch string(name) {
		case "id":
			l.id = uint32(c.number())
		case "push":
			if l.push(&c); l.kind == message {
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

// answer reads what an rpc brings.
func (l *line) answer(c *cursor) {
	c.enter()
	for name, more := c.field(); more; name, more = c.field() {
		if string(name) == "data" {
			l.data = c.raw()
		} else {
			c.raw()
		}
	}
}

func (l *line) push(c *cursor) {
	c.enter()
	for name, more := c.field(); more; name, more = c.field() {
		switch string(name) {
		case "channel":
			l.channel = c.text()
		case "pub":
			l.kind = publication
			l.entry.read(c)
		case "message":
			l.kind = message
			return
		case "unsubscribe":
			l.kind = unsubscribed
			c.raw()
		default:
			c.raw()
		}
	}
}

// read reads a publication: its place, and of the entry in it who it is.
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
			r.temporary = c.truth()
		default:
			c.raw()
		}
	}
}
