package client

import (
	"encoding/json"
	"testing"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/web/wire"
)

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
