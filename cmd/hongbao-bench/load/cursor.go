package load

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
