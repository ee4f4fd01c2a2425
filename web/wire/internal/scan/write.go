package scan

import (
	"bytes"
	"unicode/utf8"
)

// OneLine removes the newlines between the parts of a JSON document. Newlines inside strings are escapes and remain.
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
