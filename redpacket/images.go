package redpacket

import (
	"context"

	"golang.org/x/sync/singleflight"
)

// sharedImages is a Ledger that merges concurrent reads of one packet's image into one read, and bounds how many reads
// run at the same time. It protects SQL after a Pool has lost all data, when every packet is joined again.
type sharedImages struct {
	Ledger
	reads *singleflight.Group
	slots chan struct{}
}

const imagesAtOnce = 16

func newSharedImages(l Ledger) sharedImages {
	return sharedImages{Ledger: l, reads: &singleflight.Group{}, slots: make(chan struct{}, imagesAtOnce)}
}

// Image implements Ledger. Several callers may share one read, so the read continues when the context of one caller
// ends.
func (s sharedImages) Image(ctx context.Context, packet string) (Image, error) {
	v, err, _ := s.reads.Do(packet, func() (any, error) {
		s.slots <- struct{}{}
		defer func() { <-s.slots }()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachedTimeout)
		defer cancel()
		return s.Ledger.Image(ctx, packet)
	})
	if err != nil {
		return Image{}, err
	}
	return v.(Image), nil
}
