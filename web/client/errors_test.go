package client

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/web/wire"
)

// TestEveryCodeHasAnError checks that a program can name each error that a call may return.
func TestEveryCodeHasAnError(t *testing.T) {
	codes, err := os.ReadFile("../wire/codes.go")
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
	internal := []string{"TokenExpired", "AlreadySubscribed", "NotAvailable"} // answers to commands that only the underlying SDK sends
	names := regexp.MustCompile(`(?m)^\tCode(\w+) +(?:Code )?= `).FindAllSubmatch(codes, -1)
	if len(names) < 20 {
		t.Fatalf("found %d codes in web/wire/codes.go, want at least 20", len(names))
	}
	for _, name := range names {
		code := string(name[1])
		if !slices.Contains(internal, code) && !regexp.MustCompile(`\tErr`+code+` += &Error\{Code: wire\.Code`+code+`\}`).Match(own) {
			t.Errorf("errors.go has no Err%s", code)
		}
	}
}

// TestDenialIsDecoded reads the message of an error as every SDK passes it on.
func TestDenialIsDecoded(t *testing.T) {
	sent := wire.NewDenial("请 1 分钟后再试", json.RawMessage(`{"captcha":"a b=c%"}`))
	reason, data := newError(&centrifuge.Error{Code: uint32(sent.Code), Message: sent.Message}).Denial()
	if reason != "请 1 分钟后再试" || string(data) != `{"captcha":"a b=c%"}` {
		t.Errorf("reason %q, data %s", reason, data)
	}
	if reason, data := newError(&centrifuge.Error{Code: 1040, Message: "denied"}).Denial(); reason != "" || data != nil {
		t.Errorf("without words: reason %q, data %s", reason, data)
	}
}
