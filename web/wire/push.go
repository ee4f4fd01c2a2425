package wire

// PushKeyRequest is the request of push_key.
type PushKeyRequest struct{}

// PushKeyReply is the reply of push_key. The key is missing if the server has no Web Push.
type PushKeyReply struct {
	Key string `json:"key,omitempty"`
}

// SubscribePushRequest is the request of subscribe_push: a subscription as a browser gives it to a page.
type SubscribePushRequest struct {
	Endpoint string `json:"endpoint"`
	P256dh   string `json:"p256dh"`
	Auth     string `json:"auth"`
}

// SubscribePushReply is the reply of subscribe_push.
type SubscribePushReply struct{}

// UnsubscribePushRequest is the request of unsubscribe_push.
type UnsubscribePushRequest struct {
	Endpoint string `json:"endpoint"`
}

// UnsubscribePushReply is the reply of unsubscribe_push.
type UnsubscribePushReply struct{}
