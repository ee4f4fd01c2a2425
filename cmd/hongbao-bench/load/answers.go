package load

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
	for _, known := range []string{"won", "empty", "already", "pending", "expired"} {
		if string(word) == known {
			return known
		}
	}
	return string(word)
}
