// Package scan parses and writes the text of JSON. The scanner parses the form that nearly all clients write. It allocates
// nothing and reads each byte once, which halves the cost of a grab of an empty packet. For any other form it fails. Then the
// caller uses encoding/json, which decides whether the text is valid. It must always hold: a text that the scanner accepts is
// accepted by encoding/json, with the same result.
package scan

import (
	"bytes"
	"unicode/utf8"
)

// Scanner holds a text, which must be UTF-8, and the position up to which it is parsed.
type Scanner struct {
	text []byte
	at   int
}

// New returns a scanner at the beginning of a text.
func New(text []byte) Scanner { return Scanner{text: text} }

// deepest is the nesting depth at which Scanner.Value fails; the outermost value has the depth 0.
const deepest = 8

// Object parses an object. It calls member after each name; member must parse the value. It returns false if the text is no
// object that it can parse, or if member has returned false.
func (s *Scanner) Object(member func(name []byte) bool) bool {
	if !s.take('{') {
		return false
	}
	if s.take('}') {
		return true
	}
	for {
		name, ok := s.Quoted()
		if !ok || !s.take(':') || !member(name) {
			return false
		}
		if !s.take(',') {
			return s.take('}')
		}
	}
}

// Value parses a value of any type and returns its text. It fails for strings with escapes and for values that are nested too
// deep. Of a number it parses only the integer part: of 1.5 it returns 1, and the next step of the caller fails at .5.
func (s *Scanner) Value() (raw []byte, ok bool) { return s.value(0) }

func (s *Scanner) value(depth int) (raw []byte, ok bool) {
	s.space()
	from := s.at
	switch c := s.peek(); {
	case depth == deepest:
		return nil, false
	case c == '{':
		ok = s.Object(func([]byte) bool { _, ok := s.value(depth + 1); return ok })
	case c == '[':
		ok = s.list(depth + 1)
	case c == '"':
		_, ok = s.Quoted()
	case c == '-' || '0' <= c && c <= '9':
		ok = s.integer()
	default:
		ok = s.word("true") || s.word("false") || s.word("null")
	}
	return s.text[from:s.at], ok
}

func (s *Scanner) list(depth int) bool {
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

// Quoted parses a string without escapes and returns its content.
func (s *Scanner) Quoted() (text []byte, ok bool) {
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

func (s *Scanner) integer() bool {
	if s.peek() == '-' {
		s.at++
	}
	from := s.at
	for c := s.peek(); '0' <= c && c <= '9'; c = s.peek() {
		s.at++
	}
	return s.at == from+1 || s.at > from && s.text[from] != '0'
}

func (s *Scanner) word(w string) bool {
	if end := s.at + len(w); end <= len(s.text) && string(s.text[s.at:end]) == w {
		s.at = end
		return true
	}
	return false
}

// take skips space and then the character c. It returns false if the next character is another one.
func (s *Scanner) take(c byte) bool {
	s.space()
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

func (s *Scanner) space() {
	for c := s.peek(); c == ' ' || c == '\t' || c == '\r' || c == '\n'; c = s.peek() {
		s.at++
	}
}

// peek returns the next character; 0 at the end.
func (s *Scanner) peek() byte {
	if s.at == len(s.text) {
		return 0
	}
	return s.text[s.at]
}

// AtEnd reports whether nothing but space is left.
func (s *Scanner) AtEnd() bool {
	s.space()
	return s.at == len(s.text)
}

// OneLine removes the newlines between the parts of a JSON document. In strings newlines are written as escapes, which remain. An
// empty document becomes null.
func OneLine(doc []byte) []byte {
	if len(doc) == 0 {
		return []byte("null")
	}
	if bytes.IndexByte(doc, '\n') < 0 {
		return doc
	}
	return bytes.ReplaceAll(doc, []byte("\n"), nil)
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			b = append(b, s[from:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\n':
				b = append(b, '\\', 'n')
			default:
				b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			from = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			b = append(append(b, s[from:i]...), "\ufffd"...)
			from = i + 1
		}
		i += n
	}
	return append(append(b, s[from:]...), '"')
}
