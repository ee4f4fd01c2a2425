package wire_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hongbao/web/wire"
)

// TestCodesMatchTheDocument compares the codes with the table of the protocol page on errors.
func TestCodesMatchTheDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "protocol", "errors.md"))
	noError(t, err)
	cell := regexp.MustCompile("\\| (\\d+)( \\(t\\))? \\| `(\\w+)` \\| (\\d+) ")
	rows := cell.FindAllStringSubmatch(string(text), -1)
	if len(rows) != 27 {
		t.Fatalf("%d codes in the document, want 27", len(rows))
	}
	for _, row := range rows {
		n, _ := strconv.Atoi(row[1])
		status, _ := strconv.Atoi(row[4])
		c := wire.Code(n)
		if c.Word() != row[3] || c.Status() != status || c.Temporary() != (row[2] != "") {
			t.Errorf("%d: got %s %d temporary=%t, the document says %v", n, c.Word(), c.Status(), c.Temporary(), row[1:])
		}
	}
}

// TestClosesMatchTheDocument compares the close codes with the same page.
func TestClosesMatchTheDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "protocol", "errors.md"))
	noError(t, err)
	for _, code := range []int{
		wire.CloseDrain, wire.CloseServerError, wire.CloseTokenExpired, wire.CloseTooSlow, wire.CloseNoPong, wire.CloseTooManyCommands, wire.CloseStateInvalidated,
		wire.CloseInvalidToken, wire.CloseProtocolError, wire.CloseNoConnect, wire.CloseRevoked, wire.ClosePushedOut, wire.CloseSuspended,
	} {
		c := wire.CloseFor(code)
		words := strings.Join(strings.Fields(string(text)), " ") // the document breaks its lines anywhere
		if c.Reason == "" || !strings.Contains(words, fmt.Sprintf("%d `%s`", code, c.Reason)) {
			t.Errorf("%d %q is not in the document", code, c.Reason)
		}
	}
}

func TestErrorMessage(t *testing.T) {
	e := wire.NewError(wire.CodeRateLimited, "retry_after_ms", "800")
	if e.Message != "rate_limited retry_after_ms=800" || !e.Temporary || e.Code != 111 {
		t.Errorf("%+v", e)
	}
	if got := string(must(wire.ErrorBody{Error: wire.NewError(wire.CodeMuted)})); got != `{"error":{"code":1003,"message":"muted","temporary":false}}` {
		t.Error(got)
	}
}
