package redpacket

import (
	"context"

	"golang.org/x/sync/singleflight"
)

// sharedImages lets many joins of one packet share one read of SQL, and bounds how many such reads run at
// once: after a Pool has lost everything, every packet is joined again.
type sharedImages struct {
	Ledger
	flight *singleflight.Group
	slots  chan struct{}
}

const imagesAtOnce = 16

func newSharedImages(l Ledger) sharedImages {
	return sharedImages{Ledger: l, flight: &singleflight.Group{}, slots: make(chan struct{}, imagesAtOnce)}
}

// Image implements Ledger. The read belongs to all who share it, so no single asker's end cancels it.
func (s sharedImages) Image(ctx context.Context, packet string) (Image, error) {
	v, err, _ := s.flight.Do(packet, func() (any, error) {
		s.slots <- struct{}{}
		defer func() { <-s.slots }()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		return s.Ledger.Image(ctx, packet)
	})
	if err != nil {
		return Image{}, err
	}
	return v.(Image), nil
}
