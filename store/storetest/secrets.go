package storetest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/secret"
)

// SecretStore is an engine in SQL that encrypts what is secret.
type SecretStore interface {
	chat.Store
	redpacket.Ledger
	UseKeys(keys *secret.Keys)
	EncryptSeeds(ctx context.Context) (secret.Reencrypted, error)
	OpenPacketsByKey(ctx context.Context) (map[string]int, error)
}

// SecretsUnderTest is one database.
type SecretsUnderTest struct {
	Open func(t testing.TB) SecretStore // opens the database once more
	// Cells returns all columns of all rows of all tables, numbers and lists as text.
	Cells func(t testing.TB) [][]byte
	Exec  func(t testing.TB, statement string)
}

// DataKeys returns keys from a file that contains the keys of the given numbers.
func DataKeys(t testing.TB, numbers ...int) *secret.Keys {
	t.Helper()
	var text strings.Builder
	for _, n := range numbers {
		fmt.Fprintf(&text, "%064x\n", n)
	}
	file := filepath.Join(t.TempDir(), "data.key")
	noError(t, os.WriteFile(file, []byte(text.String()), 0o600))
	keys, err := secret.Read(file)
	noError(t, err)
	return keys
}

// TestSecrets checks what a reader of the database learns, and what an engine without the right key does.
func TestSecrets(t *testing.T, open func(t *testing.T) SecretsUnderTest) {
	for _, test := range []struct {
		name string
		keys []int // of the engine that furnishes the database
		run  func(b *secretsBench)
	}{
		{"a reader of the database learns nothing of an open packet", []int{1}, (*secretsBench).nothingInClear},
		{"without a key a reader of the database learns all", nil, (*secretsBench).allInClear},
		{"a closed packet is revealed", []int{1}, (*secretsBench).closedIsRevealed},
		{"without the right key nothing is changed", []int{1}, (*secretsBench).wrongKey},
		{"a changed or copied value is refused", []int{1}, (*secretsBench).forgedValue},
		{"rows in clear stay usable", nil, (*secretsBench).rowsInClear},
		{"keys rotate", []int{1}, (*secretsBench).rotation},
		{"a seed that cannot be decrypted does not keep the others from a new key", []int{1}, (*secretsBench).badSeed},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := &secretsBench{SecretsUnderTest: open(t), Life: &Life{TB: t, At: lived}}
			b.use(test.keys...)
			b.furnish()
			test.run(b)
		})
	}
}

type secretsBench struct {
	SecretsUnderTest
	*Life
	store SecretStore
}

// use opens the database once more, with the keys of these numbers. The new engine has nothing in its caches.
func (b *secretsBench) use(keys ...int) {
	b.store = b.Open(b)
	if len(keys) > 0 {
		b.store.UseKeys(DataKeys(b, keys...))
	}
	b.Ledger, b.Rooms = b.store, b.store
}

const openSesame = "芝麻 open 8315"

// locked returns a packet with a passphrase. It is not sent yet.
func (b *secretsBench) locked(id string) redpacket.UnsealedPacket {
	return redpacket.UnsealedPacket{
		Packet: redpacket.Packet{Ref: redpacket.Ref{ID: id}, Room: "room-1", From: chat.User{ID: "u1", Name: "Name"}, Mode: redpacket.Lucky,
			Spread: redpacket.Wild, Total: 9000, Count: 7, Passphrase: openSesame, CreatedAt: b.At, ExpiresAt: b.At.Add(time.Hour), Key: id},
		Hash: []byte("the hash of a request: " + id), NextSeed: redpacket.NewSeed(), EntryID: "e-" + id,
	}
}

func (b *secretsBench) send(o redpacket.UnsealedPacket) redpacket.Sent {
	b.Helper()
	sent, err := b.Ledger.Send(b.Context(), o)
	b.Must(err)
	return sent
}

func (b *secretsBench) book(id string) redpacket.Book {
	b.Helper()
	book, err := b.Ledger.Book(b.Context(), id)
	b.Must(err)
	return book
}

// audit returns the differences that the audit finds. An audit does not use the data keys.
func (b *secretsBench) audit() []redpacket.Difference {
	b.Helper()
	a, err := b.Ledger.Audit(b.Context(), nil)
	b.Must(err)
	return a.Differences
}

func (b *secretsBench) balanced() {
	b.Helper()
	if found := b.audit(); len(found) > 0 {
		b.Errorf("audit: %+v", found)
	}
}

