package storetest

import (
	"slices"
	"sync/atomic"
	"time"

	"hongbao/chat"
)

func deviceCodeTests() []storeTest {
	return []storeTest{
		{"a device code is taken once", deviceCode},
		{"a device code ends, and a newer one replaces it", deviceCodeEnds},
		{"a revocation removes the device code", deviceCodeRevoked},
		{"of those that take a device code at once, one gets it", deviceCodeAtOnce},
	}
}

var codeTime = time.UnixMilli(1_800_000_000_000).UTC()

// codeHash returns a hash whose bytes are all n.
func codeHash(n byte) []byte { return slices.Repeat([]byte{n}, 32) }

// noCode checks that the user has no valid device code with this hash.
func (b *storeBench) noCode(user string, hash byte) {
	b.Helper()
	_, err := b.TakeDeviceCode(b.ctx, user, codeHash(hash), codeTime)
	b.refused(err, chat.ErrNotFound)
}

func deviceCode(b *storeBench) {
	full := chat.User{ID: ann, Name: "Ann", Avatar: "a.svg"}
	b.refused(b.PutDeviceCode(b.ctx, ann, 0, codeHash(1), codeTime.Add(1)), chat.ErrNotFound) // ann is unknown
	_, _, err := b.PutUser(b.ctx, chat.Profile{User: full}, 0)
	b.must(err)
	b.known(bob)
	b.must(b.PutDeviceCode(b.ctx, ann, 0, codeHash(1), codeTime.Add(time.Millisecond)))
	b.noCode(ann, 2)
	b.noCode(bob, 1)
	b.noCode(cyn, 1)
	b.Store = b.Reopen()
	if got, err := b.TakeDeviceCode(b.ctx, ann, codeHash(1), codeTime); err != nil || got != full {
		b.Errorf("the code was taken by %+v, %v; want %+v", got, err, full)
	}
	b.noCode(ann, 1)
}

func deviceCodeEnds(b *storeBench) {
	b.known(ann)
	b.must(b.PutDeviceCode(b.ctx, ann, 0, codeHash(1), codeTime))
	b.noCode(ann, 1) // the code ends at this millisecond
	b.must(b.PutDeviceCode(b.ctx, ann, 0, codeHash(2), codeTime.Add(time.Hour)))
	b.must(b.PutDeviceCode(b.ctx, ann, 0, codeHash(3), codeTime.Add(time.Minute)))
	b.noCode(ann, 2)
	_, err := b.TakeDeviceCode(b.ctx, ann, codeHash(3), codeTime)
	b.must(err)
}

func deviceCodeRevoked(b *storeBench) {
	b.known(ann, bob)
	for _, user := range []string{ann, bob} {
		b.must(b.PutDeviceCode(b.ctx, user, 0, codeHash(1), codeTime.Add(time.Hour)))
	}
	b.must(b.Revoke(b.ctx, ann, 5))
	b.noCode(ann, 1)
	b.refused(b.PutDeviceCode(b.ctx, ann, 5, codeHash(2), codeTime.Add(time.Hour)), chat.ErrNotFound)
	b.noCode(ann, 2)
	b.must(b.PutDeviceCode(b.ctx, ann, 6, codeHash(2), codeTime.Add(time.Hour)))
	_, err := b.TakeDeviceCode(b.ctx, bob, codeHash(1), codeTime)
	b.must(err)
}

func deviceCodeAtOnce(b *storeBench) {
	b.known(ann)
	b.must(b.PutDeviceCode(b.ctx, ann, 0, codeHash(1), codeTime.Add(time.Hour)))
	var taken atomic.Int64
	together(10, func(int) {
		if _, err := b.TakeDeviceCode(b.ctx, ann, codeHash(1), codeTime); err == nil {
			taken.Add(1)
		}
	})
	if n := taken.Load(); n != 1 {
		b.Errorf("the code was taken %d times, want once", n)
	}
}
