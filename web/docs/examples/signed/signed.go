// Package signed reads requests that hongbao has signed as the specification Standard Webhooks says. The examples of a host use
// this package. A host may use a library for Standard Webhooks instead.
package signed

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Handler answers signed requests with what answer returns, as JSON. If answer returns nil, the response has no content. The
// secret is whsec_ and base64.
func Handler[Request any](secret string, answer func(*Request) any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request Request
		if err := read(secret, r, &request); err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		if reply := answer(&request); reply != nil {
			_ = json.NewEncoder(w).Encode(reply)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// read verifies the signature, which also covers the time, and decodes the body.
func read(secret string, r *http.Request, into any) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return err
	}
	id, at := r.Header.Get("Webhook-Id"), r.Header.Get("Webhook-Timestamp")
	if seconds, _ := strconv.ParseInt(at, 10, 64); time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return errors.New("the request is too old")
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + at + "." + string(body)))
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for signature := range strings.FieldsSeq(r.Header.Get("Webhook-Signature")) { // two while the secret is rotated
		if hmac.Equal([]byte(signature), []byte(want)) {
			return json.Unmarshal(body, into)
		}
	}
	return errors.New("the signature is wrong")
}