// found returns what a reader of the database finds of the packet's secrets.
func (b *secretsBench) found(o redpacket.UnsealedPacket, book redpacket.Book) (names []string) {
	b.Helper()
	list, err := json.Marshal(book.Shares)
	b.Must(err)
	shares, cells := strings.Trim(string(list), "[]"), b.Cells(b)
	for name, value := range map[string][]byte{
		"passphrase": []byte(openSesame), "seed": book.Seed[:], "next seed": o.NextSeed[:], "request hash": o.Hash, "shares": []byte(shares),
	} {
		forms := [][]byte{value, []byte(hex.EncodeToString(value)), []byte(base64.StdEncoding.EncodeToString(value))}
		if slices.ContainsFunc(cells, func(cell []byte) bool {
			return slices.ContainsFunc(forms, func(form []byte) bool { return bytes.Contains(cell, form) })
		}) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (b *secretsBench) nothingInClear() {
	o := b.locked("locked")
	sent := b.send(o)
	b.Claim(sent.Packet, 2)
	if found := b.found(o, b.book("locked")); len(found) > 0 {
		b.Errorf("the database has in clear: %v", found)
	}
	b.balanced()
}

// allInClear checks that found finds all five secrets of a packet in a database that is not encrypted.
func (b *secretsBench) allInClear() {
	o := b.locked("locked")
	b.send(o)
	if found := b.found(o, b.book("locked")); len(found) != 5 {
		b.Errorf("found %v", found)
	}
}

func (b *secretsBench) closedIsRevealed() {
	sent := b.send(b.locked("locked"))
	b.use(1)
	open := b.book("locked")
	want, err := redpacket.Cut(open.Seed, sent.Packet)
	b.Must(err)
	if !reflect.DeepEqual(open.Packet, sent.Packet) || redpacket.Commitment(open.Seed) != sent.Packet.Commitment || !slices.Equal(open.Shares, want) {
		b.Errorf("the open packet is read as %+v, want %+v with the shares %v", open, sent.Packet, want)
	}
	b.Claim(sent.Packet, 3)
	b.End(sent.Packet, redpacket.Expired)
	b.balanced()
	b.use() // a closed packet is no secret
	d, err := b.Ledger.Details(b.Context(), redpacket.DetailsQuery{User: "u1", Packet: "locked", Limit: 10})
	if b.Must(err); d.Seed != open.Seed || !slices.Equal(d.Shares, want) || d.Packet.Passphrase == "" {
		b.Errorf("the details of the closed packet are %+v, want the seed %x and the shares %v", d, open.Seed, want)
	}
	if book := b.book("locked"); book.Seed != open.Seed || !slices.Equal(book.Shares, want) {
		b.Errorf("the book of the closed packet is %+v, want the seed %x and the shares %v", book, open.Seed, want)
	}
}

func (b *secretsBench) wrongKey() {
	b.send(b.locked("locked"))
	plain := b.Send("u1", "plain", redpacket.Equal, "", 100, 2)
	before, again := b.Cells(b), b.locked("again")
	for _, keys := range [][]int{nil, {2}} {
		b.use(keys...)
		_, account := b.Ledger.Account(b.Context(), "u1")
		_, packet := b.Ledger.Packet(b.Context(), "locked")
		_, book := b.Ledger.Book(b.Context(), "plain")
		_, send := b.Ledger.Send(b.Context(), again)
		_, end := b.Ledger.End(b.Context(), redpacket.Close{Ref: plain.Ref, Reason: redpacket.Expired, At: b.At, EntryID: "done"})
		settled := b.Ledger.Settle(b.Context(), []redpacket.Claim{{Ref: plain.Ref, User: "u5", At: b.At}})
		for call, err := range map[string]error{"Account": account, "Packet": packet, "Book": book, "Send": send, "End": end, "Settle": settled[0].Err} {
			if !errors.Is(err, secret.ErrNoKey) || !errors.Is(err, chat.ErrUnavailable) {
				b.Errorf("with the keys %v %s returns %v", keys, call, err)
			}
		}
	}
	if !reflect.DeepEqual(b.Cells(b), before) {
		b.Error("the database has changed")
	}

	b.use() // the claims of other packets are paid
	_, _, err := b.Ledger.Adjust(b.Context(), redpacket.Adjustment{ID: "rich", User: "u3", Amount: 100, Key: "rich", Hash: []byte("rich"), At: b.At})
	b.Must(err)
	readable := b.Send("u3", "readable", redpacket.Equal, "", 100, 1)
	settled := b.Ledger.Settle(b.Context(), []redpacket.Claim{{Ref: plain.Ref, User: "u5", At: b.At}, {Ref: readable.Ref, User: "u6", At: b.At}})
	if settled[0].Verdict != redpacket.Unsettled || settled[1].Verdict != redpacket.PaidNow {
		b.Errorf("settled %+v", settled)
	}
	b.use(1)
	b.Claim(plain, 2)
	b.End(plain, redpacket.Drained)
	b.balanced()
}

func (b *secretsBench) forgedValue() {
	b.send(b.locked("locked"))
	b.send(b.locked("other"))
	for column, forged := range map[string]struct {
		statement string
		read      func() error
	}{
		"next_seed": {`update users set next_seed = (select next_seed from users where id = 'u2') where id = 'u1'`, func() error {
			_, err := b.Ledger.Account(b.Context(), "u1")
			return err
		}},
		"encrypted_seed": {`update packets set encrypted_seed = (select encrypted_seed from packets where id = 'other') where id = 'locked'`, func() error {
			_, err := b.Ledger.Book(b.Context(), "locked")
			return err
		}},
		"passphrase": {`update packets set passphrase = (select passphrase from packets where id = 'locked') where id = 'other'`, func() error {
			_, err := b.Ledger.Packet(b.Context(), "other")
			return err
		}},
	} {
		b.Must(forged.read())
		b.Exec(b, forged.statement)
		if err := forged.read(); err == nil || !strings.Contains(err.Error(), column) || !errors.Is(err, chat.ErrUnavailable) {
			b.Errorf("after %s: %v", forged.statement, err)
		}
	}
	if found := b.audit(); len(found) == 0 {
		b.Error("the audit finds nothing")
	}
}

func (b *secretsBench) rowsInClear() {
	o := b.locked("old")
	sent := b.send(o)
	book := b.book("old")
	b.use(1)
	if dup := b.send(o); !dup.Dup || !reflect.DeepEqual(dup.Packet, sent.Packet) {
		b.Errorf("sent again: %+v, want %+v", dup, sent)
	}
	if again := b.book("old"); !reflect.DeepEqual(again, book) {
		b.Errorf("read %+v, want %+v", again, book)
	}
	did, err := b.store.EncryptSeeds(b.Context())
	if b.Must(err); did.Changed == 0 || slices.Contains(b.found(o, book), "next seed") {
		b.Errorf("encrypted %+v", did)
	}
	b.Claim(sent.Packet, 7)
	b.End(sent.Packet, redpacket.Drained)
	next := b.locked("next")
	if sent := b.send(next); sent.Packet.Commitment != redpacket.Commitment(o.NextSeed) {
		b.Error("the next packet has another commitment than was promised")
	}
	if found := b.found(next, b.book("next")); slices.Contains(found, "seed") || slices.Contains(found, "shares") {
		b.Errorf("the database has in clear: %v", found)
	}
	b.balanced()
}

func (b *secretsBench) rotation() {
	o := b.locked("locked")
	sent := b.send(o)
	ended := b.send(b.locked("ended")).Packet
	b.End(ended, redpacket.Expired)

	b.use(2, 1)
	if dup := b.send(o); !dup.Dup || !reflect.DeepEqual(dup.Packet, sent.Packet) {
		b.Errorf("sent again: %+v, want %+v", dup, sent)
	}
	other := o
	other.Hash = []byte("another hash")
	if _, err := b.Ledger.Send(b.Context(), other); !errors.Is(err, chat.ErrKeyReused) {
		b.Errorf("another request with this key: %v", err)
	}
	added := b.send(b.locked("added")).Packet
	packets, err := b.store.OpenPacketsByKey(b.Context())
	if want := map[string]int{DataKeys(b, 1).First().String(): 1, DataKeys(b, 2).First().String(): 1}; err != nil || !reflect.DeepEqual(packets, want) {
		b.Errorf("open packets by key: %v, %v, want %v", packets, err, want)
	}
	did, err := b.store.EncryptSeeds(b.Context())
	b.Must(err)
	again, err := b.store.EncryptSeeds(b.Context())
	if b.Must(err); did.Changed == 0 || again.Changed+did.Failed+again.Failed != 0 {
		b.Errorf("encrypted %+v, and then %+v", did, again)
	}
	b.End(sent.Packet, redpacket.Expired)

	b.use(2)
	for _, user := range []string{"u1", "u2"} {
		_, err := b.Ledger.Account(b.Context(), user)
		b.Must(err)
	}
	if p, err := b.Ledger.Packet(b.Context(), "ended"); err != nil || p.Passphrase == "" {
		b.Errorf("the closed packet of the old key: %+v, %v", p, err)
	}
	b.Claim(added, 7)
	b.End(added, redpacket.Drained)
	b.balanced()
}

func (b *secretsBench) badSeed() {
	users := []string{"a-first", "b-bad", "c-last"}
	for _, user := range users {
		_, err := b.Ledger.Account(b.Context(), user)
		b.Must(err)
	}
	b.Exec(b, `update users set next_seed = (select next_seed from users where id = 'c-last') where id = 'b-bad'`)
	b.use(2, 1)
	did, err := b.store.EncryptSeeds(b.Context())
	if b.Must(err); did.Failed != 1 || len(did.Errs) != 1 || !strings.Contains(did.Errs[0].Error(), "b-bad") {
		b.Errorf("encrypted %+v, want a failure of b-bad", did)
	}
	b.use(2)
	for _, user := range users {
		if _, err := b.Ledger.Account(b.Context(), user); (err == nil) != (user != "b-bad") {
			b.Errorf("account of %s with the new key: %v", user, err)
		}
	}
}
