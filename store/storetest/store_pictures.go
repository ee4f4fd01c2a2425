package storetest

import (
	"bytes"
	"time"

	"hongbao/chat"
)

func pictureTests() []storeTest {
	return []storeTest{
		{"a picture is kept, and read by its hash", pictureKept},
		{"only the newest pictures of a user are kept", picturesBounded},
		{"users that share a picture delete it each for themselves", pictureShared},
		{"a revoked token and a suspended user store no picture", pictureRevoked},
	}
}

// testPicture returns a picture whose bytes are all n.
func testPicture(n byte) chat.Picture {
	return chat.Picture{Hash: bytes.Repeat([]byte{n}, 16), Data: bytes.Repeat([]byte{n}, 1000)}
}

var pictureTime = time.UnixMilli(1_800_000_000_000)

// picture reads a picture. It returns nil if there is none.
func (b *storeBench) picture(n byte) []byte {
	b.Helper()
	data, err := b.Picture(b.ctx, testPicture(n).Hash)
	if err != nil {
		b.refused(err, chat.ErrNotFound)
		return nil
	}
	return data
}

func (b *storeBench) hasPictures(want ...byte) {
	b.Helper()
	for n := byte(1); n < 6; n++ {
		data := b.picture(n)
		if wanted := bytes.IndexByte(want, n) >= 0; wanted && !bytes.Equal(data, testPicture(n).Data) || !wanted && data != nil {
			b.Errorf("picture %d: %d bytes, want it: %t", n, len(data), wanted)
		}
	}
}

func pictureKept(b *storeBench) {
	b.known(ann)
	b.refused(b.PutPicture(b.ctx, bob, 0, testPicture(1), pictureTime), chat.ErrNotFound) // bob is unknown
	b.hasPictures()
	b.must(b.PutPicture(b.ctx, ann, 0, testPicture(1), pictureTime))
	b.must(b.PutPicture(b.ctx, ann, 0, testPicture(1), pictureTime)) // the same again
	b.Store = b.Reopen()
	b.hasPictures(1)
}

func picturesBounded(b *storeBench) {
	if chat.PicturesKept != 2 {
		b.Fatal("this test is for two kept pictures")
	}
	b.known(ann, bob)
	b.must(b.PutPicture(b.ctx, bob, 0, testPicture(5), pictureTime))
	for n := byte(1); n <= 3; n++ {
		b.must(b.PutPicture(b.ctx, ann, 0, testPicture(n), pictureTime.Add(time.Duration(n)*time.Second)))
	}
	b.hasPictures(2, 3, 5)
	b.must(b.PutPicture(b.ctx, ann, 0, testPicture(2), pictureTime.Add(time.Minute))) // again: it is the newest now
	b.must(b.PutPicture(b.ctx, ann, 0, testPicture(4), pictureTime.Add(time.Hour)))
	b.hasPictures(2, 4, 5)
}

func pictureShared(b *storeBench) {
	b.known(ann, bob)
	for _, user := range []string{ann, bob} {
		b.must(b.PutPicture(b.ctx, user, 0, testPicture(1), pictureTime))
	}
	b.must(b.DeletePictures(b.ctx, ann, pictureTime))
	b.hasPictures(1)
	b.must(b.DeletePictures(b.ctx, bob, pictureTime.Add(-time.Millisecond))) // it is newer
	b.hasPictures(1)
	b.must(b.DeletePictures(b.ctx, bob, pictureTime))
	b.hasPictures()
	b.must(b.DeletePictures(b.ctx, bob, pictureTime)) // there is none
}

func pictureRevoked(b *storeBench) {
	b.known(ann)
	b.must(b.Revoke(b.ctx, ann, 5))
	b.refused(b.PutPicture(b.ctx, ann, 5, testPicture(1), pictureTime), chat.ErrNotFound)
	b.hasPictures()
	b.must(b.PutPicture(b.ctx, ann, 6, testPicture(1), pictureTime))
	b.hasPictures(1)
	_, err := b.Suspend(b.ctx, ann, pictureTime)
	b.must(err)
	b.refused(b.PutPicture(b.ctx, ann, 7, testPicture(2), pictureTime), chat.ErrNotFound)
	b.hasPictures(1)
}
