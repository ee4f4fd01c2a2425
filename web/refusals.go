package web

import (
	"errors"

	"hongbao/redpacket"
	"hongbao/web/user/api"
	"hongbao/web/wire"
)

// Trail keeps grabs that got no share, and when sockets were opened and how they ended. trail.Recorder implements it. Its methods do not block.
type Trail interface {
	Refused(user, packet, why string)
	SocketOpened(user, socket string)
	SocketEnded(user, socket string, code int, byPeer bool)
	// Refusals returns how many refused grabs were stored and dropped since the start, and Sockets the same of what happened to sockets.
	Refusals() (stored, dropped int64)
	Sockets() (stored, dropped int64)
}

// maxWhy bounds the reason that a host gives.
const maxWhy = 200 // bytes

// refusals passes refused grabs on, with the words that the user got.
type refusals struct {
	trail  Trail
	errors *errorCodes
}

// note keeps a grab that got no share. A grab of a packet that does not exist, or that is not for the user to know, is not kept: anybody may try any number
// of ids.
func (r refusals) note(user, packet string, why redpacket.Outcome, err error) {
	if err == nil {
		r.trail.Refused(user, packet, string(why))
		return
	}
	if denied := new(api.DeniedError); errors.As(err, &denied) {
		word := wire.NewDenial(denied.Reason, nil).Message
		r.trail.Refused(user, packet, word[:min(len(word), maxWhy)])
		return
	}
	code, ok := r.errors.Code(err)
	if !ok {
		code = wire.CodeInternal
	}
	if code == wire.CodeNotFound || code == wire.CodeBadRequest || code == wire.CodeTooLong {
		return
	}
	if code == wire.CodeRateLimited {
		r.trail.Refused(user, packet, code.Word()) // without the time to wait, so that there is one row
		return
	}
	r.trail.Refused(user, packet, wire.NewError(code, pairsOf(err)...).Message)
}
