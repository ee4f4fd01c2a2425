package redisstore

import (
	"context"
	"sync"

	"hongbao/redpacket"
)

// grab sends each attempt to the node of its packet and fills in the answers.
func (p *Pool) grab(ctx context.Context, attempts []redpacket.Attempt, answers []redpacket.Answer) error {
	if len(attempts) == 1 {
		q, err := p.batcher(ctx, attempts[0].Ref)
		if err != nil {
			return err
		}
		if ctx.Done() != nil {
			attempts = []redpacket.Attempt{attempts[0]} // the caller may return early and reuse its slice
		}
		return q.do(ctx, &request{attempts: attempts, answers: answers})
	}
	requests := map[*batcher]*request{}
	indexes := map[*request][]int{} // into attempts
	for i := range attempts {
		q, err := p.batcher(ctx, attempts[i].Ref)
		if err != nil {
			return err
		}
		r := requests[q]
		if r == nil {
			r = &request{}
			requests[q] = r
		}
		r.attempts = append(r.attempts, attempts[i])
		indexes[r] = append(indexes[r], i)
	}
	if err := doAll(ctx, requests); err != nil {
		return err
	}
	for r, indexes := range indexes {
		for n, i := range indexes {
			answers[i] = r.answers[n]
		}
	}
	return nil
}

// doAll sends several requests of one caller, one to each node, and waits for all answers. It returns one of the
// errors.
func doAll(ctx context.Context, requests map[*batcher]*request) error {
	failed := make(chan error, len(requests))
	var wg sync.WaitGroup
	for q, r := range requests {
		r.answers = make([]redpacket.Answer, len(r.attempts))
		if len(requests) == 1 {
			return q.do(ctx, r)
		}
		wg.Go(func() {
			if err := q.do(ctx, r); err != nil {
				failed <- err
			}
		})
	}
	wg.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// batcher returns the batcher of the packet's node.
func (p *Pool) batcher(ctx context.Context, r redpacket.Ref) (*batcher, error) {
	node, err := p.nodes.of(ctx, p.keys(r.Partition).due)
	if err != nil {
		return nil, err
	}
	return p.batchers.of(p, node), nil
}
