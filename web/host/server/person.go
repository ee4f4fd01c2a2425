package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"

	"hongbao/chat"
	"hongbao/web/host/hostapi"
)

// Person is a user of the console: the key with which the person has signed in, and the name that the person gave then.
type Person struct {
	Key  Key
	Name string // never ""
}

// personKey is the key of a Person in a context.
type personKey struct{}

// As returns a context for a request of a person. The request needs no key then: it has the scopes and the limits of the person's key. The caller must
// have checked both.
func As(ctx context.Context, p Person) context.Context { return context.WithValue(ctx, personKey{}, p) }

// personOf returns the person that sends the request, if one does.
func personOf(req *http.Request) (Person, bool) {
	p, ok := req.Context().Value(personKey{}).(Person)
	return p, ok
}

// explained returns an error if a person asks for something that is stored as an act, and does not say why.
func (c Caller) explained() error {
	if c.Person != "" && c.Reason == "" {
		return chat.BadField(reasonParameter, "is missing: a person must say why")
	}
	return nil
}

// isAct reports whether requests of the operation are stored as acts.
func isAct(o hostapi.Operation) bool { return o.Scope != hostapi.Read && o.Verb != http.MethodGet }

// Find returns the key with this secret. It takes the same time whichever key fits, and also if no key fits.
func (k *Keys) Find(secret string) (Key, bool) { return k.WithHash(sha256.Sum256([]byte(secret))) }

// WithHash returns the key whose secret has this hash. A key that was removed from the file has none.
func (k *Keys) WithHash(hash [sha256.Size]byte) (Key, bool) {
	keys, index := *k.current.Load(), -1
	for i := range keys {
		index = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(hash[:], keys[i].Hash[:]), i, index)
	}
	if index < 0 {
		return Key{}, false
	}
	return keys[index], true
}
