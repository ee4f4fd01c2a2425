package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/web/auth"
	"hongbao/web/wire"
)

// admitTime is how long a refresh waits to learn whether its token was revoked. The client's timeout is 5 s.
const admitTime = 2 * time.Second

// refresh replaces the session's token by a newer one of the same user. A temporary failure closes the socket instead
// of being answered. Some SDKs stop permanently when a refresh fails, others never retry it, but all of them reconnect
// with the new token.
func (c *command) refresh(ctx context.Context) ([]byte, error) {
	s := c.session
	identity, err := c.renew(ctx)
	switch {
	case errors.Is(err, auth.ErrInvalid):
		s.close(wire.CloseInvalidToken)
		return nil, nil
	case err != nil:
		if s.m.c.Errors.Failure(err).Code.Temporary() {
			s.close(wire.CloseServerError)
			return nil, nil
		}
		return nil, err
	}
	s.mu.Lock()
	s.identifyLocked(identity)
	client := s.client
	s.mu.Unlock()
	s.closeAfter(identity.Expires)
	return wire.RefreshReply(s.encoding(), c.cmd.Id, &protocol.RefreshResult{
		Client: client, Version: s.m.c.Version, Expires: true, Ttl: s.m.ttl(identity.Expires),
	}), nil
}

// renew returns the identity that the newer token proves, which must be the connected user's. While the store cannot
// say whether the token was revoked, a valid token is accepted and rechecked later.
func (c *command) renew(ctx context.Context) (auth.Identity, error) {
	m := c.session.m
	identity, err := m.c.Verify(ctx, c.cmd.Refresh.Token)
	if err != nil {
		return auth.Identity{}, err
	}
	if before, _ := c.session.caller(); identity.User.ID != before.User.ID {
		return auth.Identity{}, fmt.Errorf("%w: it is another user's", auth.ErrInvalid)
	}
	admitting, cancel := context.WithTimeout(ctx, admitTime)
	defer cancel()
	err = m.admit(admitting, identity)
	if code, known := m.c.Errors.Code(err); known && code == wire.CodeUnavailable {
		m.rechecks.add(identity.User.ID)
		return identity, nil
	}
	return identity, err
}
