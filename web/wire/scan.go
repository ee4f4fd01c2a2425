package wire

// scanner parses JSON in the form that nearly all clients write. It allocates nothing and reads each byte once, which
// halves the cost of a grab of an empty packet. For any other form it fails, and encoding/json parses the text and
// decides about errors. The text must be UTF-8.
type scanner struct {
	text []byte
	at   int
}

// deepest is the nesting depth at which the scanner gives up.
const deepest = 8

// object parses an object. It calls member after each name; member must parse the value.
func (s *scanner) object(member func(name []byte) bool) bool {
	if !s.take('{') {
		return false
	}
	if s.take('}') {
		return true
	}
	for {
		name, ok := s.quoted()
		if !ok || !s.take(':') || !member(name) {
			return false
		}
		if !s.take(',') {
			return s.take('}')
		}
	}
}

// value parses any value and returns its text.
func (s *scanner) value(depth int) (raw []byte, ok bool) {
	s.space()
	from := s.at
	switch c := s.peek(); {
	case depth == deepest:
		return nil, false
	case c == '{':
		ok = s.object(func([]byte) bool { _, ok := s.value(depth + 1); return ok })
	case c == '[':
		ok = s.list(depth + 1)
	case c == '"':
		_, ok = s.quoted()
	case c == '-' || '0' <= c && c <= '9':
		ok = s.integer()
	default:
		ok = s.word("true") || s.word("false") || s.word("null")
	}
	return s.text[from:s.at], ok
}

func (s *scanner) list(depth int) bool {
	s.at++
	if s.take(']') {
		return true
	}
	for {
		if _, ok := s.value(depth); !ok {
			return false
		}
		if !s.take(',') {
			return s.take(']')
		}
	}
}

// quoted parses a string without escapes and returns its content.
func (s *scanner) quoted() (text []byte, ok bool) {
	if !s.take('"') {
		return nil, false
	}
	from := s.at
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return s.text[from : s.at-1], true
		case c == '\\' || c < ' ':
			return nil, false
		}
	}
	return nil, false
}

func (s *scanner) integer() bool {
	if s.peek() == '-' {
		s.at++
	}
	from := s.at
	for c := s.peek(); '0' <= c && c <= '9'; c = s.peek() {
		s.at++
	}
	return s.at == from+1 || s.at > from && s.text[from] != '0'
}

func (s *scanner) word(w string) bool {
	if end := s.at + len(w); end <= len(s.text) && string(s.text[s.at:end]) == w {
		s.at = end
		return true
	}
	return false
}

// take skips space and then the character c. It returns false if the next character is another one.
func (s *scanner) take(c byte) bool {
	s.space()
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

func (s *scanner) space() {
	for c := s.peek(); c == ' ' || c == '\t' || c == '\r' || c == '\n'; c = s.peek() {
		s.at++
	}
}

// peek returns the next character; 0 at the end.
func (s *scanner) peek() byte {
	if s.at == len(s.text) {
		return 0
	}
	return s.text[s.at]
}

// atEnd reports whether nothing but space is left.
func (s *scanner) atEnd() bool {
	s.space()
	return s.at == len(s.text)
}
