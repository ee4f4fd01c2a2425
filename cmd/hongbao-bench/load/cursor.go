package load

// cursor goes once over a line of JSON and makes nothing of it: a decoder would cost more than the server. What is no JSON
// ends it, and ok tells.
type cursor struct {
	b  []byte
	i  int
	ok bool
}

func newCursor(b []byte) cursor { return cursor{b: b, ok: true} }

// peek is the next byte that is no space; 0 at the end.
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

// take moves behind the byte, or ends.
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

// field moves to the value of the object's next field. There is none when the object has ended.
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

// text is a string as it stands between its quotes.
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

// number is a whole one; what is not ends the line.
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

// truth is true or false.
func (c *cursor) truth() bool { return string(c.raw()) == "true" }

// raw is any value as it stands.
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

// nested moves over an object or a list with all that is in it.
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
