package wire

// PushKeyRequest is the request of push_key.
type PushKeyRequest struct{}

// PushKeyReply is the reply of push_key. The key is missing if the server has no Web Push.
type PushKeyReply struct {
	Key string `json:"key,omitempty"`
}

// SubscribePushRequest is the request of subscribe_push: a subscription as a browser gives it to a page.
type SubscribePushRequest struct {
	Endpoint string `json:"endpoint" doc:"https address of the push service, with port 443 and at most 1024 bytes"`
	P256dh   string `json:"p256dh" doc:"public key of the browser, in base64url"`
	Auth     string `json:"auth" doc:"secret of the browser, in base64url"`
}

// SubscribePushReply is the reply of subscribe_push.
type SubscribePushReply struct{}

// UnsubscribePushRequest is the request of unsubscribe_push.
type UnsubscribePushRequest struct {
	Endpoint string `json:"endpoint" doc:"that of the subscription"`
}

// UnsubscribePushReply is the reply of unsubscribe_push.
type UnsubscribePushReply struct{}
