package pg

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// literal is the form of every literal: printable ASCII between two quotes, with code points for the rest.
var literal = regexp.MustCompile(`^(?:'[ -&(-\[\]-~]*'|U&'(?:[ -&(-\[\]-~]|\\[0-9a-f]{4}|\\\+[0-9a-f]{6})*')$`)

var codePoint = regexp.MustCompile(`\\\+[0-9a-f]{6}|\\[0-9a-f]{4}`)

// FuzzLiteral requires the form of a literal for every text, and that the literal means the text. A text that Postgres cannot store is refused.
func FuzzLiteral(f *testing.F) {
	for _, text := range []string{"", "ann", "it's", `a\b`, `\0027`, `'; drop table users --`, "恭喜发财 🧧", "a\x00b", "\xff", "\u2028\x7f", "U&'"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		written, err := appendText(nil, text)
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			if !errors.Is(err, ErrNoText) {
				t.Errorf("%q: %v, want ErrNoText", text, err)
			}
			return
		}
		if err != nil || !literal.Match(written) {
			t.Fatalf("%q became %s (%v)", text, written, err)
		}
		meant := string(written[bytes.IndexByte(written, '\'')+1 : len(written)-1])
		if written[0] == 'U' {
			meant = codePoint.ReplaceAllStringFunc(meant, func(hex string) string {
				n, _ := strconv.ParseUint(strings.TrimLeft(hex, `\+`), 16, 32)
				return string(rune(n))
			})
		}
		if meant != text {
			t.Errorf("%q became %s, which means %q", text, written, meant)
		}
	})
}

func TestInlineNumbersItsArguments(t *testing.T) {
	args := []any{"a", 2, int64(-3), []string{`x"`, `y\`}, []int64{4, 5}, [][]byte{{6}, nil, {}}, "g", "h", "i", "$1"}
	text, err := inline(nil, nil, `f($10, $1, $2, $3, $4, $5, $6, $1)`, args)
	if want := `f('$1', 'a', '2', '-3', U&'{"x\005c"","y\005c\005c"}', '{4,5}', U&'{"\005c\005cx06",NULL,"\005c\005cx"}', 'a')`; err != nil || string(text) != want {
		t.Errorf("%s\n%s (%v)", text, want, err)
	}
	for _, wrong := range []string{`$11`, `$0`, `$`, `$a`} {
		if text, err := inline(nil, nil, wrong, args); err == nil {
			t.Errorf("%s became %s", wrong, text)
		}
	}
	if text, err := inline(nil, nil, `1/$2 /*! $11 */ /*one*/ $1 /*end*/`, args); err != nil || string(text) != `1/'2' /*! $11 */ /*one*/ 'a' /*end*/` {
		t.Errorf("a statement with comments became %s (%v)", text, err)
	}
	if text, err := inline(nil, nil, `do $$ begin end $$`, nil); err != nil || string(text) != `do $$ begin end $$` {
		t.Errorf("a statement without arguments became %s (%v)", text, err)
	}
}
