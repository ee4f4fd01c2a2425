package api

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/wire"
)

// Hookable lists what the host can be asked about: commands before they are carried out, and files that are uploaded whole.
func Hookable() []string {
	return []string{"send", "edit", "send_packet", "create_room", "invite", MethodGrab, "file"}
}

// ErrDenied means that the host has denied a command. The error is a *DeniedError.
var ErrDenied = errors.New("denied by the host")

// DeniedError is ErrDenied with what the host says.
type DeniedError struct {
	Reason string          // for the user; "": none
	Data   json.RawMessage // for the client; nil: none
}

func (d *DeniedError) Error() string { return ErrDenied.Error() + ": " + d.Reason }

func (d *DeniedError) Unwrap() error { return ErrDenied }

// Hooks asks the host about commands before they are carried out. A nil Hooks asks about none.
type Hooks interface {
	// Wants reports whether the host is asked about the command.
	Wants(command string) bool
	// Funds reports whether the host may fund packets.
	Funds() bool
	// Ask returns the host's verdict, within a time that does not depend on the host. The error is a *DeniedError, or wraps
	// chat.ErrUnavailable if the host gave no verdict and the command must not be carried out without one, or if the host was not asked
	// because users ask too much at once. If ctx has ended
	// already, Ask does not ask the host and returns the error of ctx.
	Ask(ctx context.Context, q Question) (Verdict, error)
}

// Question is a command about which the host is asked.
type Question struct {
	ID      string // names the question; with a funding, its id; "": Ask makes one
	Command string
	User    chat.User
	Room    string // in which it happens; "": none
	Request any    // as the user has sent it, without passphrases

	CheckText func(text string) error // returns an error unless this text may replace the user's; nil: none may
	// CheckPreview returns an error unless this preview may be added to the text that replaces the user's or, if that is nil, to the user's. A nil
	// CheckPreview: none may.
	CheckPreview func(p chat.Preview, replaced *string) error
	MaxFund      redpacket.Money // most that the host may fund; 0: nothing
	MayHold      bool            // the host may hold what it is asked about
}

// Verdict allows a command, unless an error is beside it: then only NotAsked counts.
type Verdict struct {
	Text *string // replaces the user's text or greeting; nil: the user's stays

	Preview   *chat.Preview // is added to the text; nil: none
	NoPreview error         // why the host's preview is left out; nil: it is not

	Fund Fund
	Hold bool // it is not to be used before the host releases it
	None bool // the command is allowed without the host's verdict: the host gave none, or done has returned true (see ask)

	NotAsked bool // the host has taken no money: it was not asked, or ask has replaced its denial by another result. It may be set beside an error
}

// Fund is what the host has taken from its own ledger. The zero value is nothing.
type Fund struct {
	Amount redpacket.Money
	Key    string // the host's own name for it
}

// ask asks the host about the command. done reports whether an earlier request with the same key, or an earlier grab of
// the packet, was carried out. ask calls done only if the command would not be carried out. If done returns true, ask
// allows the command, so that the service answers with the first result. A nil done means that no earlier request counts.
func (a *Commands) ask(ctx context.Context, q Question, done func() (bool, error)) (Verdict, error) {
	v, err := a.hooks.Ask(ctx, q)
	if err == nil || done == nil {
		return v, err
	}
	switch used, failed := done(); {
	case failed != nil:
		return Verdict{NotAsked: v.NotAsked || errors.Is(err, ErrDenied)}, failed
	case used:
		return Verdict{None: true, NotAsked: v.NotAsked || errors.Is(err, ErrDenied)}, nil
	}
	return v, err
}

// keyUsed returns the function that ask calls for a command with a key.
func (a *Commands) keyUsed(ctx context.Context, user, key string) func() (bool, error) {
	return func() (bool, error) { return a.packets.KeyUsed(ctx, user, key) }
}

// askSend asks about a text. It adds to the message what the host has answered: another text, or a preview. A request of a wrong form is not asked
// about: it is refused.
func (a *Commands) askSend(ctx context.Context, c Caller, m *chat.Message, r *wire.SendRequest) error {
	if wrong := a.chat.CheckMessage(*m); wrong != nil || !a.wants("send") {
		return nil //nolint:nilerr // see above
	}
	v, err := a.ask(ctx, Question{
		Command: "send", User: c.User, Room: r.Room, Request: r,
		CheckText: func(text string) error {
			replaced := *m
			replaced.Text = text
			return a.chat.CheckMessage(replaced)
		},
		CheckPreview: previewOf(r.Text),
	}, a.keyUsed(ctx, c.User.ID, r.Key))
	m.Replaced, m.Preview = v.Text, v.Preview
	return err
}

