package web

import (
	"testing"

	"hongbao/chat"
	"hongbao/web/webpush"
)

// examplePush is a valid request of subscribe_push.
var examplePush = object{
	"endpoint": "https://push.example/1",
	"p256dh":   "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "auth": "BTBZMqHH6r4Tts7J_aSIgg",
}

// newPush returns a notifier that passes on to next, and may send to loopback addresses.
func newPush(t *testing.T, next chat.Publisher, store webpush.Store, presence chat.Presence) *webpush.Notifier {
	t.Helper()
	keys, err := webpush.NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	return webpush.New(next, webpush.Options{
		Keys: keys, Contact: "ops@example.com", Allowed: []string{"127.0.0.1"}, Store: store, Presence: presence,
	})
}

// withPush makes a server take push subscriptions. Nobody is told of news.
func withPush(t *testing.T) func(*Options) {
	t.Helper()
	return func(o *Options) { o.Push = newPush(t, nil, nil, nil) }
}
