package chaos

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"github.com/centrifugal/centrifuge-go"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/client"
	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// session is a user's connection. Each SDK implements it.
type session interface {
	// call sends a command, and repeats it until a final answer comes or ctx ends. A refusal is a *refusedError.
	call(ctx context.Context, method string, request, reply any) error
	// grab is call of the command grab.
	grab(ctx context.Context, packet string) (model.Grab, error)
	close()
}

// refusedError is a final refusal by the server.
type refusedError struct{ code wire.Code }

func (e *refusedError) Error() string {
	return fmt.Sprintf("refused with %d %s", e.code, e.code.Word())
}

// codeOf returns the code of a refusal, or 0.
func codeOf(err error) wire.Code {
	var refused *refusedError
	if errors.As(err, &refused) {
		return refused.code
	}
	return 0
}

// dialer opens a network connection to one of the instances.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// ownSession uses package client.
type ownSession struct {
	*client.Client
}

func openOwn(url, token string, protobuf bool, dial dialer, j *journal) (session, error) {
	c, err := client.New(url, client.Options{Token: token, Protobuf: protobuf, Dial: dial})
	if err != nil {
		return nil, err
	}
	go func() {
		for event, err := range c.Events(context.Background()) {
			if err != nil {
				if !errors.Is(err, client.ErrClosed) {
					j.problem("", "the client has ended: "+err.Error())
				}
				return
			}
			j.event(event)
		}
	}()
	return ownSession{c}, nil
}

func (s ownSession) call(ctx context.Context, method string, request, reply any) error {
	return ownError(s.Call(ctx, method, request, reply))
}

func (s ownSession) grab(ctx context.Context, packet string) (model.Grab, error) {
	g, err := s.Grab(ctx, packet, "")
	return g, ownError(err)
}

func (s ownSession) close() { _ = s.Close() }

func ownError(err error) error {
	var refused *client.Error
	if errors.As(err, &refused) {
		return &refusedError{refused.Code}
	}
	return err
}

// event writes what package client has returned into the journal.
func (j *journal) event(event model.Event) {
	switch e := event.(type) {
	case model.Connected:
		j.noteBreak("connected")
	case model.Offline:
		j.noteBreak("offline: %d %s", e.Code, e.Reason)
	case model.Entry:
		j.entry(e.Room, e.Seq, e.ID)
		if p, ok := e.Body.(model.PacketBody); ok {
			announced := packet{
				id: p.ID, room: e.Room, total: p.Total, count: p.Count, expires: p.Expires.UnixMilli(), commitment: p.Commitment,
				window: int(cmp.Or(p.Window, p.Over).Seconds()), rain: p.Waves > 0, held: p.Held > 0,
			}
			if !p.Opens.IsZero() {
				announced.opens = p.Opens.UnixMilli()
			}
			j.announce(announced)
		}
	case model.Entered:
		j.enter(e.Room.ID, e.Room.LastSeq)
	case model.Skipped:
		if e.After == 0 {
			j.renumber(e.Room, e.Through)
		} else {
			j.skip(e.Room, span{e.After, e.Through})
		}
	}
}

// answerWithin is how long a try of a request waits for its answer.
const answerWithin = 10 * time.Second

// plainSession uses centrifuge-go as it is.
type plainSession struct {
	*centrifuge.Client
}

func openPlain(url, token string, protobuf bool, dial dialer, j *journal) (session, error) {
	create := centrifuge.NewJsonClient
	if protobuf {
		create, url = centrifuge.NewProtobufClient, url+"?cf_protocol=protobuf"
	}
	c := create(url, centrifuge.Config{
		Token: token, NetDialContext: dial, ReadTimeout: answerWithin, WriteTimeout: 5 * time.Second, HandshakeTimeout: 10 * time.Second,
	})
	c.OnSubscribed(func(e centrifuge.ServerSubscribedEvent) {
		if room, ok := wire.ChannelRoom(e.Channel); ok && e.StreamPosition != nil {
			j.subscribed(room, e.StreamPosition.Epoch, int64(e.StreamPosition.Offset), e.WasRecovering && e.Recovered)
		}
	})
	c.OnPublication(func(e centrifuge.ServerPublicationEvent) {
		room, ok := wire.ChannelRoom(e.Channel)
		if !ok {
			return
		}
		var entry wire.Entry
		if err := json.Unmarshal(e.Data, &entry); err != nil || entry.Seq != int64(e.Offset) {
			j.problem(room, fmt.Sprintf("offset %d brought %s", e.Offset, e.Data))
			return
		}
		j.entry(room, entry.Seq, entry.ID)
		var p wire.Packet
		if entry.Kind == "packet" && json.Unmarshal(entry.Body, &p) == nil {
			j.announce(packetOf(room, p))
		}
	})
	c.OnConnecting(func(e centrifuge.ConnectingEvent) { j.noteBreak("offline: %d %s", e.Code, e.Reason) })
	c.OnDisconnected(func(e centrifuge.DisconnectedEvent) {
		if e.Code != 0 { // 0: closed by us
			j.problem("", fmt.Sprintf("the client has ended: %d %s", e.Code, e.Reason))
		}
	})
	_ = c.Connect() // it returns the error of the first try, and keeps trying
	return plainSession{c}, nil
}

func (s plainSession) call(ctx context.Context, method string, request, reply any) error {
	for {
		try, cancel := context.WithTimeout(ctx, answerWithin)
		result, err := e2e.RPC(try, s.Client, method, []byte(e2e.JSON(request)))
		cancel()
		var refused *centrifuge.Error
		switch {
		case err == nil:
			return json.Unmarshal(result.Data, reply)
		case errors.As(err, &refused) && !refused.Temporary:
			return &refusedError{wire.Code(refused.Code)}
		}
		if err := pause(ctx, 50*time.Millisecond+rand.N(500*time.Millisecond)); err != nil {
			return err
		}
	}
}

func (s plainSession) grab(ctx context.Context, packet string) (model.Grab, error) {
	var reply wire.GrabReply
	err := s.call(ctx, "grab", wire.GrabRequest{Packet: packet}, &reply)
	return model.GrabOf(reply), err
}

func (s plainSession) close() { s.Close() }

// pause waits for d. It returns an error if ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
