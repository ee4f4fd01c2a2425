package web

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/web/wire"
)

// admitTime is how long a refresh waits to hear whether its token has been revoked. Its client gives up after 5 s.
const admitTime = 2 * time.Second

// refresh takes a newer token of the same user. A fault that passes is no answer to it: SDKs stop for good when a refresh
// fails, or never try again; one whose socket was closed comes back with its new token.
func (s *session) refresh(ctx context.Context, id uint32, token string) ([]byte, error) {
	who, err := s.renew(ctx, token)
	switch {
	case errors.Is(err, errTokenInvalid):
		s.close(wire.CloseInvalidToken)
		return nil, nil
	case err != nil:
		if s.srv.failure(err).Code.Temporary() {
			s.close(wire.CloseServerError)
			return nil, nil
		}
		return nil, err
	}
	s.mu.Lock()
	s.beLocked(who)
	client := s.client
	s.mu.Unlock()
	s.expire(who.expires)
	return wire.RefreshReply(s.encoding(), id, &protocol.RefreshResult{
		Client: client, Version: s.srv.o.Version, Expires: true, Ttl: s.srv.ttl(who.expires),
	}), nil
}

// renew finds out whom the newer token names, who must be the one that is connected. While nobody can say whether it has
// been revoked a good token is good, and looked into later.
func (s *session) renew(ctx context.Context, token string) (identity, error) {
	who, err := s.srv.verify(ctx, token)
	if err != nil {
		return identity{}, err
	}
	if before, _ := s.caller(); who.user.ID != before.User.ID {
		return identity{}, fmt.Errorf("%w: another user's", errTokenInvalid)
	}
	asking, cancel := context.WithTimeout(ctx, admitTime)
	defer cancel()
	err = s.srv.admit(asking, who)
	if code, known := codeOf(err); known && code == wire.CodeUnavailable {
		s.srv.rechecks.add(who.user.ID)
		return who, nil
	}
	return who, err
}
