package chat_test

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"hongbao/chat"
)

func TestSubscriptionIsCheckedBeforeItIsStored(t *testing.T) {
	h := newTestService(t, chat.Options{})
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	good := chat.NewSubscription{
		Endpoint: "https://push.example/one", P256dh: base64.URLEncoding.EncodeToString(key.PublicKey().Bytes()),
		Auth: base64.RawURLEncoding.EncodeToString(make([]byte, 16)),
	}
	for field, spoil := range map[string]func(*chat.NewSubscription){
		"endpoint": func(n *chat.NewSubscription) { n.Endpoint = "https://push.example/" + strings.Repeat("x", 1024) },
		"p256dh":   func(n *chat.NewSubscription) { n.P256dh = good.P256dh[:80] },
		"auth":     func(n *chat.NewSubscription) { n.Auth = good.Auth + "AA" },
	} {
		bad := good
		spoil(&bad)
		var wrong *chat.FieldError
		if err := h.Subscribe(h.ctx, "ann", bad); !errors.As(err, &wrong) || wrong.Field != field || !errors.Is(err, chat.ErrBadRequest) {
			t.Errorf("a bad %s: %v", field, err)
		}
	}
	if err := h.Subscribe(h.ctx, "ann", good); err != nil {
		t.Fatal(err)
	}
	got, err := h.Subscriptions(h.ctx, []string{"ann"})
	if err != nil || len(got) != 1 || got[0].Endpoint != good.Endpoint {
		t.Errorf("stored %v, %v", got, err)
	}
	if err := h.Unsubscribe(h.ctx, "ann", good.Endpoint); err != nil {
		t.Fatal(err)
	}
	if got, err := h.Subscriptions(h.ctx, []string{"ann"}); err != nil || len(got) != 0 {
		t.Errorf("after its removal %v, %v", got, err)
	}
}