// previewOf returns the function that checks a preview of a text, or of the text that replaces it.
func previewOf(text string) func(p chat.Preview, replaced *string) error {
	return func(p chat.Preview, replaced *string) error {
		if replaced != nil {
			return p.Check(*replaced)
		}
		return p.Check(text)
	}
}

// askEdit asks about an edit, and returns the text that is to be stored, with its preview.
func (a *Commands) askEdit(ctx context.Context, c Caller, r *wire.EditRequest) (string, *chat.Preview, error) {
	if wrong := a.chat.CheckEdit(r.Text); wrong != nil || !a.wants("edit") {
		return r.Text, nil, nil //nolint:nilerr // a text of a wrong form is not asked about: it is refused
	}
	v, err := a.ask(ctx, Question{
		Command: "edit", User: c.User, Room: r.Room, Request: r, CheckText: a.chat.CheckEdit, CheckPreview: previewOf(r.Text),
	}, nil)
	if v.Text != nil {
		return *v.Text, v.Preview, err
	}
	return r.Text, v.Preview, err
}

// askGrab asks about a grab of an open packet. A user that has a share is not denied the answer about it.
func (a *Commands) askGrab(ctx context.Context, c Caller, room string, r *wire.GrabRequest) error {
	asked := *r
	asked.Passphrase = ""
	_, err := a.ask(ctx, Question{Command: MethodGrab, User: c.User, Room: room, Request: &asked}, func() (bool, error) {
		states, err := a.packets.States(ctx, c.User.ID, []string{r.Packet})
		return len(states) > 0 && states[0].Mine != nil, err
	})
	return err
}

// askSendPacket asks about a packet, and completes the request by what the host has answered: another greeting, or money.
func (a *Commands) askSendPacket(ctx context.Context, c Caller, s *redpacket.SendRequest, r *wire.SendPacketRequest) error {
	if wrong := a.packets.CheckSend(*s); wrong != nil || !a.wants("send_packet") {
		return nil //nolint:nilerr // a request of a wrong form is not asked about: it is refused
	}
	asked := *r
	asked.Passphrase = ""
	q := Question{Command: "send_packet", User: c.User, Room: r.Room, Request: &asked, CheckText: a.packets.CheckGreeting}
	used := a.keyUsed(ctx, c.User.ID, r.Key)
	if !a.hooks.Funds() {
		v, err := a.ask(ctx, q, used)
		s.Replaced = v.Text
		return err
	}
	if err := a.mayFund(ctx, c, r.Room, used); err != nil {
		return err
	}
	f, err := a.packets.OpenFunding(ctx, c.User.ID, *s)
	if err != nil || f.State == redpacket.FundingSent {
		return err
	}
	q.ID, q.MaxFund = f.ID, s.Total
	v, err := a.ask(ctx, q, used)
	switch {
	case errors.Is(err, ErrDenied), v.NotAsked, err == nil && !v.None && v.Fund.Amount == 0:
		a.packets.DropFunding(ctx, f) // the host has taken nothing
	case v.Fund.Amount > 0:
		s.Funded = &redpacket.Funded{Funding: f, Amount: v.Fund.Amount, HostKey: v.Fund.Key}
	}
	s.Replaced = v.Text
	return err
}

// mayFund returns an error if the user may not send into the room, so that the host takes no money for nothing. Only a
// request whose key was used before may go on then, so that the service answers with the first result.
func (a *Commands) mayFund(ctx context.Context, c Caller, room string, done func() (bool, error)) error {
	standing, err := a.chat.Standing(ctx, room, c.User.ID)
	if err == nil && standing.MaySend(time.Now()) == nil {
		return nil
	}
	if standing, err = a.chat.StoredStanding(ctx, room, c.User.ID); err == nil {
		err = standing.MaySend(time.Now())
	}
	if err == nil {
		return nil
	}
	used, failed := done()
	if failed == nil && used {
		return nil
	}
	return errors.Join(failed, err)
}
