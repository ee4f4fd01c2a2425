package redpacket

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// headsEvery is the time between two looks at the heads of the hash chains.
const headsEvery = time.Minute

// headWatch copies the heads of the hash chains to the log and keeps them for metrics, so that copies exist outside the
// database.
type headWatch struct {
	mu    sync.Mutex
	heads []Head // guarded by mu; as read last
}

// Heads returns the newest link of each hash chain.
func (s *Service) Heads(ctx context.Context) ([]Head, error) { return s.ledger.Heads(ctx) }

// KnownHeads returns the heads as they were read last, for metrics. It does not call the engine.
func (s *Service) KnownHeads() []Head {
	s.heads.mu.Lock()
	defer s.heads.mu.Unlock()
	return slices.Clone(s.heads.heads)
}

// logHeads logs the heads that have changed since the last call.
func (s *Service) logHeads(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, detachedTimeout)
	defer cancel()
	heads, err := s.ledger.Heads(ctx)
	if err != nil {
		return err
	}
	s.heads.mu.Lock()
	known := s.heads.heads
	s.heads.heads = heads
	s.heads.mu.Unlock()
	if changed := changedHeads(known, heads); changed != "" {
		s.o.Log.Info("heads of hash chains", "heads", changed)
	}
	return nil
}

// changedHeads lists the heads that are not among the known ones, each as chain/link/hash, separated by spaces.
func changedHeads(known, heads []Head) string {
	old := make(map[Head]bool, len(known))
	for _, h := range known {
		old[h] = true
	}
	var changed []string
	for _, h := range heads {
		if !old[h] {
			changed = append(changed, h.String())
		}
	}
	return strings.Join(changed, " ")
}

// String returns the head as it appears in the log.
func (h Head) String() string {
	return fmt.Sprintf("%d/%d/%s", h.Chain, h.Link, hex.EncodeToString(h.Hash[:]))
}

// ParseHead parses what String returns.
func ParseHead(text string) (h Head, err error) {
	var hash []byte
	if n, err := fmt.Sscanf(text, "%d/%d/%x", &h.Chain, &h.Link, &hash); err != nil || n != 3 || len(hash) != len(h.Hash) {
		return Head{}, fmt.Errorf("head %q: want chain/link/hash, the hash as %d hex digits", text, 2*len(h.Hash))
	}
	copy(h.Hash[:], hash)
	return h, nil
}
