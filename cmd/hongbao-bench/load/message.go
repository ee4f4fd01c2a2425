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

// cursor reads a JSON text once from its start and builds no values: a decoder would cost more CPU time than the
// server. A syntax error that the cursor notices ends the scan and clears ok. It does not notice every error.
type cursor struct {
	b  []byte
	i  int
	ok bool
}

func newCursor(b []byte) cursor { return cursor{b: b, ok: true} }

// peek skips spaces and returns the next byte without moving past it; 0 at the end.
func (c *cursor) peek() byte {
	for ; c.i < len(c.b); c.i++ {
		switch c.b[c.i] {
		case ' ', '\t', '\r', '\n':
		default:
			return c.b[c.i]
		}
	}
	return 0
}

// take moves past the byte want; any other byte ends the scan with ok false.
func (c *cursor) take(want byte) {
	if c.peek() != want {
		c.end()
		return
	}
	c.i++
}

func (c *cursor) end() { c.ok, c.i = false, len(c.b) }

// enter moves into an object.
func (c *cursor) enter() { c.take('{') }

// field moves to the value of the object's next field; more is false after the last one.
func (c *cursor) field() (name []byte, more bool) {
	if c.peek() == ',' {
		c.i++
	}
	if c.peek() == '}' {
		c.i++
		return nil, false
	}
	name = c.text()
	c.take(':')
	return name, c.ok
}

// text returns a string without its quotes, escapes included.
func (c *cursor) text() []byte {
	c.take('"')
	for from := c.i; c.i < len(c.b); c.i++ {
		switch c.b[c.i] {
		case '\\':
			c.i++
		case '"':
			c.i++
			return c.b[from : c.i-1]
		}
	}
	c.end()
	return nil
}

// number returns an integer. Any other value ends the scan with ok false.
func (c *cursor) number() (n int64) {
	negative := c.peek() == '-'
	if negative {
		c.i++
	}
	from := c.i
	for ; c.i < len(c.b) && c.b[c.i] >= '0' && c.b[c.i] <= '9'; c.i++ {
		n = n*10 + int64(c.b[c.i]-'0')
	}
	if c.i == from || c.i-from > 18 {
		c.end()
	}
	if negative {
		return -n
	}
	return n
}

// boolean reports whether the next value is true.
func (c *cursor) boolean() bool { return string(c.raw()) == "true" }

// raw returns any value unchanged.
func (c *cursor) raw() []byte {
	first := c.peek()
	from := c.i
	switch first {
	case 0:
		c.end()
		return nil
	case '"':
		c.text()
	case '{', '[':
		c.nested()
	default:
		for c.i < len(c.b) && c.b[c.i] != ',' && c.b[c.i] != '}' && c.b[c.i] != ']' {
			c.i++
		}
	}
	if !c.ok {
		return nil
	}
	return c.b[from:c.i]
}

// nested skips an object or a list.
func (c *cursor) nested() {
	depth := 0
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case '"':
			c.text()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		c.i++
		if depth == 0 {
			return
		}
	}
	c.end()
}

// sent is the reply to a send.
type sent struct {
	seq int64
	id  []byte
	at  int64
}

func readSent(data []byte) (s sent, ok bool) {
	c := newCursor(data)
	c.enter()
	for name, more := c.field(); more; name, more = c.field() {
		switch string(name) {
		case "seq":
			s.seq = c.number()
		case "id":
			s.id = c.text()
		case "at":
			s.at = c.number()
		default:
			c.raw()
		}
	}
	return s, c.ok
}

// grabbed is the reply to a grab.
type grabbed struct {
	outcome string
	amount  int64
	rank    int
	claimed int
	count   int
}

func readGrabbed(data []byte) (g grabbed, ok bool) {
	c := newCursor(data)
	c.enter()
	for name, more := c.field(); more; name, more = c.field() {
		switch string(name) {
		case "outcome":
			g.outcome = outcome(c.text())
		case "amount":
			g.amount = c.number()
		case "rank":
			g.rank = int(c.number())
		case "claimed":
			g.claimed = int(c.number())
		case "count":
			g.count = int(c.number())
		default:
			c.raw()
		}
	}
	return g, c.ok
}

// outcome returns an outcome as a string. It allocates nothing for the known ones.
func outcome(word []byte) string {
	for _, known := range []string{"won", "empty", "already", "expired"} {
		if string(word) == known {
			return known
		}
	}
	return string(word)
}
