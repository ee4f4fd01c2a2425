package chat

import (
	"context"
	"time"
)

// JoinRequest is a user that asks to enter a room.
type JoinRequest struct {
	User User
	At   time.Time
}

const requestsPerRoom = 100

// JoinRequests lists the users that ask to enter the room, oldest request first. Only the owner and admins of the room may
// list them.
func (s *Service) JoinRequests(ctx context.Context, user, room string) ([]JoinRequest, error) {
	if err := checkID("room", room); err != nil {
		return nil, err
	}
	st, err := s.Standing(ctx, room, user)
	if err == nil {
		err = st.MayRead()
	}
	if err == nil && st.Role.rank() < Admin.rank() {
		err = ErrForbidden
	}
	if err != nil {
		return nil, err
	}
	return s.store.JoinRequests(ctx, room, requestsPerRoom)
}

// AnswerRequest answers a user's request to enter the room. If admit is true, the user becomes a member. Otherwise the
// request is dropped, and the user's sockets get JoinRefused. A repeated AnswerRequest succeeds.
func (s *Service) AnswerRequest(ctx context.Context, by User, room, user string, admit bool) error {
	if err := checkID("user", user); err != nil {
		return err
	}
	c := Change{Kind: Refuse, Room: room, By: by, Users: []string{user}}
	if admit {
		c.Kind = Admit
	}
	done, err := s.change(ctx, c)
	if err == nil && done.Changed {
		if !admit {
			s.pub.ToUser(user, JoinRefused{Room: room})
		}
		s.publishRequests(ctx, room)
	}
	return err
}

// publishRequests tells the owner and the admins, at most pageMax of them, how many users ask to enter the room. After an error
// it publishes nothing: a client that misses the event still gets the number from the list of requests.
func (s *Service) publishRequests(ctx context.Context, room string) {
	asking, err := s.store.JoinRequests(ctx, room, requestsPerRoom)
	if err != nil {
		return
	}
	members, _, err := s.store.Members(ctx, room, "", pageMax) // the owner and admins first
	if err != nil {
		return
	}
	for _, m := range members {
		if m.Role.rank() >= Admin.rank() {
			s.pub.ToUser(m.User.ID, JoinRequested{Room: room, Count: len(asking)})
		}
	}
}
