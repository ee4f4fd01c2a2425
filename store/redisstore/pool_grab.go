package redisstore

import (
	"context"
	"sync"

	"hongbao/redpacket"
)

// grab answers attempts, each by its own node.
func (p *Pool) grab(ctx context.Context, attempts []redpacket.Attempt, answers []redpacket.Answer) error {
	if len(attempts) == 1 {
		w, err := p.runway(ctx, attempts[0].Ref)
		if err != nil {
			return err
		}
		if ctx.Done() != nil {
			attempts = []redpacket.Attempt{attempts[0]} // he may leave, and take his own along
		}
		a := &ask{attempts: attempts, answers: answers}
		return w.fly(ctx, a)
	}
	asks := map[*runway]*ask{}
	places := map[*ask][]int{}
	for i := range attempts {
		w, err := p.runway(ctx, attempts[i].Ref)
		if err != nil {
			return err
		}
		a := asks[w]
		if a == nil {
			a = &ask{}
			asks[w] = a
		}
		a.attempts = append(a.attempts, attempts[i])
		places[a] = append(places[a], i)
	}
	if err := flyAll(ctx, asks); err != nil {
		return err
	}
	for a, places := range places {
		for i, place := range places {
			answers[place] = a.answers[i]
		}
	}
	return nil
}

// flyAll has several asks of one caller answered.
func flyAll(ctx context.Context, asks map[*runway]*ask) error {
	failed := make(chan error, len(asks))
	var wg sync.WaitGroup
	for w, a := range asks {
		a.answers = make([]redpacket.Answer, len(a.attempts))
		if len(asks) == 1 {
			return w.fly(ctx, a)
		}
		wg.Go(func() {
			if err := w.fly(ctx, a); err != nil {
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

func (p *Pool) runway(ctx context.Context, r redpacket.Ref) (*runway, error) {
	node, err := p.nodes.of(ctx, p.keys(r.Partition).due)
	if err != nil {
		return nil, err
	}
	return p.runways.of(p, node), nil
}
